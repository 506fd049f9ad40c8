package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/cli"
)

func newRankingCommand() *cobra.Command {
	group := newGroup("ranking", "Tune the ranking: what is live, experiments, history, what a change would do")
	group.AddCommand(
		newRankingShowCommand(), newRankingSetCommand(), newRankingPromoteCommand(), newRankingDropCommand(),
		newRankingHistoryCommand(), newRankingRevertCommand(), newRankingReportCommand(),
		newRankingCompareCommand(), newRankingSweepCommand(), newRankingReplayCommand(),
	)
	return group
}

// reportMost is how many days are kept.
const reportMost = 90

func newRankingReportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Compare what readers of each experiment were shown and did",
		Long: "Shows for each variant of the ranking, control first, how many items were shown and clicked, the\n" +
			"click-through rate with its 95 % interval, how old the shown items were, and whether the difference\n" +
			"to control is more than chance: a two-sided test at 0.05, made from 1,000 impressions each on.\n\n" +
			"The test takes impressions for independent. Those of one reader are not quite, so do not build on a\n" +
			"p-value just below 0.05, and decide before it starts how long an experiment shall run.",
		Example: "  freshet ranking report\n  freshet ranking report --days 14 --json",
		Args:    cobra.NoArgs,
	}
	r := newAdminCall(cmd, "the report")
	days := cmd.Flags().Int("days", 7, fmt.Sprintf("how many days, today included, 1 to %d", reportMost))
	cmd.RunE = func(*cobra.Command, []string) error {
		if *days < 1 || *days > reportMost {
			return r.usage(fmt.Errorf("--days must be 1 to %d, not %d", reportMost, *days))
		}
		return show(r, func(ctx context.Context, c *client.Client) (client.Report, error) { return c.Report(ctx, *days) }, cli.WriteReport)
	}
	return cmd
}
