package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/internal/cli"
)

// readGuestFeed reads the feed that is the same for everybody.
func readGuestFeed(cmd *cobra.Command, f feedFlags) error {
	if f.why || f.requestID != "" {
		return &usageError{cmd.CommandPath(), errors.New("guest goes without --why and --request-id: it is the same for everybody")}
	}
	server, err := connect(cmd, *f.caller.server)
	if err != nil {
		return err
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), feedWait)
	defer cancel()
	page, err := server.Guest(ctx, f.limit)
	if err != nil {
		return err
	}
	if f.json {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", page.Raw)
		return err
	}
	return cli.WriteGuestPage(cmd.OutOrStdout(), page, time.Now(), terminalWidth(cmd.OutOrStdout()))
}
