package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/internal/cli"
)

func newTimelineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "timeline",
		Short:   "Read an agent's timeline from a server",
		Long:    "Reads the posts of the people whom an agent follows, newest first, and prints it as a table.",
		Example: "  freshet timeline --agent u_1\n  freshet timeline --agent u_1 --limit 5 --cursor post:demo_891:1772791200",
		Args:    cobra.NoArgs,
	}
	caller := addCallerFlags(cmd, "reads")
	limit := cmd.Flags().Int("limit", 20, "posts of a page, 1 to 100")
	cursor := cmd.Flags().String("cursor", "", "where the page before has ended: its next cursor")
	asJSON := cmd.Flags().Bool("json", false, "print the answer's data as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		server, err := caller.connect(cmd)
		if err != nil {
			return err
		}
		defer server.Close()
		ctx, cancel := context.WithTimeout(cmd.Context(), feedWait)
		defer cancel()
		page, err := server.Timeline(ctx, *cursor, *limit)
		if err != nil {
			return err
		}
		if *asJSON {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", page.Raw)
			return err
		}
		return cli.WriteTimeline(cmd.OutOrStdout(), page, time.Now(), terminalWidth(cmd.OutOrStdout()))
	}
	return cmd
}
