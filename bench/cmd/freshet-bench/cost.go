package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/bench"
)

func newCostCommand() *cobra.Command {
	p := bench.DefaultPlan()
	var from string
	var save bool
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Compute the servers and the money that a load takes, from measured costs",
		Long: "Multiplies operations a second by the CPU that one was measured to take, and says how many servers of each\n" +
			"kind serve them, and what these cost at your prices. Without --costs, the costs are those of\n" +
			"docs/capacity.md; with it, those of your own machine:\n\n" +
			"  freshet-bench --only load_more,refresh,timeline,posts --json bench.json\n" +
			"  freshet-bench cost --costs bench.json",
		Example: "  freshet-bench cost --pages 2000 --pushes 5000 --deletes 2 --followers 100 --readers 200000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.Validate(); err != nil {
				return usageError{err}
			}
			c, err := costsFrom(from)
			if err != nil {
				return err
			}
			if save {
				return c.Write(cmd.OutOrStdout())
			}
			return p.Print(cmd.OutOrStdout(), c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "costs", "", "a report of freshet-bench --json, or what --save printed (default: the costs of docs/capacity.md)")
	flags.BoolVar(&save, "save", false, "print only the costs, as JSON")
	for name, f := range map[string]struct {
		v     *float64
		usage string
	}{
		"refreshes":  {&p.Refreshes, "for-you refreshes a second"},
		"load-mores": {&p.LoadMores, "for-you load_mores a second"},
		"pages":      {&p.Pages, "timeline pages a second"},
		"pushes":     {&p.Pushes, "posts pushed into a list a second: posts a second times --followers"},
		"deletes":    {&p.Deletes, "posts deleted a second, each from the lists of --followers"},
		"unfollows":  {&p.Unfollows, "unfollows a second"},
		"followers":  {&p.Followers, "followers of an author"},
		"readers":    {&p.Readers, "readers who have a timeline in Redis, which is kept for a week"},
		"entries":    {&p.Cap, "entries of a list"},
		"busy":       {&p.Busy, "share of a core that is used at the peak"},
		"cores":      {&p.Cores, "cores of a Freshet or Elasticsearch server"},
		"core-hour":  {&p.CoreHour, "price of a core for an hour, in $"},
		"gib-hour":   {&p.GiBHour, "price of a GiB of memory for an hour, in $"},
	} {
		flags.Float64Var(f.v, name, *f.v, f.usage)
	}
	return cmd
}

func costsFrom(path string) (bench.Costs, error) {
	if path == "" {
		return bench.MeasuredCosts()
	}
	file, err := os.Open(path)
	if err != nil {
		return bench.Costs{}, fmt.Errorf("--costs: %w", err)
	}
	defer func() { _ = file.Close() }()
	c, err := bench.ReadCosts(file)
	if err != nil {
		return c, fmt.Errorf("--costs: %s: %w", path, err)
	}
	return c, nil
}
