package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/cli"
)

type explainFlags struct {
	*adminCall
	agent, feed, item, set, at string
	limit                      int
	all                        bool
}

func newExplainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain --agent ID",
		Short: "Say why an agent's feed looks as it does",
		Long: "Shows what a refresh of the agent would do, without doing it: each candidate's\n" +
			"relevance, decay, popularity and score, and what becomes of it.\n\n" +
			"  paged    on the page                 kept   in the session, for the pages after\n" +
			"  seen     in the filter of that day   group  a better item of its group stands in\n" +
			"  pending  given out lately            muted  refused by the agent's profile\n" +
			"  gone     deleted or changed since it was indexed\n" +
			"  same_story  an item of its page has nearly the same title, and the session is full without it\n" +
			"  outside  of home: the session is full before it\n" +
			"  paged, seen and kept, seen: in the filter of that day, and again because nothing unseen is left\n\n" +
			"With --item it says of one item why it is where it is, or why it is nowhere.\n" +
			"With --set and --at it does so for other parameters and at another time.\n\n" +
			"With --feed home it lists the positions of the page, whose each is by the pattern (RIGHT),\n" +
			"which source fills it (SOURCE), and what the score is made of.",
		Example: "  freshet explain --agent u_1\n  freshet explain --agent u_1 --item doc_9527\n  freshet explain --agent u_1 --feed home\n" +
			"  freshet explain --agent u_1 --set scale=72h,weight=0.5 --at 2026-03-06T12:00:00Z",
		Args: cobra.NoArgs,
	}
	f := explainFlags{adminCall: newAdminCall(cmd, "the explanation")}
	flags := cmd.Flags()
	flags.StringVar(&f.agent, "agent", "", "id of the agent whose feed it is")
	flags.StringVar(&f.feed, "feed", string(feed.ForYou), "which feed: for_you or home")
	flags.StringVar(&f.item, "item", "", "id of an item: say why it is where it is")
	flags.IntVar(&f.limit, "limit", 20, "items of the page, 1 to 100")
	flags.StringVar(&f.set, "set", "", "changes to the ranking, such as scale=72h,offset=2h,decay=0.5,floor=0,weight=0.2,base=0.1,summary=0.5,site.decay=0.6")
	flags.StringVar(&f.at, "at", "", "explain a refresh at this time, 2026-03-06T12:00:00Z or Unix seconds, instead of now")
	flags.BoolVar(&f.all, "all", false, "show every candidate, not only those down to the end of the page")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return explain(cmd, f) }
	return cmd
}

// ask checks what the flags say and makes the question of it.
func (f *explainFlags) ask() (client.ExplainAsk, error) {
	ask := client.ExplainAsk{Agent: f.agent, Feed: feed.Name(f.feed), Limit: f.limit, Item: f.item}
	if f.agent == "" {
		return ask, fmt.Errorf("whose feed? give --agent")
	}
	if err := feed.CheckAgentID(f.agent); err != nil {
		return ask, fmt.Errorf("--agent: %w", err)
	}
	if err := ask.Feed.Check(); err != nil {
		return ask, fmt.Errorf("--feed: %w", err)
	}
	if ask.Feed == feed.ForYou {
		ask.Feed = "" // a server from before there was another one does not know the field
	}
	if f.item != "" {
		if err := feed.CheckItemID(f.item); err != nil {
			return ask, fmt.Errorf("--item: %w", err)
		}
	}
	if f.set != "" {
		change, err := feed.ChangesJSON(f.set)
		if err != nil {
			return ask, fmt.Errorf("--set: %w", err)
		}
		ask.Ranking = change
	}
	if f.at != "" {
		at, err := feed.ParseTime(f.at)
		if err != nil {
			return ask, fmt.Errorf("--at %w", err)
		}
		ask.At = at.UTC()
	}
	return ask, nil
}

func explain(cmd *cobra.Command, f explainFlags) error {
	ask, err := f.ask()
	if err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	server, err := f.connect()
	return calling(cmd, server, err, func(ctx context.Context, c *client.Client) error {
		x, err := c.Explain(ctx, ask)
		if err != nil {
			return err
		}
		return printPage(cmd, x.Raw, *f.json, func(w io.Writer, width int) error {
			if x.Item != nil {
				return cli.WriteExplainedItem(w, x)
			}
			return cli.WriteExplanation(w, x, f.all, width)
		})
	})
}
