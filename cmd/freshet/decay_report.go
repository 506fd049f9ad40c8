package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/cli"
)

func init() { decayCommands = append(decayCommands, newDecayReportCommand) }

const (
	reportWait = time.Minute // the server gives up sooner
	reportMost = 90          // days that are kept
)

func newDecayReportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Compare what readers of each experiment were shown and did",
		Long: "Shows for each variant of the ranking, control first, how many items were shown and clicked, the\n" +
			"click-through rate with its 95 % interval, how old the shown items were, and whether the difference\n" +
			"to control is more than chance: a two-sided test at 0.05, made from 1,000 impressions each on.\n\n" +
			"The test takes impressions for independent. Those of one reader are not quite, so do not build on a\n" +
			"p-value just below 0.05, and decide beforehand how long an experiment shall run.",
		Example: "  freshet decay report\n  freshet decay report --days 14 --json",
		Args:    cobra.NoArgs,
	}
	server, token := serverFlag(cmd), adminTokenFlag(cmd)
	days := cmd.Flags().Int("days", 7, fmt.Sprintf("how many days, today included, 1 to %d", reportMost))
	asJSON := cmd.Flags().Bool("json", false, "print the report as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *days < 1 || *days > reportMost {
			return &usageError{cmd.CommandPath(), fmt.Errorf("--days must be 1 to %d, not %d", reportMost, *days)}
		}
		c, err := connect(cmd, *server, client.WithToken(token()))
		if err != nil {
			return err
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(cmd.Context(), reportWait)
		defer cancel()
		report, err := c.Report(ctx, *days)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(cmd.OutOrStdout(), report)
		}
		return cli.WriteReport(cmd.OutOrStdout(), report)
	}
	return cmd
}
