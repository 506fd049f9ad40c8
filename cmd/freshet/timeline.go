package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
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
		return caller.do(cmd, func(ctx context.Context, c *client.Client) error {
			page, err := c.Timeline(ctx, *cursor, *limit)
			if err != nil {
				return err
			}
			return printPage(cmd, page.Raw, *asJSON, func(w io.Writer, width int) error { return cli.WriteTimeline(w, page, time.Now(), width) })
		})
	}
	return cmd
}
