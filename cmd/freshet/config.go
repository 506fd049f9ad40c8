package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/doctor"
)

func newConfigCommand() *cobra.Command {
	return newGroup("config", "Check, print or reload the configuration, or print an example",
		newConfigPrintCommand(), newConfigCheckCommand(), newConfigExampleCommand(), newConfigDiffCommand(), newConfigReloadCommand())
}

func newConfigDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff", Short: "Show what a reload of a server's configuration would change", Args: cobra.NoArgs,
		Long: "Lets a running server compare the configuration in force with the one that it would load now from its\n" +
			"own file, environment and flags. Exit 1 if that cannot be used: the server then refuses to reload it.",
	}
	call := newAdminCall(cmd, "the list of settings")
	cmd.RunE = func(*cobra.Command, []string) error {
		return show(call, func(ctx context.Context, c *client.Client) (client.ConfigChanges, error) { return c.ConfigDiff(ctx) },
			func(w io.Writer, found client.ConfigChanges) error {
				return cli.WriteConfigChanges(w, found.Changes, "changes with a reload", "a reload would change nothing", terminalWidth(w))
			})
	}
	return cmd
}

func newConfigReloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reload", Short: "Make a server reload its configuration, as SIGHUP does", Args: cobra.NoArgs,
		Long: "Puts into force the settings of the server's file, environment and flags that may change while it runs, and\n" +
			"lists those that need a restart. Exit 1 if the configuration cannot be used: then nothing changes.\n" +
			"It concerns the server that --server names, and no other.",
	}
	call := newAdminCall(cmd, "the list of settings")
	cmd.RunE = func(*cobra.Command, []string) error {
		return show(call, func(ctx context.Context, c *client.Client) (client.ConfigChanges, error) { return c.ReloadConfig(ctx) },
			func(w io.Writer, found client.ConfigChanges) error {
				return cli.WriteConfigChanges(w, found.Changes, "changed", "the configuration is reloaded; nothing has changed", terminalWidth(w))
			})
	}
	return cmd
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
