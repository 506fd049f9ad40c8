package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newBenchCommand says where the command of this name went.
func newBenchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bench", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("bench is a program of its own now, with the same flags: scripts/bench.sh, in the sources")
		},
	}
}
