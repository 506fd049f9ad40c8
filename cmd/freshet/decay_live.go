package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/cli"
)

// rankingWait is how long a change may take; the server gives up sooner.
const rankingWait = 30 * time.Second

// historyMost is the longest history a server answers.
const historyMost = 100

// everyTwoSeconds is what a change says of when it is in force.
const everyTwoSeconds = "every server follows within two seconds"

// live is what the commands around the live ranking share.
type live struct {
	cmd    *cobra.Command
	server *string
	token  func() string
	json   *bool
	// of those that change it
	by, why *string
	onlyIf  *int
}

func newLive(cmd *cobra.Command) *live {
	return &live{cmd: cmd, server: serverFlag(cmd), token: adminTokenFlag(cmd), json: cmd.Flags().Bool("json", false, "print the version as JSON")}
}

func newLiveChange(cmd *cobra.Command) *live {
	l := newLive(cmd)
	l.by = cmd.Flags().String("by", "", "who changes it; without: the user of this shell")
	l.why = cmd.Flags().String("why", "", "what for; the history shows it")
	l.onlyIf = cmd.Flags().Int("if-version", client.AnyVersion, "change it only if this version is in force; -1: the one this command reads")
	return l
}

// call runs what a command does with a client.
func (l *live) call(do func(ctx context.Context, c *client.Client) error) error {
	c, err := connect(l.cmd, *l.server, client.WithToken(l.token()))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(l.cmd.Context(), rankingWait)
	defer cancel()
	return do(ctx, c)
}

func (l *live) who() string { return cmp.Or(*l.by, os.Getenv("USER"), "admin") }

// errNoChange says that the ranking is as it shall be.
var errNoChange = errors.New("no change")

// change reads the ranking, has it changed and puts it back, if nobody else has
// changed it meanwhile.
func (l *live) change(edit func(v client.RankingVersion) (client.RankingChange, error)) error {
	return l.call(func(ctx context.Context, c *client.Client) error {
		was, err := c.Ranking(ctx)
		if err != nil {
			return err
		}
		onlyIf := was.Version
		if *l.onlyIf != client.AnyVersion {
			onlyIf = *l.onlyIf // which the server checks, and explains
		}
		change, err := edit(was)
		if errors.Is(err, errNoChange) && onlyIf == was.Version {
			return l.print(was, fmt.Sprintf("Nothing to change: version %d is like this already.", was.Version))
		}
		if err != nil && !errors.Is(err, errNoChange) {
			return err
		}
		change.By, change.Why = l.who(), cmp.Or(*l.why, change.Why)
		now, err := c.PutRanking(ctx, onlyIf, change)
		if err != nil {
			return err
		}
		return l.print(now, fmt.Sprintf("Changed: %s; %s.", cli.RankingChange(was, now), everyTwoSeconds))
	})
}

func (l *live) print(now client.RankingVersion, said string) error {
	out := l.cmd.OutOrStdout()
	if *l.json {
		return writeJSON(out, now)
	}
	if err := cli.WriteRanking(out, now); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", said)
	return err
}

func newDecayShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the ranking in force, and its experiments",
		Args:  cobra.NoArgs,
	}
	l := newLive(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return l.call(func(ctx context.Context, c *client.Client) error {
			v, err := c.Ranking(ctx)
			if err != nil {
				return err
			}
			if *l.json {
				return writeJSON(cmd.OutOrStdout(), v)
			}
			return cli.WriteRanking(cmd.OutOrStdout(), v)
		})
	}
	return cmd
}

func newDecayHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show who changed the ranking, when, what and why",
		Args:  cobra.NoArgs,
	}
	l := newLive(cmd)
	limit := cmd.Flags().Int("limit", 20, fmt.Sprintf("how many versions, newest first, 1 to %d", historyMost))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *limit < 1 || *limit > historyMost {
			return &usageError{cmd.CommandPath(), fmt.Errorf("--limit must be 1 to %d, not %d", historyMost, *limit)}
		}
		return l.call(func(ctx context.Context, c *client.Client) error {
			// One more, to tell what the oldest one has changed.
			list, err := c.RankingHistory(ctx, min(*limit+1, historyMost))
			if err != nil {
				return err
			}
			if *l.json {
				return writeJSON(cmd.OutOrStdout(), list[:min(*limit, len(list))])
			}
			return cli.WriteHistory(cmd.OutOrStdout(), list, *limit)
		})
	}
	return cmd
}

func newDecayRevertCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revert VERSION",
		Short: "Go back to an older ranking, its experiments included",
		Long: "Makes a new version that is what VERSION was; \"freshet decay history\" lists them, and 0 is the\n" +
			"configuration's. Experiments that ran then run again, for the agents they had.",
		Example: "  freshet decay revert 3 --why \"clicks went down\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if n, err := strconv.Atoi(args[0]); err == nil && n >= 0 {
					return nil
				}
			}
			return errors.New("give the number of the version to go back to; \"freshet decay history\" lists them")
		},
	}
	l := newLiveChange(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		to, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return l.call(func(ctx context.Context, c *client.Client) error {
			was, err := c.Ranking(ctx)
			if err != nil {
				return err
			}
			onlyIf := was.Version
			if *l.onlyIf != client.AnyVersion {
				onlyIf = *l.onlyIf
			}
			now, err := c.RevertRanking(ctx, onlyIf, to, l.who(), *l.why)
			if errors.Is(err, client.ErrNotFound) {
				return fmt.Errorf("there is no version %d; \"freshet decay history\" lists them", to)
			}
			if err != nil {
				return err
			}
			return l.print(now, fmt.Sprintf("Back to what version %d was: %s; %s.", to, cli.RankingChange(was, now), everyTwoSeconds))
		})
	}
	return cmd
}

// experiment is where the experiment of a name stands in the list.
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
