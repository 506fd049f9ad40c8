package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/ndjson"
)

// Bounds of one upload request. A request is small enough to be repeated cheaply, and large enough
// that its overhead is negligible.
const (
	// maxLines is the number of rejections that the server lists for one request, so that each
	// rejection is explained.
	maxLines = 1_000
	maxBytes = 8 << 20 // before compression
	// maxLine is longer than any item the server accepts; longer lines are skipped without being held
	// in memory.
	maxLine = 1 << 20
)

const (
	// longestStay is how long a line waits for others to be sent with it: a live pipe may deliver few
	// lines.
	longestStay = time.Second
	// lastWait is how long a canceled upload may take to send the lines already read.
	lastWait = 10 * time.Second
)

// Summary counts an upload. Empty lines are not counted as items.
type Summary struct {
	Accepted int `json:"accepted"`
	Replaced int `json:"replaced,omitempty"` // of the accepted: items replaced by a later one in the same request
	Kept     int `json:"kept,omitempty"`     // of the accepted: items not newer than the stored ones, see [Client.IngestNewer]
	Rejected int `json:"rejected"`
	Requests int `json:"requests"`
}

// Ingest uploads items, one JSON object per line, optionally gzipped, in requests of at most 1,000
// lines and 8 MiB, one after the other: of two items with the same id the later line wins. Every
// rejected line is passed to reject, in no particular order within a request. The summary is valid
// even with an error; uploading again is harmless, because an item replaces itself.
//
// Lines from a slow pipe are sent within about two seconds. If ctx is canceled, the lines already
// read are sent and counted within 10 s. A pending read of r may end later.
func (c *Client) Ingest(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	return c.upload(ctx, r, upload{path: "/v1/items", convert: onlyObjects, reject: reject})
}

// IngestNewer is like [Client.Ingest], but does not store items with an update_time that is not
// later than that of the stored item with the same id. They count as kept.
func (c *Client) IngestNewer(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	return c.upload(ctx, r, upload{path: "/v1/items?if_newer=true", convert: onlyObjects, reject: reject})
}

// IngestCounts uploads likes and comments of stored items, one {"id","likes","comments"} per line,
// as [Client.Ingest] uploads items. Counts are absolute; omitted counts are not changed. Lines for
// posts and for items that are not stored are rejected.
func (c *Client) IngestCounts(ctx context.Context, r io.Reader, reject func(Rejection)) (Summary, error) {
	return c.upload(ctx, r, upload{path: "/v1/items/counts", convert: onlyObjects, reject: reject})
}

// onlyObjects returns lines unchanged. A line that begins with [ must not be sent: the server would
// parse the whole request as one JSON array.
func onlyObjects(line []byte) ([]byte, error) {
	if line[0] != '{' {
		return nil, errors.New("the line is not a JSON object")
	}
	return line, nil
}

// upload sends the lines of r.
func (c *Client) upload(ctx context.Context, r io.Reader, u upload) (_ Summary, err error) {
	sending, cancel := outliving(ctx)
	defer cancel()
	u.client, u.sending = c, sending
	if u.zip, err = gzip.NewWriterLevel(&u.body, gzip.BestSpeed); err != nil {
		return Summary{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := ndjson.Kind{Body: "file", Entry: "object", Verb: "uploading", Most: maxLine, Reason: error.Error, Unavailable: ErrUnavailable, Table: u.table}
	_, err = ndjson.Read(ctx, readLive(ctx, r, &u), lines, ndjson.Config{Batch: maxLines, Bytes: maxBytes - maxLine - maxLines, Reject: u.refuse}, &u)
	if u.failed != nil {
		err = u.failed
	}
	return u.sum, err
}

// outliving returns the context of requests: it outlives a cancellation of ctx by lastWait, so that
// the lines already read are stored and counted.
func outliving(ctx context.Context) (context.Context, context.CancelFunc) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if until, ok := ctx.Deadline(); ok {
		cancel()
		sending, cancel = context.WithDeadline(context.WithoutCancel(ctx), until)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = sleep(sending, lastWait)
		cancel()
	})
	return sending, func() { stop(); cancel() }
}

// upload is the [ndjson.Batch] that collects lines into a compressed body.
type upload struct {
	client  *Client
	sending context.Context // for requests
	path    string
	table   bool                              // lines may be columns, which convert parses
	convert func(line []byte) ([]byte, error) // returns a JSON object for a line; nil skips it, an error rejects it
	reject  func(Rejection)
	sum     Summary
	failed  error // why sending has stopped

	zip     *gzip.Writer
	body    bytes.Buffer // output of zip
	came    time.Time    // when the first line of the body was read
	numbers []int        // file line of each line in the body
}

func (u *upload) refuse(r Rejection) {
	u.sum.Rejected++
	u.reject(r)
}

// Add implements [ndjson.Batch].
func (u *upload) Add(number int, line []byte) (string, error) {
	line, err := u.convert(line)
	if err != nil || line == nil {
		return "", err
	}
	if len(u.numbers) == 0 {
		u.came = time.Now()
		u.body.Reset()
		u.zip.Reset(&u.body)
	}
	u.numbers = append(u.numbers, number)
	_, err = u.zip.Write(append(line, '\n'))
	return "", err
}

// TooBig implements [ndjson.Batch].
func (*upload) TooBig([]byte) (string, error) {
	return "", fmt.Errorf("the line has more than %d bytes", maxLine)
}

// Put implements [ndjson.Batch].
func (u *upload) Put(context.Context) ([]error, error) { return nil, u.flush() }

// flush sends the collected lines, unless sending has failed before.
func (u *upload) flush() error {
	if u.failed == nil && len(u.numbers) > 0 {
		u.failed = u.send()
	}
	return u.failed
}

// flushSlow sends the collected lines if they have waited for longestStay.
func (u *upload) flushSlow() error {
	if len(u.numbers) == 0 || time.Since(u.came) < longestStay {
		return nil
	}
	return u.flush()
}

func (u *upload) send() error {
	if err := u.zip.Close(); err != nil {
		return err
	}
	first, last := u.numbers[0], u.numbers[len(u.numbers)-1]
	report, err := call[api.Upload](u.sending, u.client, Request{
		Method: http.MethodPost, Path: u.path,
		Body: u.body.Bytes(), Type: "application/x-ndjson", Encoding: "gzip",
		Timeout:    longestTimeout,
		Repeatable: true, // an item replaces itself, a count is absolute, an event is applied once
	})
	refused := (*Error)(nil)
	if errors.As(err, &refused) {
		_ = json.Unmarshal(refused.Data, &report) // partial result, usually empty
	}
	accountErr := u.account(report)
	if err == nil {
		err = cmp.Or(accountErr, u.complete(report))
	}
	if err != nil {
		return fmt.Errorf("upload lines %d to %d: %w", first, last, err)
	}
	u.sum.Requests++
	u.numbers = u.numbers[:0]
	return nil
}

// account adds the server's report. Its line numbers are relative to the request.
func (u *upload) account(report api.Upload) error {
	u.sum.Accepted += report.Accepted
	u.sum.Replaced += report.Replaced
	u.sum.Kept += report.Kept
	u.sum.Rejected += report.Rejected
	for _, e := range report.Errors {
		if e.Line < 1 || e.Line > len(u.numbers) {
			return fmt.Errorf("the server reported an error in line %d of a request of %d lines", e.Line, len(u.numbers))
		}
		e.Line = u.numbers[e.Line-1]
		u.reject(e)
	}
	return nil
}

// complete checks that the report covers every line that was sent.
func (u *upload) complete(report api.Upload) error {
	n := report.Accepted + report.Rejected
	if n != len(u.numbers) {
		return fmt.Errorf("the server reported %d lines, but %d were sent", n, len(u.numbers))
	}
	return nil
}

// IngestGraph uploads events of other systems, as [Client.Ingest] uploads items. A line is an event
// as JSON, or a follow in two tab-separated columns, follower and author, dated at; the zero time
// means now. Uploading again is harmless: an event is applied once, and anything undone since its
// time stays undone.
func (c *Client) IngestGraph(ctx context.Context, r io.Reader, at time.Time, reject func(Rejection)) (Summary, error) {
	if at.IsZero() {
		at = time.Now()
	}
	f := &followLines{at: at.UTC()}
	return c.upload(ctx, r, upload{path: "/v1/graph/events", table: true, convert: f.event, reject: reject})
}

// columnNames matches a first line with the names of the columns, as spreadsheets and databases write them.
var columnNames = regexp.MustCompile(`(?i)^(follower|agent)([_ ]?id)?\t(author|followee|followed|following)([_ ]?id)?$`)

var errNoFollow = errors.New("the line is neither a JSON event nor two columns, follower and author, separated by a tab")

// followLines converts lines to events.
type followLines struct {
	at    time.Time
	buf   bytes.Buffer
	began bool // a line of columns was read
}

// event returns the line as an event, valid until the next call; nil for the header line.
func (f *followLines) event(line []byte) ([]byte, error) {
	if line[0] == '{' {
		return line, nil
	}
	follower, author, ok := bytes.Cut(line, []byte("\t"))
	first := !f.began
	f.began = true
	switch {
	case !ok && bytes.ContainsAny(line, ",;"):
		return nil, fmt.Errorf("%w; from a CSV file, write these two columns, with a tab and without quotes", errNoFollow)
	case !ok || bytes.ContainsRune(author, '\t'):
		return nil, errNoFollow
	case string(line) == "follower\tauthor", first && columnNames.Match(line):
		return nil, nil
	}
	f.buf.Reset()
	err := json.NewEncoder(&f.buf).Encode(followEvent{"follow.created", followData{string(follower), string(author), f.at}})
	return bytes.TrimSuffix(f.buf.Bytes(), []byte("\n")), err
}

type followEvent struct {
	Type string     `json:"type"`
	Data followData `json:"data"`
}

type followData struct {
	Agent  string    `json:"agent_id"`
	Author string    `json:"author_id"`
	At     time.Time `json:"at"`
}
