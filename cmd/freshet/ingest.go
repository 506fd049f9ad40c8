package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

// Retries of an upload cover a restart of the server: about a minute of waiting.
const (
	ingestTries = 12
	ingestPause = 500 * time.Millisecond
)

// shownRejections is the number of rejected lines shown without --all.
const shownRejections = 20

type ingestFlags struct {
	*call
	all           bool
	allowRejected bool
	graph, counts bool
	ifNewer       bool
	rss           bool
	every         time.Duration
}

func newIngestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ingest FILE",
		Short: "Upload items to a server: one JSON object a line, gzip or not, - for standard input",
		Long: "Uploads items to a server, one JSON object a line, gzip or not; - reads standard input,\n" +
			"a live one too: what was read is stored within some two seconds, and at Ctrl-C.\n" +
			"An item replaces the one with its id, so an upload that was broken off is simply run again.\n" +
			"With --if-newer only one with a later update_time does.\n" +
			"With --graph the file has a network: follows in two columns, follower and author, with a tab\n" +
			"between them, as of the time when the file was last changed; or events of other systems, one\n" +
			"JSON object a line. Run again, it brings back nothing that was undone since then.\n" +
			"With --counts the file has likes and comments of stored items as another system knows them,\n" +
			"{\"id\",\"likes\",\"comments\"} a line: they are absolute, and one that is left out stays.\n" +
			"With --rss it reads web feeds instead (RSS, Atom, JSON Feed), given as URLs or files: each entry\n" +
			"becomes an item. With --every it goes on until Ctrl-C: it asks each server only for what has\n" +
			"changed, and less often while a feed fails.\n" +
			"The exit code is 1 when a line was rejected, unless --allow-rejected is given, and when the\n" +
			"file has no line, is not UTF-8 or does not have one object a line, and when a feed could not be read.",
		Example: "  freshet ingest posts.ndjson.gz\n  tail -f posts.ndjson | freshet ingest -\n  freshet ingest --graph follows.tsv.gz\n  freshet ingest --counts counts.ndjson\n  freshet ingest --rss --every 10m https://example.org/feed.xml https://example.net/atom.xml",
		Args: func(cmd *cobra.Command, args []string) error {
			rss, _ := cmd.Flags().GetBool("rss") // the flag exists
			if rss && len(args) > 0 {
				return nil
			}
			if rss {
				return errors.New("give the feeds, as URLs or files")
			}
			if len(args) != 1 {
				return fmt.Errorf("give one file, or - for standard input, not %d", len(args))
			}
			return nil
		},
	}
	f := &ingestFlags{call: newAdminCall(cmd, "the summary")}
	cmd.Flags().BoolVar(&f.all, "all", false, fmt.Sprintf("show every rejected line, not only the first %d", shownRejections))
	cmd.Flags().BoolVar(&f.allowRejected, "allow-rejected", false, "exit 0 even when lines were rejected")
	cmd.Flags().BoolVar(&f.graph, "graph", false, "the file has follows (follower, author) or events of other systems, not items")
	cmd.Flags().BoolVar(&f.counts, "counts", false, "the file has likes and comments of stored items")
	cmd.Flags().BoolVar(&f.ifNewer, "if-newer", false, "leave out items whose update_time is not later than that of the stored one")
	cmd.Flags().BoolVar(&f.rss, "rss", false, "read web feeds (RSS, Atom, JSON Feed) from URLs or files")
	cmd.Flags().DurationVar(&f.every, "every", 0, "with --rss: read the feeds again after this pause, 1m or more, until Ctrl-C")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if f.rss || cmd.Flags().Changed("every") {
			return f.ingestFeeds(args)
		}
		return f.ingest(args[0])
	}
	return cmd
}

func (f *ingestFlags) ingest(path string) error {
	if (f.graph || f.counts) && f.ifNewer {
		return f.usage(errors.New("--if-newer is only for items; leave out --graph and --counts"))
	}
	if f.graph && f.counts {
		return f.usage(errors.New("--graph and --counts exclude each other; give one of them"))
	}
	source, err := open(f.cmd.InOrStdin(), path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	bar := progress(f.cmd.ErrOrStderr(), source.size, "uploading", progressbar.OptionShowBytes(true))
	server, err := f.connect(client.WithRetries(ingestTries, ingestPause),
		client.WithRetryNotice(func(cause error, wait time.Duration) {
			_ = bar.Clear()
			fmt.Fprintf(f.cmd.ErrOrStderr(), "waiting %s: %v\n", wait.Round(time.Millisecond), cause)
		}))
	if err != nil {
		return err
	}
	defer server.Close()

	report := &ingestReport{most: shownRejections}
	if f.all {
		report.most = -1
	}
	reader := progressbar.NewReader(source, bar)
	send := server.Ingest
	switch {
	case f.counts:
		send = server.IngestCounts
	case f.ifNewer:
		send = server.IngestNewer
	case f.graph:
		send = func(ctx context.Context, r io.Reader, reject func(client.Rejection)) (client.Summary, error) {
			return server.IngestGraph(ctx, r, source.changed, reject)
		}
	}
	summary, err := send(f.cmd.Context(), &reader, report.add)
	_ = bar.Finish() // before anything is printed
	report.Summary = summary
	werr := report.write(f.cmd.OutOrStdout(), *f.json)
	if werr != nil {
		return errors.Join(err, werr)
	}
	if err != nil {
		return err
	}
	if summary.Accepted+summary.Rejected == 0 && !f.graph { // the server also refuses an upload without entries
		return fmt.Errorf("%s is empty: nothing to upload", path)
	}
	if summary.Rejected > 0 && !f.allowRejected {
		return fmt.Errorf("lines rejected: %d (--allow-rejected makes this a success)", summary.Rejected)
	}
	return nil
}

type input struct {
	io.ReadCloser
	size    int64     // -1 if unknown
	changed time.Time // modification time; zero if unknown or in the future
}

func open(in io.Reader, path string) (input, error) {
	if path == "-" {
		return input{io.NopCloser(in), -1, time.Time{}}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return input{}, err
	}
	source := input{file, -1, time.Time{}}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		source.size = info.Size()
		if info.ModTime().Before(time.Now()) {
			source.changed = info.ModTime()
		}
	}
	return source, err
}

// progress returns a progress bar for size, invisible if w is not a terminal.
func progress(w io.Writer, size int64, doing string, unit progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(terminalWidth(w) > 0),
		progressbar.OptionSetDescription(doing),
		unit,
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(),
	)
}

type ingestReport struct {
	client.Summary
	Errors []client.Rejection `json:"errors"`

	most int // rejections stored; -1 for all
}

func (r *ingestReport) add(rejection client.Rejection) {
	if r.most < 0 || len(r.Errors) < r.most {
		r.Errors = append(r.Errors, rejection)
	}
}

// notStored describes how many of the accepted lines were not stored or have been replaced.
func (r *ingestReport) notStored() string {
	var parts []string
	if r.Replaced > 0 {
		parts = append(parts, fmt.Sprintf("%d replaced by later lines", r.Replaced))
	}
	if r.Kept > 0 {
		parts = append(parts, fmt.Sprintf("%d not newer than the stored ones", r.Kept))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (r *ingestReport) write(w io.Writer, asJSON bool) error {
	// Lines rejected by the client are known before those that the server rejects.
	slices.SortFunc(r.Errors, func(a, b client.Rejection) int { return cmp.Compare(a.Line, b.Line) })
	if asJSON {
		if r.Errors == nil {
			r.Errors = []client.Rejection{}
		}
		return json.NewEncoder(w).Encode(r)
	}
	if _, err := fmt.Fprintf(w, "%d accepted%s, %d rejected\n", r.Accepted, r.notStored(), r.Rejected); err != nil {
		return err
	}
	for _, e := range r.Errors {
		id := ""
		if e.ID != "" {
			id = fmt.Sprintf(" (%q)", e.ID)
		}
		if _, err := fmt.Fprintf(w, "  line %d%s: %s\n", e.Line, id, e.Reason); err != nil {
			return err
		}
	}
	hidden := r.Rejected - len(r.Errors)
	if hidden > 0 {
		why := "--all shows them"
		if r.most < 0 {
			why = "the server did not list them"
		}
		_, err := fmt.Fprintf(w, "  and %d more (%s)\n", hidden, why)
		return err
	}
	return nil
}

func newItemsCommand() *cobra.Command {
	return newGroup("items", "Inspect the catalog", newItemsListCommand())
}

func newItemsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List items, the youngest first; posts are not among them", Args: cobra.NoArgs,
		Example: "  freshet items list --author ana.costa --since 72h\n  freshet items list --tag space --limit 200 --json",
	}
	call := newAdminCall(cmd, "the page")
	var f client.ItemFilter
	var since string
	cmd.Flags().StringVar(&f.Author, "author", "", "only items of this author")
	cmd.Flags().StringVar(&f.Tag, "tag", "", "only items with this tag")
	cmd.Flags().StringVar(&since, "since", "", "only items of the last 72h, or since a time in Unix seconds")
	cmd.Flags().StringVar(&f.Cursor, "cursor", "", "next cursor of the previous page")
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "items of a page, 1 to 200")
	cmd.RunE = func(*cobra.Command, []string) error {
		var err error
		if f.Since, err = parseSince(since, time.Now()); err != nil {
			return call.usage(err)
		}
		return show(call, func(ctx context.Context, c *client.Client) (client.ItemPage, error) { return c.Items(ctx, f) },
			func(w io.Writer, p client.ItemPage) error { return cli.WriteItems(w, p, time.Now(), terminalWidth(w)) })
	}
	return cmd
}

// parseSince parses a duration before now, or Unix seconds; "" is 0.
func parseSince(text string, now time.Time) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d).Unix(), nil
	}
	if at, err := strconv.ParseInt(text, 10, 64); err == nil && at >= 0 {
		return at, nil
	}
	return 0, fmt.Errorf("--since %q: give a duration such as 72h, or Unix seconds such as 1772791200", text)
}
