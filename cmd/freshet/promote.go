package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/feed"
)

func newPromoteCommand() *cobra.Command {
	return newGroup("promote", "Promote items and posts in home for a time",
		newPromotePutCommand(), newPromoteListCommand(), newPromoteGetCommand(), newPromoteDeleteCommand())
}

func newPromotePutCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "put ID", Short: "Promote an item or a post, replacing what promotion ID promotes now", Args: cobra.ExactArgs(1),
		Example: "  freshet promote put autumn --item doc_1042 --for 168h --weight 2 --tags go,databases\n" +
			"  freshet promote put night --item post:demo_891 --from 2026-03-06T20:00:00Z --until 2026-03-07T06:00:00Z",
	}
	call := newAdminCall(cmd, "the promotion")
	var change client.PromotionChange
	from, until := cmd.Flags().String("from", "", "when it begins, RFC 3339 or Unix seconds; default: now"), cmd.Flags().String("until", "", "when it ends, likewise")
	length := cmd.Flags().Duration("for", 0, "how long it runs, such as 168h, instead of --until")
	cmd.Flags().StringVar(&change.ItemID, "item", "", "the id of the item, or of the public post")
	cmd.Flags().Float64Var(&change.Weight, "weight", 1, "how often it is chosen, relative to the others")
	cmd.Flags().StringSliceVar(&change.Tags, "tags", nil, "only for readers who are interested in any of these")
	cmd.Flags().StringSliceVar(&change.Langs, "langs", nil, "only for readers with any of these languages in their profile")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := setTimes(&change, *from, *until, *length, time.Now()); err != nil {
			return call.usage(err)
		}
		switch {
		case change.ItemID == "":
			return call.usage(errors.New("--item is required"))
		case !(change.Weight > 0):
			return call.usage(fmt.Errorf("--weight must be greater than 0, not %v", change.Weight))
		}
		return show(call, func(ctx context.Context, c *client.Client) (client.Promotion, error) {
			return c.PutPromotion(ctx, args[0], change)
		}, writePromotion)
	}
	return cmd
}

// setTimes parses the start and end of a promotion.
func setTimes(change *client.PromotionChange, from, until string, length time.Duration, now time.Time) (err error) {
	change.From.Time = now.UTC().Truncate(time.Second)
	if from != "" {
		if change.From.Time, err = feed.ParseTime(from); err != nil {
			return fmt.Errorf("--from %w", err)
		}
	}
	switch {
	case (until == "") == (length == 0):
		return errors.New("give either --until or --for")
	case length < 0:
		return fmt.Errorf("--for must be greater than 0, not %s", length)
	case length > 0:
		change.Until.Time = change.From.Add(length)
		return nil
	}
	if change.Until.Time, err = feed.ParseTime(until); err != nil {
		return fmt.Errorf("--until %w", err)
	}
	return nil
}

func writePromotion(w io.Writer, p client.Promotion) error {
	return cli.WritePromotions(w, client.PromotionPage{Promotions: []client.Promotion{p}}, terminalWidth(w))
}

func newPromoteListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List promotions, and which of them run", Args: cobra.NoArgs}
	call := newAdminCall(cmd, "the page")
	after := cmd.Flags().String("after", "", "only promotions with ids after this one")
	limit := cmd.Flags().Int("limit", 100, "promotions of a page, 1 to 1000")
	cmd.RunE = func(*cobra.Command, []string) error {
		return show(call, func(ctx context.Context, c *client.Client) (client.PromotionPage, error) {
			return c.Promotions(ctx, *after, *limit)
		},
			func(w io.Writer, p client.PromotionPage) error { return cli.WritePromotions(w, p, terminalWidth(w)) })
	}
	return cmd
}

func newPromoteGetCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "get ID", Short: "Show a promotion, and whether it runs", Args: cobra.ExactArgs(1)}
	call := newAdminCall(cmd, "the promotion")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return show(call, func(ctx context.Context, c *client.Client) (client.Promotion, error) {
			return c.Promotion(ctx, args[0])
		}, writePromotion)
	}
	return cmd
}

func newPromoteDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "delete ID...", Short: "End promotions", Args: cobra.MinimumNArgs(1)}
	call := newAdminCall(cmd, "nothing but {}")
	cmd.RunE = func(_ *cobra.Command, ids []string) error {
		return call.each(ids, "promotion ", func(ctx context.Context, c *client.Client, id string) (string, error) {
			return "promotion " + id + " is deleted", c.DeletePromotion(ctx, id)
		})
	}
	return cmd
}
