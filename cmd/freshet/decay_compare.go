package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

func init() {
	decayCommands = append(decayCommands, newDecayCompareCommand, newDecaySweepCommand, newDecayReplayCommand)
}

// compareWait is how long one call may take; the server gives up sooner.
const compareWait = time.Minute

// studyFlags say for whom, when and how deep rankings are compared.
type studyFlags struct {
	server     *string
	token      func() string
	a          string
	agents     []string
	agentsFile string
	sample     int
	seed       int64
	at         string
	k          int
	json       bool
}

func addStudyFlags(cmd *cobra.Command) *studyFlags {
	f := &studyFlags{server: serverFlag(cmd), token: adminTokenFlag(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.a, "a", "", "what to compare with, as changes to the live ranking; empty: the live ranking")
	flags.StringSliceVar(&f.agents, "agents", nil, "agents to compare for, with commas between")
	flags.StringVar(&f.agentsFile, "agents-file", "", "file with an agent a line; - reads standard input")
	flags.IntVar(&f.sample, "sample", 100, fmt.Sprintf("how many agents to draw where none are named, 1 to %d", offline.MaxAgents))
	flags.Int64Var(&f.seed, "seed", 1, "the same seed draws the same agents")
	flags.StringVar(&f.at, "at", "", "moment to rank at, such as 2026-03-06T12:00:00Z or Unix seconds; default now")
	flags.IntVar(&f.k, "k", offline.DefaultK, fmt.Sprintf("how many items of each list to compare, 1 to %d", offline.MaxK))
	flags.BoolVar(&f.json, "json", false, "print the figures as JSON")
	return f
}

// study is the checked form of the flags.
type study struct {
	client  *client.Client
	request client.CompareRequest // without B
	agents  []string              // nil: drawn by the server
	a       *feed.Ranking         // what A was in the first answer
}

// open checks the flags; what is wrong with them is a usage error.
func (f *studyFlags) open(cmd *cobra.Command) (*study, error) {
	s, err := f.check(cmd)
	if err != nil {
		return nil, &usageError{cmd.CommandPath(), err}
	}
	s.client, err = connect(cmd, *f.server, client.WithToken(f.token()))
	return s, err
}

func (f *studyFlags) check(cmd *cobra.Command) (*study, error) {
	if err := checkChanges("--a", f.a); err != nil {
		return nil, err
	}
	s := &study{request: client.CompareRequest{A: f.a, K: f.k, Seed: f.seed}}
	named := 0
	for _, flag := range []string{"agents", "agents-file", "sample"} {
		if cmd.Flags().Changed(flag) {
			named++
		}
	}
	switch {
	case named > 1:
		return nil, errors.New("give one of --agents, --agents-file and --sample")
	case f.k < 1 || f.k > offline.MaxK:
		return nil, fmt.Errorf("--k must be 1 to %d, not %d", offline.MaxK, f.k)
	case f.sample < 1 || f.sample > offline.MaxAgents:
		return nil, fmt.Errorf("--sample must be 1 to %d, not %d; for more, name them in --agents-file", offline.MaxAgents, f.sample)
	}
	if f.at != "" {
		at, err := parseMoment(f.at)
		if err != nil {
			return nil, fmt.Errorf("--at: %w", err)
		}
		s.request.At = &at
	}
	var err error
	if s.agents, err = f.named(cmd.InOrStdin()); err != nil {
		return nil, err
	}
	if s.agents == nil {
		s.request.Sample = f.sample
	}
	return s, nil
}

// named lists the agents of the flags, nil where they name none.
func (f *studyFlags) named(in io.Reader) ([]string, error) {
	agents, from := f.agents, "--agents"
	if f.agentsFile != "" {
		from = f.agentsFile
		file, _, err := open(in, f.agentsFile)
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

// checkChanges finds what is wrong with a list of changes whatever they change.
func checkChanges(flag, changes string) error {
	cfg := configs.Default()
	if _, err := cfg.Parameters().With(changes); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

func parseMoment(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if seconds, numberErr := strconv.ParseInt(text, 10, 64); numberErr == nil {
		t, err = time.Unix(seconds, 0).UTC(), nil
	}
	if err != nil || t.Unix() < 1 || t.Unix() > feed.MaxItemTime {
		return t, fmt.Errorf("a time is written 2026-03-06T12:00:00Z, or as Unix seconds, not %q", text)
	}
	return t, nil
}

// compare compares with b for all agents, in as many calls as that takes. Who
// was drawn, the moment and A stay for the next comparison.
func (s *study) compare(ctx context.Context, b string) (offline.Comparison, error) {
	request := s.request
	request.B = b
	batches := [][]string{nil} // the server draws
	if s.agents != nil {
		batches = slices.Collect(slices.Chunk(s.agents, offline.MaxAgents))
	}
	var all offline.Comparison
	for _, batch := range batches {
		request.Agents = batch
		got, err := s.one(ctx, request)
		if err != nil {
			return all, err
		}
		if s.a == nil {
			s.a, s.request.At, request.At = &got.A, &got.At, &got.At
		}
		if got.A != *s.a {
			return all, errors.New("the live ranking was changed meanwhile; run the command again")
		}
		got.PerAgent = append(all.PerAgent, got.PerAgent...)
		all = got
	}
	if s.agents == nil {
		for _, agent := range all.PerAgent {
			s.agents = append(s.agents, agent.Agent)
		}
		s.request.Sample = 0
	}
	all.Figures = offline.Summarize(all.PerAgent)
	return all, nil
}

func (s *study) one(ctx context.Context, request client.CompareRequest) (offline.Comparison, error) {
	ctx, cancel := context.WithTimeout(ctx, compareWait)
	defer cancel()
	return s.client.Compare(ctx, request)
}

func newDecayCompareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Say how far two rankings differ, without anybody seeing either",
		Long: "Ranks by A and by B for a sample of agents at one moment and says how far the first items differ.\n" +
			"Changes are written scale=72h,offset=2h; there are scale, offset, decay, floor, weight (of popularity) and base.\n" +
			"Nothing is filtered that an agent has been shown, because that was chosen by the ranking in force.",
		Example: "  freshet decay compare --b scale=72h,offset=2h\n  freshet decay compare --a scale=24h --b scale=72h --agents u_1,u_2 --at 2026-03-06T12:00:00Z",
		Args:    cobra.NoArgs,
	}
	f := addStudyFlags(cmd)
	b := cmd.Flags().String("b", "", "what to compare, as changes to the live ranking")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkChanges("--b", *b); err != nil {
			return &usageError{cmd.CommandPath(), err}
		}
		s, err := f.open(cmd)
		if err != nil {
			return err
		}
		defer s.client.Close()
		found, err := s.compare(cmd.Context(), *b)
		if err != nil {
			return err
		}
		if f.json {
			return writeJSON(cmd.OutOrStdout(), found)
		}
		return writeComparison(cmd.OutOrStdout(), found)
	}
	return cmd
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// nameWidth is the width of the longest name of a figure: the writer of tables
// aligns all columns to the right or none.
const nameWidth = len("rank-biased overlap")

// writeComparison writes the figures as a table and what they mean as a
// sentence.
func writeComparison(w io.Writer, c offline.Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "A  %s\nB  %s\n%s\n\n", c.A, c.B, setting(c))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Repeat(" ", nameWidth)+"\tMEAN\tSD\tMIN\tMEDIAN\tMAX\tAGENTS\t")
	f := c.Figures
	for _, row := range []struct {
		name   string
		spread offline.Spread
		text   func(float64) string
	}{
		{fmt.Sprintf("overlap@%d", c.K), f.Overlap, share},
		{"rank-biased overlap", f.RBO, two},
		{"Kendall tau", f.KendallTau, two},
		{"new in B", f.NewShare, share},
		{"median age A", f.MedianAgeA, age},
		{"median age B", f.MedianAgeB, age},
		{"tag coverage A", f.CoverageA, share},
		{"tag coverage B", f.CoverageB, share},
	} {
		s := row.spread
		cells := []float64{s.Mean, s.SD, s.Min, s.Median, s.Max}
		fmt.Fprintf(t, "%-*s", nameWidth, row.name)
		for _, v := range cells {
			if s.N == 0 {
				fmt.Fprint(t, "\t-")
			} else {
				fmt.Fprint(t, "\t", row.text(v))
			}
		}
		fmt.Fprintf(t, "\t%d\t\n", s.N)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n%s\n", conclusion(c))
	_, err := io.WriteString(w, b.String())
	return err
}

// setting says what was compared.
func setting(c offline.Comparison) string {
	s := fmt.Sprintf("the first %d items of %s at %s", c.K, counted(c.Figures.Agents, "agent"), c.At.Format(time.RFC3339))
	if c.Figures.Empty > 0 {
		s += fmt.Sprintf("; %s without any item are left out", counted(c.Figures.Empty, "agent"))
	}
	return s
}

// conclusion says in a sentence what B changes.
func conclusion(c offline.Comparison) string {
	f := c.Figures
	if f.Overlap.N == 0 {
		return "There is nothing to compare: neither ranking has an item for these agents."
	}
	if f.RBO.Min == 1 && f.Overlap.Min == 1 {
		return fmt.Sprintf("B changes nothing: the first %d are the same, in the same order.", c.K)
	}
	was, is := f.MedianAgeA.Mean, f.MedianAgeB.Mean
	ages := fmt.Sprintf("as old as before at the median (%s)", age(is))
	switch {
	case age(was) == age(is):
	case is > was:
		ages = fmt.Sprintf("older: %s at the median instead of %s", age(is), age(was))
	default:
		ages = fmt.Sprintf("younger: %s at the median instead of %s", age(is), age(was))
	}
	sentence := fmt.Sprintf("With B, %s of the first %d are new, and the items are %s", share(f.NewShare.Mean), c.K, ages)
	if f.CoverageA.N > 0 {
		sentence += fmt.Sprintf("; they cover %s of an agent's interests instead of %s", share(f.CoverageB.Mean), share(f.CoverageA.Mean))
	}
	return sentence + "."
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func two(v float64) string   { return strconv.FormatFloat(v, 'f', 2, 64) }
func share(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + "%" }

// age writes seconds with one decimal of the largest unit that fits.
func age(seconds float64) string {
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{2 * 86400, "d"}, {3600, "h"}, {60, "m"}} {
		if math.Abs(seconds) >= unit.seconds {
			return strconv.FormatFloat(seconds/math.Min(unit.seconds, 86400), 'f', 1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(seconds, 'f', 0, 64) + "s"
}
