package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

// holdout is the name of the experiment that keeps an older ranking.
const holdout = "holdout"

func newRankingHoldoutCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "holdout SHARE",
		Short: "Keep a share of the agents on the ranking of a date, whatever is promoted later",
		Long: "The experiment \"holdout\" has the ranking in force, or that of --of, and keeps it while the live ranking\n" +
			"changes. The report compares it with the live ranking: what all changes since then have gained together.\n" +
			"Its agents are in no other experiment. \"freshet ranking drop holdout\" ends it.",
		Example: "  freshet ranking holdout 2% --why \"what do the changes of 2026 gain?\"\n" +
			"  freshet ranking holdout 2% --of 2026-01-01\n" +
			"  freshet ranking holdout 5%",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give the holdout's share of all agents, such as 2%")
			}
			return nil
		},
	}
	r := newRankingChange(cmd)
	of := cmd.Flags().String("of", "", "version, date or RFC 3339 time whose ranking it keeps; a date means its start in UTC; default: the ranking in force")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		share, err := cli.ParseShare(args[0])
		if err != nil {
			return r.usage(err)
		}
		pick, err := parseMoment(*of)
		if err != nil {
			return r.usage(err)
		}
		var kept *client.RankingVersion
		if *of != "" {
			err := r.do(func(ctx context.Context, c *client.Client) error {
				list, err := c.RankingHistory(ctx, historyMost)
				if err != nil {
					return err
				}
				kept, err = pick(list)
				return err
			})
			if err != nil {
				return err
			}
		}
		return r.put(func(v client.RankingVersion) (client.RankingChange, error) { return keep(v, kept, share) })
	}
	return cmd
}

// keep returns the change that gives the holdout a share, and the ranking of a version; nil keeps
// the holdout's, or begins one with the ranking in force.
func keep(v client.RankingVersion, kept *client.RankingVersion, share float64) (client.RankingChange, error) {
	change := client.RankingChange{Experiments: slices.Clone(v.Experiments)}
	at, _ := experiment(v, holdout)
	if at >= 0 {
		x := &change.Experiments[at]
		if kept != nil && kept.Ranking != x.Ranking {
			return change, fmt.Errorf("the holdout that runs has another ranking than version %d: end it with \"freshet ranking drop %s\" first", kept.Version, holdout)
		}
		x.Share = share
		return change, nil
	}
	if kept == nil {
		kept = &v
	}
	change.Experiments = append(change.Experiments, client.Experiment{Name: holdout, Share: share, Ranking: kept.Ranking})
	change.Why = fmt.Sprintf("keep the ranking of version %d", kept.Version)
	return change, nil
}

// parseMoment parses a version, a date or a time, and returns how to find the version that it means
// in a history, newest first.
func parseMoment(text string) (pick func([]client.RankingVersion) (*client.RankingVersion, error), err error) {
	version, notNumber := strconv.Atoi(text)
	at, notTime := time.Parse(time.RFC3339, text)
	if notTime != nil {
		at, notTime = time.Parse(time.DateOnly, text)
	}
	if text != "" && notNumber != nil && notTime != nil {
		return nil, fmt.Errorf("--of must be a version, a date such as 2026-01-31 or a time such as 2026-01-31T08:00:00Z, not %q", text)
	}
	return func(list []client.RankingVersion) (*client.RankingVersion, error) {
		i := slices.IndexFunc(list, func(v client.RankingVersion) bool {
			if notNumber == nil {
				return v.Version == version
			}
			return !v.At.After(at) // version 0 has no date: it was in force before all others
		})
		if i < 0 {
			return nil, fmt.Errorf("the newest %d versions have none of %s; \"freshet ranking history --limit %d\" lists them", len(list), text, historyMost)
		}
		return &list[i], nil
	}, nil
}
