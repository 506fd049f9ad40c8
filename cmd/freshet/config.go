package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/doctor"
)

func newConfigCommand() *cobra.Command {
	return newGroup("config", "Check or print the configuration, or print an example",
		newConfigPrintCommand(), newConfigCheckCommand(), newConfigExampleCommand())
}

func newConfigPrintCommand() *cobra.Command {
	return withConfig(&cobra.Command{Use: "print", Short: "Print the configuration a server would run with, secrets masked"},
		func(cmd *cobra.Command, c configs.Config) error { return configs.Print(cmd.OutOrStdout(), c) })
}

func newConfigCheckCommand() *cobra.Command {
	return withConfig(&cobra.Command{
		Use:   "check",
		Short: "Validate the configuration; exit 1 if it is invalid",
		Long: "Reads file, environment and flags as a server would, and the files of keys and certificates\n" +
			"that they name, and lists all problems.\n" +
			"It does not call any service; \"freshet doctor\" does.",
	}, func(cmd *cobra.Command, c configs.Config) error {
		if err := doctor.Files(c); err != nil {
			return err
		}
		items, impressions, posts := c.Stores()
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "the configuration is valid: items %s, impressions %s, posts %s\n", items, impressions, posts)
		return err
	})
}

func newConfigExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "example [embedded|services]",
		Short:     "Print an example configuration file with comments",
		ValidArgs: []string{"embedded", "services"},
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := configs.Embedded
			if len(args) == 1 && args[0] == "services" {
				file = configs.Services
			}
			_, err := cmd.OutOrStdout().Write(file)
			return err
		},
	}
}
