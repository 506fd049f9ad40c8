package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/cli"
	"github.com/freshet/freshet/internal/tuning"
)

// analysisFlags say for whom, when and how deep rankings are compared.
type analysisFlags struct {
	*adminCall
	a          string
	agents     []string
	agentsFile string
	sample     int
	seed       int64
	at         string
	k          int
}

func addStudyFlags(cmd *cobra.Command) *analysisFlags {
	f := &analysisFlags{adminCall: newAdminCall(cmd, "the figures")}
	flags := cmd.Flags()
	flags.StringVar(&f.a, "a", "", "what to compare with, as changes to the live ranking; empty: the live ranking")
	flags.StringSliceVar(&f.agents, "agents", nil, "agents to compare for, with commas between")
	flags.StringVar(&f.agentsFile, "agents-file", "", "file with an agent a line; - reads standard input")
	flags.IntVar(&f.sample, "sample", 100, fmt.Sprintf("how many agents to draw where none are named, 1 to %d", offline.MaxAgents))
	flags.Int64Var(&f.seed, "seed", 1, "the same seed draws the same agents")
	flags.StringVar(&f.at, "at", "", "moment to rank at, such as 2026-03-06T12:00:00Z or Unix seconds; default now")
	flags.IntVar(&f.k, "k", offline.DefaultK, fmt.Sprintf("how many items of each list to compare, 1 to %d", offline.MaxK))
	return f
}

// open checks the flags, and makes the client, which is to be closed. What is
// wrong with the flags is a usage error.
func (f *analysisFlags) open() (*tuning.Analysis, *client.Client, error) {
	request, err := f.check()
	if err != nil {
		return nil, nil, f.usage(err)
	}
	c, err := f.connect()
	return tuning.NewAnalysis(c, request), c, err
}

func (f *analysisFlags) check() (client.CompareRequest, error) {
	r := client.CompareRequest{A: f.a, K: f.k, Seed: f.seed}
	if err := tuning.CheckChanges("--a", f.a); err != nil {
		return r, err
	}
	named := 0
	for _, flag := range []string{"agents", "agents-file", "sample"} {
		if f.cmd.Flags().Changed(flag) {
			named++
		}
	}
	switch {
	case named > 1:
		return r, errors.New("give one of --agents, --agents-file and --sample")
	case f.k < 1 || f.k > offline.MaxK:
		return r, fmt.Errorf("--k must be 1 to %d, not %d", offline.MaxK, f.k)
	case f.sample < 1 || f.sample > offline.MaxAgents:
		return r, fmt.Errorf("--sample must be 1 to %d, not %d; for more, name them in --agents-file", offline.MaxAgents, f.sample)
	}
	if f.at != "" {
		at, err := feed.ParseTime(f.at)
		if err != nil {
			return r, fmt.Errorf("--at %w", err)
		}
		r.At = &at
	}
	var err error
	if r.Agents, err = f.named(f.cmd.InOrStdin()); err == nil && r.Agents == nil {
		r.Sample = f.sample
	}
	return r, err
}

// named lists the agents of the flags, nil where they name none.
func (f *analysisFlags) named(in io.Reader) ([]string, error) {
	agents, from := f.agents, "--agents"
	if f.agentsFile != "" {
		from = f.agentsFile
		file, err := open(in, f.agentsFile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		data, err := io.ReadAll(file)
		if err != nil {
			return nil, err
		}
		agents = strings.Fields(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
		if len(agents) == 0 {
			return nil, fmt.Errorf("%s names no agent", from)
		}
	}
	met := map[string]bool{}
	for i, agent := range agents {
		if err := feed.CheckAgentID(agent); err != nil {
			return nil, fmt.Errorf("%s, entry %d: %w", from, i+1, err)
		}
		if met[agent] {
			return nil, fmt.Errorf("%s names %s twice", from, agent)
		}
		met[agent] = true
	}
	return agents, nil
}

func newRankingCompareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Say how far two rankings differ, without anybody seeing either",
		Long: "Ranks by A and by B for a sample of agents at one moment and says how far the first items differ.\n" +
			"Changes are written scale=72h,offset=2h; freshet ranking set --help lists the parameters. Of A and B what differs from\n" +
			"the defaults is printed; --json prints all parameters.\n" +
			"Nothing is filtered that an agent has been shown, because that was chosen by the ranking in force.",
		Example: "  freshet ranking compare --b scale=72h,offset=2h\n  freshet ranking compare --a scale=24h --b scale=72h --agents u_1,u_2 --at 2026-03-06T12:00:00Z",
		Args:    cobra.NoArgs,
	}
	f := addStudyFlags(cmd)
	b := cmd.Flags().String("b", "", "what to compare, as changes to the live ranking")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := tuning.CheckChanges("--b", *b); err != nil {
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
		return answer(f.adminCall, found, cli.WriteComparison)
	}
	return cmd
}
