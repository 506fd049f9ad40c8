package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/cli"
)

// feedWait is how long a page may take; the server gives up sooner.
const feedWait = 30 * time.Second

type feedFlags struct {
	caller    *callerFlags
	limit     int
	requestID string
	feed      string
	why       bool
	json      bool
}

func newFeedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feed refresh|more|silent|guest",
		Short: "Read an agent's feed from a server",
		Long: "Reads an agent's feed as an app would, and prints it as a table.\n\n" +
			"  refresh  the best unseen items now\n" +
			"  more     the next page of the last refresh\n" +
			"  silent   what a refresh would find that is new; changes nothing\n" +
			"  guest    what trends, the same for everybody; needs no agent",
		Example:   "  freshet feed --agent u_1 refresh\n  freshet feed --agent u_1 --limit 5 more\n  freshet feed --agent u_1 --feed home refresh\n  freshet feed guest",
		ValidArgs: []string{"refresh", "more", "silent", "guest"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(cmd.ValidArgs, args[0]) {
				return fmt.Errorf("say what to read, refresh, more, silent or guest, not %q", strings.Join(args, " "))
			}
			return nil
		},
	}
	f := feedFlags{caller: addCallerFlags(cmd, "reads")}
	cmd.Flags().IntVar(&f.limit, "limit", 20, "items of a page, 1 to 100")
	cmd.Flags().StringVar(&f.requestID, "request-id", "", "the same id again within a minute answers the same page")
	cmd.Flags().StringVar(&f.feed, "feed", string(feed.ForYou), "which feed: for_you or home")
	cmd.Flags().BoolVar(&f.why, "why", false, "say of each item why it is there")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the answer's data as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] == "guest" {
			return readGuestFeed(cmd, f)
		}
		return readFeed(cmd, f, args[0])
	}
	return cmd
}

func readFeed(cmd *cobra.Command, f feedFlags, action string) error {
	ask := client.Ask{Action: client.ActionRefresh, Limit: f.limit, Silent: action == "silent", RequestID: f.requestID, Why: f.why, Feed: feed.Name(f.feed)}
	if action == "more" {
		ask.Action = client.ActionLoadMore
	}
	return f.caller.do(cmd, func(ctx context.Context, c *client.Client) error {
		if err := ask.Feed.Check(); err != nil {
			return err
		}
		page, err := c.Feed(ctx, ask)
		if err != nil {
			return err
		}
		return printPage(cmd, page.Raw, f.json, func(w io.Writer, width int) error { return cli.WritePage(w, page, f.why, time.Now(), width) })
	})
}

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
