package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/feed"
)

// parametersHelp lists the parameters with their effect, bounds and default.
func parametersHelp() string {
	var text strings.Builder
	for i := range feed.Parameters {
		p := &feed.Parameters[i]
		fmt.Fprintf(&text, "  %-18s %s (%s; default %s)\n", p.Name, p.Help, p.Bounds(), p.Text(p.Default))
	}
	return strings.TrimRight(text.String(), "\n")
}

func newRankingSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set CHANGES",
		Short: "Change the live ranking, or begin an experiment",
		Long: "Changes the parameters that are named and leaves the others.\n" +
			"With --as they become an experiment for a share of the agents; the same agents stay in it as its share grows.\n" +
			"Its parameters are fixed while it runs, because its counts belong to them. No server is restarted.\n\n" +
			"curves is a JSON array of up to 4 curves that are added, or a preset: single (scale=24h,offset=1h,decay=0.5)\n" +
			"or two (a fast and a slow curve). scale, offset and decay replace curves by one Gaussian.\n\n" +
			"Parameters:\n" + parametersHelp(),
		Example: "  freshet ranking set scale=48h,weight=0.2 --why \"weekend readers want more\"\n" +
			"  freshet ranking set curves=two --as two --share 10%\n" +
			"  freshet ranking set 'curves=[{\"shape\":\"exp\",\"scale\":\"12m\",\"weight\":0.6},{\"shape\":\"exp\",\"scale\":\"120h\",\"weight\":0.4}]'\n" +
			"  freshet ranking set scale=72h --as slow --share 10%\n" +
			"  freshet ranking set --as slow --share 25%",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("write the changes as one word, with commas and without spaces, not %q", args)
			}
			return nil
		},
	}
	r := newRankingChange(cmd)
	as := cmd.Flags().String("as", "", "name of the experiment, of a-z 0-9 _ -")
	share := cmd.Flags().String("share", "", "its share of all agents, such as 10% or 0.1; default: its current share")
	limits := cmd.Flags().String("limits", "", "guardrails that end it: by how much more than control's its hides and dislikes, short pages or latency may be, such as rejects=10%,short=10%,latency=20%, or none; default: its current ones")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		s := wantedSetting{as: *as}
		if len(args) == 1 {
			s.changes = args[0]
		}
		if err := s.check(*share, *limits); err != nil {
			return r.usage(err)
		}
		return r.put(s.apply)
	}
	return cmd
}

type wantedSetting struct {
	changes string
	as      string
	share   *float64 // nil leaves it unchanged
	limits  *feed.Limits
}

// check parses the share and the limits, and rejects invalid combinations.
func (s *wantedSetting) check(share, limits string) error {
	switch {
	case s.as == "" && limits != "":
		return errors.New("--limits requires --as with the name of the experiment")
	case s.as == "" && share != "":
		return errors.New("--share requires --as with the name of the experiment")
	case s.as == "" && s.changes == "":
		return errors.New("no changes given; give a list such as scale=48h,weight=0.2")
	case s.as == "":
		return nil
	}
	if err := feed.CheckVariantName(s.as); err != nil {
		return fmt.Errorf("--as: %w", err)
	}
	if limits != "" {
		parsed, err := feed.ParseLimits(limits)
		if err != nil {
			return fmt.Errorf("--limits: %w", err)
		}
		s.limits = &parsed
	}
	if share == "" {
		return nil
	}
	part, err := cli.ParseShare(share)
	if err != nil {
		return fmt.Errorf("--share: %w", err)
	}
	s.share = &part
	return nil
}

func (s *wantedSetting) apply(v client.RankingVersion) (client.RankingChange, error) {
	if s.as != "" {
		return s.experiment(v)
	}
	ranking, err := v.Ranking.With(s.changes)
	return client.RankingChange{Ranking: &ranking}, err
}

func (s *wantedSetting) experiment(v client.RankingVersion) (client.RankingChange, error) {
	x := client.Experiment{Name: s.as, Ranking: v.Ranking}
	at, _ := experiment(v, s.as)
	if at >= 0 {
		x = v.Experiments[at]
	} else if s.share == nil {
		return client.RankingChange{}, fmt.Errorf("there is no experiment %q yet; give its share of the agents, such as --share 10%%", s.as)
	}
	if s.share != nil {
		x.Share = *s.share
	}
	if s.limits != nil {
		x.Limits = *s.limits
	}
	var err error
	if x.Ranking, err = x.Ranking.With(s.changes); err != nil {
		return client.RankingChange{}, err
	}
	change := client.RankingChange{Experiments: slices.Clone(v.Experiments)}
	if at < 0 {
		change.Experiments = append(change.Experiments, x)
	} else {
		change.Experiments[at] = x
	}
	return change, nil
}

func newRankingPromoteCommand() *cobra.Command {
	return endExperiment("promote", "Make an experiment's ranking the live one, and end the experiment", true)
}

func newRankingDropCommand() *cobra.Command {
	return endExperiment("drop", "End an experiment; its agents get the live ranking", false)
}

// endExperiment returns a command that ends the named experiment, and may make its ranking the live
// one.
func endExperiment(name, short string, promote bool) *cobra.Command {
	cmd := &cobra.Command{Use: name + " NAME", Short: short, Args: oneExperiment}
	r := newRankingChange(cmd)
	anyway := new(bool)
	if promote {
		cmd.Long = short + ".\n" +
			"The report must call its click rate significantly better than control's. Without such a verdict, --anyway\n" +
			"promotes it, and --why must give the reason."
		anyway = cmd.Flags().Bool("anyway", false, "promote it without a verdict; requires --why")
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *anyway && *r.why == "" {
			return r.usage(errors.New("--anyway requires --why: the history should say why an experiment was promoted without a verdict"))
		}
		if promote && !*anyway {
			if err := r.do(func(ctx context.Context, c *client.Client) error { return hasWon(ctx, c, args[0]) }); err != nil {
				return err
			}
		}
		return r.put(func(v client.RankingVersion) (client.RankingChange, error) {
			at, err := experiment(v, args[0])
			if err != nil {
				return client.RankingChange{}, err
			}
			// Not nil, which would leave them unchanged.
			change := client.RankingChange{Experiments: slices.Delete(append([]client.Experiment{}, v.Experiments...), at, at+1)}
			x := v.Experiments[at]
			change.Why = "end " + x.Name
			if promote {
				change.Ranking, change.Why = &x.Ranking, "promote "+x.Name
			}
			return change, nil
		})
	}
	return cmd
}

// hasWon returns an error unless the report calls an experiment significantly better than control, or
// does not know it.
func hasWon(ctx context.Context, c *client.Client, name string) error {
	report, err := c.Report(ctx, 0)
	if err != nil {
		return err
	}
	for _, v := range report.Variants {
		d := v.Difference
		if v.Name != name || !v.Live || d == nil || d.Verdict == "significant" && d.CTR > 0 {
			continue
		}
		return fmt.Errorf("%s has not won: %s; wait for a verdict, or promote it with --anyway and --why", name, cli.Difference(d))
	}
	return nil
}

func oneExperiment(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one experiment; \"freshet ranking show\" lists them")
	}
	return nil
}
