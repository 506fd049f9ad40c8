package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/time/rate"

	"github.com/freshet/freshet/client"
)

const (
	// rederiveStep is the largest number of posts or items that one call reads.
	rederiveStep = 500
	// rederiveTold is the number of posts and items after which a call without a terminal prints its position.
	rederiveTold = 10_000
)

func newJobsRederiveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rederive --all", Short: "Make all lists and items agree with the posts again, after a restore", Args: cobra.NoArgs,
		Long: "Makes lists and items agree with the database of posts, whatever they contain, as after a restore of the\n" +
			"database, or of Elasticsearch, alone. Lists are dropped, and built again when they are read. Items of public\n" +
			"posts are made again, and items that belong to no public post removed, by jobs that run after all others.\n" +
			"Servers run meanwhile. If it is interrupted, it says how to continue.",
		Example: "  freshet jobs rederive --all --rate 1000",
	}
	r := &rederiving{call: newAdminCall(cmd, "the numbers of items")}
	all := cmd.Flags().Bool("all", false, "all posts; for some, use freshet jobs derive")
	cmd.Flags().Float64Var(&r.rate, "rate", 200, "most items a second that jobs are made for, 1 to 100000")
	cmd.Flags().StringVar(&r.cursor, "after", "", "the position at which to continue an interrupted call")
	cmd.RunE = func(*cobra.Command, []string) error {
		switch {
		case !*all:
			return r.usage(errors.New("give --all; for some posts, use freshet jobs derive POST"))
		case !(r.rate >= 1 && r.rate <= 100_000):
			return r.usage(fmt.Errorf("--rate must be 1 to 100000 items a second, not %v", r.rate))
		}
		return r.run()
	}
	return cmd
}

// rederiving makes all derived data again, step by step.
type rederiving struct {
	*call
	rate   float64
	cursor string // of the next step
	done   rederived
}

// rederived counts the items of all steps so far.
type rederived struct {
	Posts int `json:"posts"`
	Items int `json:"items"`
}

func (r *rederiving) run() error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, out := r.cmd.Context(), r.cmd.ErrOrStderr()
	bar := progress(out, -1, "", progressbar.OptionShowCount())
	step := min(rederiveStep, int(r.rate))
	limit := rate.NewLimiter(rate.Limit(r.rate), step)
	told := 0
	for more := true; more; {
		var n int
		n, more, err = r.step(ctx, c, step)
		if err == nil {
			err = limit.WaitN(ctx, n)
		}
		if err != nil {
			_ = bar.Clear()
			if r.cursor != "" {
				fmt.Fprintf(out, "continue with: freshet jobs rederive --all --after %s\n", r.cursor)
			}
			return err
		}
		bar.Describe("at " + r.cursor)
		_ = bar.Add(n)
		all := r.done.Posts + r.done.Items
		if terminalWidth(out) == 0 && all-told >= rederiveTold {
			told = all
			fmt.Fprintf(out, "%d items, at %s\n", all, r.cursor)
		}
	}
	_ = bar.Finish()
	return answer(r.call, r.done, func(w io.Writer, d rederived) error {
		_, err := fmt.Fprintf(w, "%d items of posts are made again, and %d removed, by jobs: freshet jobs list --kind index\n", d.Posts, d.Items)
		return err
	})
}

// step makes one call, and returns for how many items it has made jobs.
func (r *rederiving) step(ctx context.Context, c *client.Client, limit int) (n int, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	done, err := c.Rederive(ctx, r.cursor, limit)
	if err != nil {
		return 0, false, err
	}
	r.done.Posts += done.Posts
	r.done.Items += done.Items
	if done.NextCursor == nil {
		return done.Posts + done.Items, false, nil
	}
	r.cursor = *done.NextCursor
	return done.Posts + done.Items, true, nil
}
