package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/cmd/freshet/fit"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/gunzip"
	"github.com/freshet/freshet/server/history"
)

// Bounds of the flags of a proposal, and their defaults.
const (
	mostScored, defaultScored           = 5000, 3000
	mostEvaluations, defaultEvaluations = 100_000, 2000
	leastEvaluations                    = 40
	mostWindow, defaultWindow           = 365 * 24 * time.Hour, 7 * 24 * time.Hour
)

// mostCandidates is the number of candidates that a click is placed among; of more, a random part.
const mostCandidates = 500

type proposeFlags struct {
	*rankingChange
	items         string
	as, share     string
	window        time.Duration
	scored        int
	evaluations   int
	keep, also    []string
	allowRejected bool
	setting       wantedSetting
}

func newRankingProposeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "propose EVENTS",
		Short: "Fit the ranking to your own clicks, and say what that would gain",
		Long: "Reads clicks as freshet ranking replay does, replays them in this process, and fits curves, live popularity,\n" +
			"learned interests, co-readers and keywords to what each reader opened next: to the mean over readers of\n" +
			"the nDCG@20, of at most two clicks a reader and day. Four parts in order of time: what is fitted to the\n" +
			"parts before one is judged by that one, which it has not seen. It proposes a change only if the 95 %\n" +
			"interval of this gain is above zero. The ranking in force is always among those compared.\n\n" +
			"Nothing becomes live. With --as and --share a proposal begins as an experiment.\n\n" +
			"The server is asked for the ranking in force, the items (unless --items names a file of them, as freshet\n" +
			"ingest reads) and the profiles of the readers. Clicks on unknown items are left out and counted. At most\n" +
			fmt.Sprintf("%d clicks and %d items are read. The fit uses one core, and about 100 bytes for each candidate of\n", evaluation.MostClicks, evaluation.MostItems) +
			"each scored click: 25 MB for 3000 clicks with 80 candidates, 250 MB at most.",
		Example: "  freshet ranking propose clicks.ndjson\n  freshet ranking propose clicks.ndjson --as fitted --share 10% --why \"fitted to May\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("give one file of events, or - for standard input, not %d", len(args))
			}
			return nil
		},
	}
	f := &proposeFlags{rankingChange: newRankingChangeOf(cmd, newAdminCall(cmd, "the proposal"))}
	flags := cmd.Flags()
	flags.StringVar(&f.items, "items", "", "file of items, one a line, instead of the server's")
	flags.StringVar(&f.as, "as", "", "begin the proposal as an experiment of this name, of a-z 0-9 _ -")
	flags.StringVar(&f.share, "share", "", "its share of all agents, such as 10% or 0.1")
	flags.DurationVar(&f.window, "window", defaultWindow, "age up to which an item is a candidate, up to 8760h; a slow community needs a longer one")
	flags.IntVar(&f.scored, "scored", defaultScored, fmt.Sprintf("how many clicks are placed at most, 100 to %d", mostScored))
	flags.IntVar(&f.evaluations, "evaluations", defaultEvaluations, fmt.Sprintf("how many rankings are tried at most, %d to %d", leastEvaluations, mostEvaluations))
	flags.StringSliceVar(&f.keep, "keep", nil, "parameters that are not fitted, such as co_read.weight,curves")
	flags.StringSliceVar(&f.also, "also", nil, "further weights of live popularity to fit, which are 0 in the ranking in force and by default; servers must keep their counts")
	flags.BoolVar(&f.allowRejected, "allow-rejected", false, "exit 0 even when lines could not be read")
	cmd.RunE = func(_ *cobra.Command, args []string) error { return f.run(args[0]) }
	return cmd
}

func (f *proposeFlags) check() error {
	changes := *f.why != "" || *f.by != "" || *f.onlyIf != client.AnyVersion
	switch {
	case f.window < time.Hour || f.window > mostWindow:
		return fmt.Errorf("--window must be 1h to %s, not %s", feed.DurationText(mostWindow), feed.DurationText(f.window))
	case f.scored < 100 || f.scored > mostScored:
		return fmt.Errorf("--scored must be 100 to %d, not %d", mostScored, f.scored)
	case f.evaluations < leastEvaluations || f.evaluations > mostEvaluations:
		return fmt.Errorf("--evaluations must be %d to %d, not %d", leastEvaluations, mostEvaluations, f.evaluations)
	case f.as == "" && f.share != "":
		return errors.New("--share requires --as with the name of the experiment")
	case f.as == "" && changes:
		return errors.New("--why, --by and --if-version require --as: without an experiment nothing is changed")
	case f.as != "" && f.share == "":
		return errors.New("--as requires --share, such as --share 10%")
	}
	if err := fit.CheckKeep(f.keep); err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	if err := fit.CheckAlso(f.also); err != nil {
		return fmt.Errorf("--also: %w", err)
	}
	if f.as == "" {
		return nil
	}
	f.setting = wantedSetting{as: f.as}
	return f.setting.check(f.share, "")
}

func (f *proposeFlags) run(path string) error {
	if err := f.check(); err != nil {
		return f.usage(err)
	}
	c, err := f.connect(analysisRetries)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := f.cmd.Context()
	was, err := c.Ranking(ctx)
	if err != nil {
		return err
	}
	if _, err := experiment(was, f.as); f.as != "" && err == nil {
		return fmt.Errorf("the experiment %q runs already, and its parameters cannot change; give another name, or end it with \"freshet ranking drop %s\"", f.as, f.as)
	}
	var p evaluation.Proposed
	clicks, err := f.readClicks(ctx, path, &p)
	if err != nil {
		return err
	}
	community, err := f.community(ctx, c, clicks, &p)
	if err != nil {
		return err
	}
	if err := f.fit(ctx, c, was.Ranking, community, &p); err != nil {
		return err
	}
	if err := f.begin(ctx, c, was, &p); err != nil {
		return err
	}
	if err := answer(f.call, p, cli.WriteProposal); err != nil {
		return err
	}
	if p.Rejected > 0 && !f.allowRejected {
		return fmt.Errorf("lines that could not be read: %d (--allow-rejected makes this a success)", p.Rejected)
	}
	return nil
}

func (f *proposeFlags) readClicks(ctx context.Context, path string, p *evaluation.Proposed) ([]offline.Click, error) {
	var clicks []offline.Click
	err := f.read(path, "reading clicks", func(r io.Reader) (err error) {
		clicks, err = p.ReadClicks(ctx, r)
		return err
	})
	if errors.Is(err, evaluation.ErrNoEvents) {
		return nil, f.usage(fmt.Errorf("%s is empty: it must have an event a line", path))
	}
	return clicks, err
}

// read reads a file, gzip or not, with a progress bar.
func (f *proposeFlags) read(path, doing string, use func(io.Reader) error) error {
	source, err := open(f.cmd.InOrStdin(), path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	bar := progress(f.cmd.ErrOrStderr(), source.size, doing, progressbar.OptionShowBytes(true))
	defer func() { _ = bar.Finish() }()
	input := progressbar.NewReader(source, bar)
	text, err := gunzip.IfPacked(&input)
	if err != nil {
		return err
	}
	return use(text)
}

// community reads the items and combines them with the clicks.
func (f *proposeFlags) community(ctx context.Context, c *client.Client, clicks []offline.Click, p *evaluation.Proposed) (*history.Community, error) {
	var items []feed.Item
	if f.items != "" {
		err := f.read(f.items, "reading items", func(r io.Reader) (err error) {
			items, err = evaluation.ReadItems(ctx, r)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.items, err)
		}
	} else {
		first := time.Now()
		for i := range clicks {
			if clicks[i].At.Before(first) {
				first = clicks[i].At.Time
			}
		}
		bar := progress(f.cmd.ErrOrStderr(), -1, "reading items", progressbar.OptionShowCount())
		var err error
		items, err = evaluation.StoredItems(ctx, c, first.Add(-f.window), func(n int) { _ = bar.Add(n) })
		_ = bar.Finish()
		if err != nil {
			return nil, err
		}
	}
	return p.Community(items, clicks, time.Now())
}

// fit replays the clicks and fits the ranking.
func (f *proposeFlags) fit(ctx context.Context, c *client.Client, inForce feed.Ranking, community *history.Community, p *evaluation.Proposed) (err error) {
	chosen := fit.Choose(community, f.window, f.scored)
	if err := evaluation.StoredProfiles(ctx, c, community, chosen); err != nil {
		return err
	}
	bar := progress(f.cmd.ErrOrStderr(), int64(len(community.Clicks)), "replaying", progressbar.OptionShowCount())
	moments, err := history.Replay(ctx, community, chosen, history.Options{
		Window: f.window, HalfLife: inForce.Learned.HalfLife, Most: mostCandidates, Progress: func(clicks int) { _ = bar.Set(clicks) },
	})
	_ = bar.Finish()
	if err != nil {
		return err
	}
	p.Scored = len(moments)
	for i := range moments {
		p.Candidates += float64(moments[i].Of) / float64(len(moments))
	}
	bar = progress(f.cmd.ErrOrStderr(), int64(f.evaluations), "fitting", progressbar.OptionShowCount())
	p.Proposal, err = fit.Propose(ctx, inForce, moments, fit.Config{
		Evaluations: f.evaluations, Keep: f.keep, Also: f.also, Progress: func(n int) { _ = bar.Set(min(n, f.evaluations)) },
	})
	_ = bar.Finish()
	return err
}

// begin begins the proposal as an experiment, if that is asked for and there is one.
func (f *proposeFlags) begin(ctx context.Context, c *client.Client, was client.RankingVersion, p *evaluation.Proposed) error {
	if f.as == "" || p.Verdict != fit.Change {
		return nil
	}
	onlyIf := was.Version
	if *f.onlyIf != client.AnyVersion {
		onlyIf = *f.onlyIf
	}
	f.setting.changes = p.Changes
	now, _, err := f.replace(ctx, c, was, onlyIf, f.setting.apply)
	if err != nil {
		return err
	}
	p.Experiment, p.Version = f.as, now.Version
	return nil
}
