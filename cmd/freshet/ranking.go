package main

import (
	"github.com/spf13/cobra"
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
