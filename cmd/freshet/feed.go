package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/feed"
)

func newFeedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feed refresh|more|silent|guest",
		Short: "Read an agent's feed from a server",
		Long: "Reads an agent's feed as an app would, and prints it as a table.\n\n" +
			"  refresh  the best unseen items now\n" +
			"  more     the next page of the last refresh\n" +
			"  silent   the new items that a refresh would find; changes nothing\n" +
			"  guest    trending items, the same for everybody; needs no agent",
		Example:   "  freshet feed --agent u_1 refresh\n  freshet feed --agent u_1 --limit 5 more\n  freshet feed --agent u_1 --feed home refresh\n  freshet feed guest",
		ValidArgs: []string{"refresh", "more", "silent", "guest"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(cmd.ValidArgs, args[0]) {
				return fmt.Errorf("the argument must be refresh, more, silent or guest, not %q", strings.Join(args, " "))
			}
			return nil
		},
	}
	r, ask := newReading(cmd), client.Ask{Action: client.ActionRefresh}
	cmd.Flags().IntVar(&ask.Limit, "limit", 20, "items of a page, 1 to 100")
	cmd.Flags().StringVar(&ask.RequestID, "request-id", "", "a repeated id returns the same page for a minute")
	cmd.Flags().StringVar((*string)(&ask.Feed), "feed", string(feed.ForYou), "which feed: for_you or home")
	cmd.Flags().BoolVar(&ask.Why, "why", false, "show the reasons for each item")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		switch args[0] {
		case "guest":
			return readGuestFeed(r, ask)
		case "more":
			ask.Action = client.ActionLoadMore
		case "silent":
			ask.Silent = true
		}
		return readFeed(r, ask)
	}
	return cmd
}

// newReading adds the flags of a command that reads as an agent.
func newReading(cmd *cobra.Command) *call {
	r := newAgentCall(cmd, "reads")
	cmd.Flags().BoolVar(r.json, "json", false, "print the answer's data as JSON")
	return r
}

func readFeed(r *call, ask client.Ask) error {
	return r.do(func(ctx context.Context, c *client.Client) error {
		if err := ask.Feed.Check(); err != nil {
			return err
		}
		page, err := c.Feed(ctx, ask)
		if err != nil {
			return err
		}
		return answer(r, page.Raw, func(w io.Writer, _ json.RawMessage) error {
			return cli.WritePage(w, page, ask.Why, time.Now(), terminalWidth(w))
		})
	})
}

func readGuestFeed(r *call, ask client.Ask) error {
	if ask.Why || ask.RequestID != "" {
		return r.usage(errors.New("guest does not support --why and --request-id: it is the same for everybody"))
	}
	r.does = ""
	return r.do(func(ctx context.Context, c *client.Client) error {
		page, err := c.Guest(ctx, ask.Limit)
		if err != nil {
			return err
		}
		return answer(r, page.Raw, func(w io.Writer, _ json.RawMessage) error {
			return cli.WriteGuestPage(w, page, time.Now(), terminalWidth(w))
		})
	})
}

func newTimelineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "timeline",
		Short:   "Read an agent's timeline from a server",
		Long:    "Reads the posts of the people whom an agent follows, newest first, and prints it as a table.",
		Example: "  freshet timeline --agent u_1\n  freshet timeline --agent u_1 --limit 5 --cursor post:demo_891:1772791200",
		Args:    cobra.NoArgs,
	}
	r := newReading(cmd)
	limit := cmd.Flags().Int("limit", 20, "posts of a page, 1 to 100")
	cursor := cmd.Flags().String("cursor", "", "next cursor of the previous page")
	cmd.RunE = func(*cobra.Command, []string) error {
		return r.do(func(ctx context.Context, c *client.Client) error {
			page, err := c.Timeline(ctx, *cursor, *limit)
			if err != nil {
				return err
			}
			return answer(r, page.Raw, func(w io.Writer, _ json.RawMessage) error {
				return cli.WriteTimeline(w, page, time.Now(), terminalWidth(w))
			})
		})
	}
	return cmd
}
