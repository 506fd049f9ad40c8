package main

import (
	"errors"
	"fmt"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/internal/gunzip"
)

// maxDepth is the maximum number of items that a server ranks for a replay.
const maxDepth = 2000

type replayFlags struct {
	*call
	replay        evaluation.Replay
	a, b, sweep   string
	steps         int
	allowRejected bool
}

func newRankingReplayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay EVENTS",
		Short: "Score rankings by where they would have placed what was clicked",
		Long: "Reads events, one JSON object a line, gzip or not, - for standard input:\n\n" +
			`  {"agent_id":"u_1","id":"doc_9527","at":"2026-03-06T12:00:00Z","type":"click"}` + "\n\n" +
			"For each click the agent's ranking is made as of that moment by every set of parameters, and the clicked\n" +
			"item's rank is scored: hit rate and NDCG at k, and mean reciprocal rank. Other types of events are skipped\n" +
			"and counted. The exit code is 1 when a line could not be read, unless --allow-rejected is given, and 2 when\n" +
			"there is no line.\n\n" + cli.ReplayLimits,
		Example: "  freshet ranking replay clicks.ndjson --b scale=72h\n  freshet ranking replay clicks.ndjson --sweep scale=6h..168h --steps 6",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("give one file of events, or - for standard input, not %d", len(args))
			}
			return nil
		},
	}
	f := &replayFlags{call: newAdminCall(cmd, "the scores")}
	flags := cmd.Flags()
	flags.StringVar(&f.a, "a", "", "what to compare with, as changes to the live ranking; empty: the live ranking")
	flags.StringVar(&f.b, "b", "", "what to compare, as changes to the live ranking")
	flags.StringVar(&f.sweep, "sweep", "", "a parameter and its values, such as scale=6h..168h, instead of --b")
	flags.IntVar(&f.steps, "steps", 8, "number of values in a range low..high")
	flags.IntVar(&f.replay.K, "k", offline.DefaultK, "last rank at which an item counts as found, 1 to the depth")
	flags.IntVar(&f.replay.Depth, "depth", offline.DefaultDepth, fmt.Sprintf("number of items ranked, 1 to %d; lower items count as not found", maxDepth))
	flags.BoolVar(&f.allowRejected, "allow-rejected", false, "exit 0 even when lines could not be read")
	cmd.RunE = func(_ *cobra.Command, args []string) error { return f.run(args[0]) }
	return cmd
}

func (f *replayFlags) run(path string) error {
	if err := f.check(); err != nil {
		return f.usage(err)
	}
	source, err := open(f.cmd.InOrStdin(), path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	c, err := f.connect(analysisRetries)
	if err != nil {
		return err
	}
	defer c.Close()
	bar := progress(f.cmd.ErrOrStderr(), source.size, "replaying", progressbar.OptionShowBytes(true))
	input := progressbar.NewReader(source, bar)
	events, err := gunzip.IfPacked(&input)
	if err == nil {
		err = f.replay.Run(f.cmd.Context(), c, events)
	}
	_ = bar.Finish()
	switch {
	case errors.Is(err, evaluation.ErrNoEvents):
		return f.usage(fmt.Errorf("%s is empty: it must have an event a line", path))
	case err != nil:
		return err
	}
	if err := answer(f.call, f.replay, cli.WriteReplay); err != nil {
		return err
	}
	n := f.replay.Rejected
	if n > 0 && !f.allowRejected {
		return fmt.Errorf("lines that could not be read: %d (--allow-rejected makes this a success)", n)
	}
	return nil
}

func (f *replayFlags) check() (err error) {
	r := &f.replay
	if r.Depth < 1 || r.Depth > maxDepth {
		return fmt.Errorf("--depth must be 1 to %d, not %d", maxDepth, r.Depth)
	}
	if r.K < 1 || r.K > r.Depth {
		return fmt.Errorf("--k must be 1 to the depth, %d, not %d", r.Depth, r.K)
	}
	r.Contestants, err = evaluation.Contestants(f.a, f.b, f.sweep, f.steps)
	return err
}
