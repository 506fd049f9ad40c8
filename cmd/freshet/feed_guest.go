package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/cli"
)

// readGuestFeed reads the feed that is the same for everybody.
func readGuestFeed(cmd *cobra.Command, f feedFlags) error {
	if f.why || f.requestID != "" {
		return &usageError{cmd.CommandPath(), errors.New("guest goes without --why and --request-id: it is the same for everybody")}
	}
	server, err := connect(cmd, f.caller.server())
	return calling(cmd, server, err, func(ctx context.Context, c *client.Client) error {
		page, err := c.Guest(ctx, f.limit)
		if err != nil {
			return err
		}
		return printPage(cmd, page.Raw, f.json, func(w io.Writer, width int) error { return cli.WriteGuestPage(w, page, time.Now(), width) })
	})
}
