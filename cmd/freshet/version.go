package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/internal/version"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine is the output of the version command and of --version.
func versionLine() string { return "freshet " + version.Long() }
