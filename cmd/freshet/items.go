package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/cli"
)

func newItemsCommand() *cobra.Command {
	return newGroup("items", "See what the catalog has", newItemsListCommand())
}

func newItemsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List items, the youngest first; posts are not among them", Args: cobra.NoArgs,
		Example: "  freshet items list --author ana.costa --since 72h\n  freshet items list --tag space --limit 200 --json",
	}
	call := newAdminCall(cmd, "the page")
	var f client.ItemFilter
	var since string
	cmd.Flags().StringVar(&f.Author, "author", "", "only items of this author")
	cmd.Flags().StringVar(&f.Tag, "tag", "", "only items with this tag")
	cmd.Flags().StringVar(&since, "since", "", "only items of the last 72h, or since a time in Unix seconds")
	cmd.Flags().StringVar(&f.Cursor, "cursor", "", "where the page before has ended")
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "items of a page, 1 to 200")
	cmd.RunE = func(*cobra.Command, []string) error {
		var err error
		if f.Since, err = parseSince(since, time.Now()); err != nil {
			return call.usage(err)
		}
		return show(call, func(ctx context.Context, c *client.Client) (client.ItemPage, error) { return c.Items(ctx, f) },
			func(w io.Writer, p client.ItemPage) error { return cli.WriteItems(w, p, time.Now(), terminalWidth(w)) })
	}
	return cmd
}

// parseSince reads a duration before now, or Unix seconds; "" is 0.
func parseSince(text string, now time.Time) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d).Unix(), nil
	}
	if at, err := strconv.ParseInt(text, 10, 64); err == nil && at >= 0 {
		return at, nil
	}
	return 0, fmt.Errorf("--since %q: %w", text, errors.New("give a duration such as 72h, or Unix seconds such as 1772791200"))
}
