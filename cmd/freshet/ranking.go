package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

// historyMost is the longest history that a server returns; reportMost is the number of days that
// counts are stored.
const historyMost, reportMost = 100, 90

func newRankingCommand() *cobra.Command {
	return newGroup("ranking", "Tune the ranking: live parameters, experiments, history, effects of a change",
		newRankingShowCommand(), newRankingSetCommand(), newRankingPromoteCommand(), newRankingDropCommand(), newRankingHoldoutCommand(),
		newRankingHistoryCommand(), newRankingRevertCommand(), newRankingReportCommand(),
		newRankingCompareCommand(), newRankingSweepCommand(), newRankingReplayCommand(), newRankingProposeCommand())
}

func newRankingReportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Compare what readers of each experiment were shown and did",
		Long: "Shows for each variant of the ranking, control first, how many items were shown and clicked, the\n" +
			"click-through rate with its 95 % interval, how old the shown items were, and whether the difference\n" +
			"to control is more than chance: a two-sided test at 0.05, made from 100 readers each on.\n\n" +
			"Each row counts from the last change of the live ranking or of an experiment on. Readers, not\n" +
			"impressions, are taken to be independent, and the test holds however often you look: you may end an\n" +
			"experiment as soon as it is significant.",
		Example: "  freshet ranking report\n  freshet ranking report --daily\n  freshet ranking report --effect 5% --json",
		Args:    cobra.NoArgs,
	}
	r := newAdminCall(cmd, "the report")
	days := cmd.Flags().Int("days", 7, fmt.Sprintf("how many days, today included, 1 to %d", reportMost))
	daily := cmd.Flags().Bool("daily", false, "also show each day of the experiments")
	effect := cmd.Flags().String("effect", "10%", "the difference, as a part of control's rate, for which to say how long a test takes")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *days < 1 || *days > reportMost {
			return r.usage(fmt.Errorf("--days must be 1 to %d, not %d", reportMost, *days))
		}
		part, err := cli.ParseShare(*effect)
		if err != nil || part <= 0 {
			return r.usage(fmt.Errorf("--effect must be a part like 10%% or 0.1, not %q", *effect))
		}
		write := func(w io.Writer, report client.Report) error {
			err := cli.WriteReport(w, report)
			if *daily && err == nil {
				err = cli.WriteDays(w, report)
			}
			return err
		}
		return show(r, func(ctx context.Context, c *client.Client) (client.Report, error) {
			return c.ReportFor(ctx, client.ReportAsk{Days: *days, Effect: part})
		}, write)
	}
	return cmd
}

// rankingChange holds the common parts of the commands that change the ranking.
type rankingChange struct {
	*call
	by, why *string
	onlyIf  *int
}

func newRankingChange(cmd *cobra.Command) *rankingChange {
	return newRankingChangeOf(cmd, newAdminCall(cmd, "the version"))
}

// newRankingChangeOf adds the flags of a change to those of a call.
func newRankingChangeOf(cmd *cobra.Command, c *call) *rankingChange {
	return &rankingChange{
		call:   c,
		by:     cmd.Flags().String("by", "", "author of the change; default: the user of this shell"),
		why:    cmd.Flags().String("why", "", "reason for the change, shown in the history"),
		onlyIf: cmd.Flags().Int("if-version", client.AnyVersion, "change it only if this version is in force; -1: the version that this command reads"),
	}
}

func (r *rankingChange) who() string { return cmp.Or(*r.by, os.Getenv("USER"), "admin") }

// change reads the ranking and calls do, which changes it unless another call has changed it
// meanwhile. do returns a sentence that describes the change.
func (r *rankingChange) change(do func(ctx context.Context, c *client.Client, was client.RankingVersion, onlyIf int) (now client.RankingVersion, said string, err error)) error {
	return r.do(func(ctx context.Context, c *client.Client) error {
		was, err := c.Ranking(ctx)
		if err != nil {
			return err
		}
		onlyIf := was.Version
		if *r.onlyIf != client.AnyVersion {
			onlyIf = *r.onlyIf // the server checks it and explains a mismatch
		}
		now, said, err := do(ctx, c, was, onlyIf)
		if err != nil {
			return err
		}
		return answer(r.call, now, func(w io.Writer, v client.RankingVersion) error {
			err := cli.WriteRanking(w, v)
			fmt.Fprintf(w, "\n%s\n%s", said, cli.Notes(v))
			return err
		})
	})
}

// followed describes the change and when it takes effect.
func followed(what string, was, now client.RankingVersion) string {
	return fmt.Sprintf("%s: %s; every server follows within two seconds.", what, cli.RankingChange(was, now))
}

// put replaces the ranking by the result of edit.
func (r *rankingChange) put(edit func(v client.RankingVersion) (client.RankingChange, error)) error {
	return r.change(func(ctx context.Context, c *client.Client, was client.RankingVersion, onlyIf int) (client.RankingVersion, string, error) {
		return r.replace(ctx, c, was, onlyIf, edit)
	})
}

// replace replaces a version of the ranking by the result of edit, if it is still in force.
func (r *rankingChange) replace(ctx context.Context, c *client.Client, was client.RankingVersion, onlyIf int, edit func(v client.RankingVersion) (client.RankingChange, error)) (now client.RankingVersion, said string, err error) {
	change, err := edit(was)
	if err != nil {
		return was, "", err
	}
	sameRanking := change.Ranking == nil || *change.Ranking == was.Ranking
	sameExperiments := change.Experiments == nil || slices.Equal(change.Experiments, was.Experiments)
	if sameRanking && sameExperiments && onlyIf == was.Version {
		return was, fmt.Sprintf("Nothing to change: version %d already has these settings.", was.Version), nil
	}
	change.By, change.Why = r.who(), cmp.Or(*r.why, change.Why)
	now, err = c.PutRanking(ctx, onlyIf, change)
	return now, followed("Changed", was, now), err
}

func newRankingShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the ranking in force, and its experiments",
		Long:  "Prints the parameters that differ from the defaults of this version of Freshet; --json prints all of them.",
		Args:  cobra.NoArgs,
	}
	r := newAdminCall(cmd, "the version")
	cmd.RunE = func(*cobra.Command, []string) error {
		return show(r, func(ctx context.Context, c *client.Client) (client.RankingVersion, error) { return c.Ranking(ctx) }, cli.WriteRanking)
	}
	return cmd
}

func newRankingHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show who changed the ranking, when, what and why",
		Args:  cobra.NoArgs,
	}
	r := newAdminCall(cmd, "the versions")
	limit := cmd.Flags().Int("limit", 20, fmt.Sprintf("how many versions, newest first, 1 to %d", historyMost))
	cmd.RunE = func(*cobra.Command, []string) error {
		if *limit < 1 || *limit > historyMost {
			return r.usage(fmt.Errorf("--limit must be 1 to %d, not %d", historyMost, *limit))
		}
		return r.do(func(ctx context.Context, c *client.Client) error {
			// One more, to show the changes of the oldest one.
			list, err := c.RankingHistory(ctx, min(*limit+1, historyMost))
			if err != nil {
				return err
			}
			return answer(r, list[:min(*limit, len(list))], func(w io.Writer, _ []client.RankingVersion) error {
				return cli.WriteHistory(w, list, *limit)
			})
		})
	}
	return cmd
}

func newRankingRevertCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revert VERSION",
		Short: "Go back to an older ranking, its experiments included",
		Long: "Creates a new version with the ranking of VERSION; \"freshet ranking history\" lists them, and 0 is the\n" +
			"configuration's. Experiments that ran then run again, for the agents they had. Stored feeds stay as they are.",
		Example: "  freshet ranking revert 3 --why \"clicks went down\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if n, err := strconv.Atoi(args[0]); err == nil && n >= 0 {
					return nil
				}
			}
			return errors.New("give the number of the version to go back to; \"freshet ranking history\" lists them")
		},
	}
	r := newRankingChange(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		to, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return r.change(func(ctx context.Context, c *client.Client, was client.RankingVersion, onlyIf int) (client.RankingVersion, string, error) {
			now, err := c.RevertRanking(ctx, onlyIf, to, r.who(), *r.why)
			if errors.Is(err, client.ErrNotFound) {
				err = fmt.Errorf("there is no version %d; \"freshet ranking history\" lists them", to)
			}
			return now, followed(fmt.Sprintf("Reverted to the ranking of version %d", to), was, now), err
		})
	}
	return cmd
}

// experiment returns the index of the named experiment in the list.
func experiment(v client.RankingVersion, name string) (int, error) {
	i := slices.IndexFunc(v.Experiments, func(x client.Experiment) bool { return x.Name == name })
	if i >= 0 {
		return i, nil
	}
	if len(v.Experiments) == 0 {
		return -1, fmt.Errorf("there is no experiment %q: none is running", name)
	}
	names := make([]string, len(v.Experiments))
	for i, x := range v.Experiments {
		names[i] = x.Name
	}
	return -1, fmt.Errorf("there is no experiment %q; those that run: %s", name, strings.Join(names, ", "))
}
