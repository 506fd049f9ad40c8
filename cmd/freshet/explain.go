package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/feed"
)

type explainFlags struct {
	*call
	ask     client.ExplainAsk
	set, at string
}

func newExplainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain --agent ID",
		Short: "Explain an agent's feed",
		Long: "Shows what a refresh of the agent would do, without doing it: each candidate's\n" +
			"relevance, decay, popularity, co-readers and score, and its outcome.\n\n" +
			"  paged    on the page                 kept   in the session, for the pages after\n" +
			"  seen     in the filter of that day   group  a better item of its group stands in\n" +
			"  pending  given out lately            muted  refused by the agent's profile\n" +
			"  gone     deleted or changed since it was indexed\n" +
			"  same_story  an item of its page has nearly the same title, and the session is full without it\n" +
			"  outside  of home: the session is full before it\n" +
			"  paged, seen and kept, seen: in the filter of that day, and again because nothing unseen is left\n\n" +
			"With --item it explains the position of one item, or why the item is missing.\n" +
			"With --set and --at it does so for other parameters and at another time.\n\n" +
			"With --feed home it lists the positions of the page, the source that the pattern assigns to each (RIGHT),\n" +
			"the source that fills it (SOURCE), and the parts of the score.",
		Example: "  freshet explain --agent u_1\n  freshet explain --agent u_1 --item doc_9527\n  freshet explain --agent u_1 --feed home\n" +
			"  freshet explain --agent u_1 --set scale=72h,weight=0.5 --at 2026-03-06T12:00:00Z",
		Args: cobra.NoArgs,
	}
	f, all := &explainFlags{call: newAdminCall(cmd, "the explanation")}, false
	flags := cmd.Flags()
	flags.StringVar(&f.ask.Agent, "agent", "", "id of the agent whose feed it is")
	flags.StringVar((*string)(&f.ask.Feed), "feed", string(feed.ForYou), "which feed: for_you or home")
	flags.StringVar(&f.ask.Item, "item", "", "id of an item: explain its position")
	flags.IntVar(&f.ask.Limit, "limit", 20, "items of the page, 1 to 100")
	flags.StringVar(&f.set, "set", "", "changes to the ranking, such as scale=72h,offset=2h,decay=0.5,floor=0,weight=0.2,base=0.1,summary=0.5,site.decay=0.6")
	flags.StringVar(&f.at, "at", "", "explain a refresh at this time, 2026-03-06T12:00:00Z or Unix seconds, instead of now")
	flags.BoolVar(&all, "all", false, "show every candidate, not only those down to the end of the page")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := f.check(); err != nil {
			return f.usage(err)
		}
		return f.do(func(ctx context.Context, c *client.Client) error {
			x, err := c.Explain(ctx, f.ask)
			if err != nil {
				return err
			}
			return answer(f.call, x.Raw, func(w io.Writer, _ json.RawMessage) error {
				if x.Item != nil {
					return cli.WriteExplainedItem(w, x)
				}
				return cli.WriteExplanation(w, x, all, terminalWidth(w))
			})
		})
	}
	return cmd
}

func (f *explainFlags) check() (err error) {
	if f.ask.Agent == "" {
		return errors.New("--agent is required")
	}
	if err := feed.CheckAgentID(f.ask.Agent); err != nil {
		return fmt.Errorf("--agent: %w", err)
	}
	if err := f.ask.Feed.Check(); err != nil {
		return fmt.Errorf("--feed: %w", err)
	}
	if f.ask.Item != "" {
		if err := feed.CheckItemID(f.ask.Item); err != nil {
			return fmt.Errorf("--item: %w", err)
		}
	}
	if f.set != "" {
		if f.ask.Ranking, err = feed.ChangesJSON(f.set); err != nil {
			return fmt.Errorf("--set: %w", err)
		}
	}
	if f.at != "" {
		at, err := feed.ParseTime(f.at)
		if err != nil {
			return fmt.Errorf("--at %w", err)
		}
		f.ask.At = at.UTC()
	}
	return nil
}
