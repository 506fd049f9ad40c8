package main

import "github.com/spf13/cobra"

// decayCommands makes the subcommands of "freshet decay", each in a file of its
// name.
var decayCommands []func() *cobra.Command

func newDecayCommand() *cobra.Command {
	group := newGroup("decay", "Tune the ranking: what is live, experiments, history, what a change would do")
	for _, newCommand := range decayCommands {
		group.AddCommand(newCommand())
	}
	return group
}
