package main

import (
	"fmt"

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

// newDecayCommand is "freshet ranking" under the name it had before.
func newDecayCommand() *cobra.Command {
	group := newRankingCommand()
	group.Use, group.Hidden = "decay", true
	group.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		fmt.Fprintln(cmd.ErrOrStderr(), `freshet: "freshet decay" is "freshet ranking" now; the old name goes with the next version`)
	}
	return group
}
