package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// analysisRetries are those of commands that make many calls, whose results one busy moment of the
// server would lose.
var analysisRetries = client.WithRetries(3, time.Second)

// analysisFlags specify the agents, the time and the depth of a comparison of rankings.
type analysisFlags struct {
	*call
	request    client.CompareRequest
	agentsFile string
	sample     int
	at         string
}

func addAnalysisFlags(cmd *cobra.Command) *analysisFlags {
	f := &analysisFlags{call: newAdminCall(cmd, "the figures")}
	flags := cmd.Flags()
	flags.StringVar(&f.request.A, "a", "", "what to compare with, as changes to the live ranking; empty: the live ranking")
	flags.StringSliceVar(&f.request.Agents, "agents", nil, "agents to compare for, separated by commas")
	flags.StringVar(&f.agentsFile, "agents-file", "", "file with an agent a line; - reads standard input")
	flags.IntVar(&f.sample, "sample", 100, fmt.Sprintf("size of the random sample if no agents are named, 1 to %d", offline.MaxAgents))
	flags.Int64Var(&f.request.Seed, "seed", 1, "seed of the sample: the same seed selects the same agents")
	flags.StringVar(&f.at, "at", "", "moment to rank at, such as 2026-03-06T12:00:00Z or Unix seconds; default now")
	flags.IntVar(&f.request.K, "k", offline.DefaultK, fmt.Sprintf("how many items of each list to compare, 1 to %d", offline.MaxK))
	return f
}

// open checks the flags and returns a client, which the caller must close. Invalid flags are usage
// errors.
func (f *analysisFlags) open() (*evaluation.Analysis, *client.Client, error) {
	if err := f.check(); err != nil {
		return nil, nil, f.usage(err)
	}
	c, err := f.connect(analysisRetries)
	return evaluation.NewAnalysis(c, f.request), c, err
}

func (f *analysisFlags) check() error {
	r := &f.request
	if err := evaluation.CheckChanges("--a", r.A); err != nil {
		return err
	}
	named := 0
	for _, flag := range []string{"agents", "agents-file", "sample"} {
		if f.cmd.Flags().Changed(flag) {
			named++
		}
	}
	switch {
	case named > 1:
		return errors.New("give one of --agents, --agents-file and --sample")
	case r.K < 1 || r.K > offline.MaxK:
		return fmt.Errorf("--k must be 1 to %d, not %d", offline.MaxK, r.K)
	case f.sample < 1 || f.sample > offline.MaxAgents:
		return fmt.Errorf("--sample must be 1 to %d, not %d; for more, name them in --agents-file", offline.MaxAgents, f.sample)
	}
	if f.at != "" {
		at, err := feed.ParseTime(f.at)
		if err != nil {
			return fmt.Errorf("--at %w", err)
		}
		r.At = &at
	}
	return f.named()
}

// named reads and checks the agents given by the flags; without any, a sample is drawn.
func (f *analysisFlags) named() error {
	r, from := &f.request, "--agents"
	if f.agentsFile != "" {
		from = f.agentsFile
		file, err := open(f.cmd.InOrStdin(), f.agentsFile)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		data, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		r.Agents = strings.Fields(strings.TrimPrefix(string(data), "\ufeff"))
		if len(r.Agents) == 0 {
			return fmt.Errorf("%s contains no agents", from)
		}
	}
	if len(r.Agents) == 0 {
		r.Agents, r.Sample = nil, f.sample
	}
	met := map[string]bool{}
	for i, agent := range r.Agents {
		if err := feed.CheckAgentID(agent); err != nil {
			return fmt.Errorf("%s, entry %d: %w", from, i+1, err)
		}
		if met[agent] {
			return fmt.Errorf("%s contains %s twice", from, agent)
		}
		met[agent] = true
	}
	return nil
}

func newRankingCompareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Compare two rankings offline",
		Long: "Ranks by A and by B for a sample of agents at one moment and reports how much the first items differ.\n" +
			"Changes are written scale=72h,offset=2h; freshet ranking set --help lists the parameters. The output lists where A and B differ from\n" +
			"the defaults; --json prints all parameters.\n" +
			"Items that an agent has seen are not filtered, because the ranking in force has chosen them.",
		Example: "  freshet ranking compare --b scale=72h,offset=2h\n  freshet ranking compare --a scale=24h --b scale=72h --agents u_1,u_2 --at 2026-03-06T12:00:00Z",
		Args:    cobra.NoArgs,
	}
	f := addAnalysisFlags(cmd)
	b := cmd.Flags().String("b", "", "what to compare, as changes to the live ranking")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := evaluation.CheckChanges("--b", *b); err != nil {
			return f.usage(err)
		}
		analysis, c, err := f.open()
		if err != nil {
			return err
		}
		defer c.Close()
		found, err := analysis.Compare(cmd.Context(), *b)
		if err != nil {
			return err
		}
		return answer(f.call, found, cli.WriteComparison)
	}
	return cmd
}
