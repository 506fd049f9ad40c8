package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

func newJobsCommand() *cobra.Command {
	return newGroup("jobs", "List and repeat the jobs that bring posts into timelines and the catalog",
		newJobsListCommand(), newJobsRetryCommand(), newJobsDropCommand(), newJobsDeriveCommand(), newJobsRederiveCommand())
}

func newJobsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs, and how many there are", Args: cobra.NoArgs,
		Example: "  freshet jobs list --state dead\n  freshet jobs list --key post:demo_891",
	}
	call := newAdminCall(cmd, "the page")
	var f client.JobFilter
	cmd.Flags().StringVar(&f.Kind, "kind", "", "only this kind: deliver, index, count, pair, member, author or erase")
	cmd.Flags().StringVar(&f.State, "state", "", "only this state: pending, running, completed, failed or dead")
	cmd.Flags().StringVar(&f.Key, "key", "", "only jobs about this, such as the id of a post")
	cmd.Flags().Int64Var(&f.After, "after", 0, "only jobs with ids greater than this one")
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "jobs of a page, 1 to 1000")
	cmd.RunE = func(*cobra.Command, []string) error {
		return show(call, func(ctx context.Context, c *client.Client) (client.JobPage, error) { return c.Jobs(ctx, f) },
			func(w io.Writer, p client.JobPage) error { return cli.WriteJobs(w, p, time.Now(), terminalWidth(w)) })
	}
	return cmd
}

func newJobsRetryCommand() *cobra.Command {
	return newJobChange("retry ID...", "Run jobs now, with all their attempts", "is due now", (*client.Client).RetryJob)
}

func newJobsDropCommand() *cobra.Command {
	return newJobChange("drop ID...", "Remove jobs without doing their work", "is dropped", (*client.Client).DropJob)
}

func newJobChange(use, short, done string, change func(*client.Client, context.Context, int64) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.MinimumNArgs(1)}
	call := newAdminCall(cmd, "nothing but {}")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		ids := map[string]int64{}
		for _, text := range args {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil || id < 1 {
				return call.usage(fmt.Errorf("the id of a job is a number, as freshet jobs list shows it, not %q", text))
			}
			ids[text] = id
		}
		return call.each(args, "job ", func(ctx context.Context, c *client.Client, id string) (string, error) {
			return "job " + id + " " + done, change(c, ctx, ids[id])
		})
	}
	return cmd
}

func newJobsDeriveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "derive POST...", Short: "Make lists and catalog consistent with posts again", Args: cobra.MinimumNArgs(1),
		Example: "  freshet jobs derive post:demo_891",
	}
	call := newAdminCall(cmd, "nothing but {}")
	cmd.RunE = func(_ *cobra.Command, posts []string) error {
		return call.each(posts, "", func(ctx context.Context, c *client.Client, id string) (string, error) {
			return id + " is delivered and indexed again", c.DeriveAgain(ctx, id)
		})
	}
	return cmd
}
