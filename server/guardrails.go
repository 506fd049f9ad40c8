package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/experiment"
)

// guardEvery is how often the limits of experiments are checked: a broken one ends its experiment
// within a minute.
const guardEvery = 20 * time.Second

var experimentsEnded = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "freshet_experiments_ended_total", Help: "Experiments that this server has ended because they broke a limit.",
}, []string{"limit"})

// guardrails ends experiments that break one of their limits.
type guardrails struct {
	live   *ranking.Live
	counts events.Store
	clock  feed.Clock
	log    *slog.Logger

	runs []string
	upTo feed.Day // past holds the days before
	past map[string]events.Cells
}

// run checks the limits until ctx ends.
func (g *guardrails) run(ctx context.Context) {
	for _, l := range (feed.Limits{}).Each() {
		experimentsEnded.WithLabelValues(l.Name).Add(0) // an alert needs the counter from before
	}
	failing := periodic.Failing{Fails: "the limits of experiments cannot be checked", Again: "the limits of experiments are checked again"}
	for range periodic.Every(ctx, guardEvery) {
		failing.Tell(ctx, g.log, g.check(ctx))
	}
}

// check ends the experiments that have broken a limit.
func (g *guardrails) check(ctx context.Context) error {
	v := g.live.InForce()
	runs, columns := experiment.Guarded(&v.Live)
	if runs == nil {
		return nil
	}
	cells, err := g.cells(ctx, runs, columns)
	if err != nil {
		return err
	}
	n, part, err := g.counts.Readers(ctx, runs)
	if err != nil {
		return err
	}
	readers := map[string]int64{}
	for i, run := range runs {
		readers[run] = int64(float64(n[i]) / part)
	}
	breaches := experiment.Breaches(&v.Live, cells, readers)
	if len(breaches) == 0 {
		return nil
	}
	return g.end(ctx, v, breaches)
}

// cells returns the counts of runs over all their days. Those of earlier days do not change any more, and
// are read once.
func (g *guardrails) cells(ctx context.Context, runs []string, columns []events.Column) (map[string]events.Cells, error) {
	recent := feed.DayOf(g.clock()) - 1 // a server may write the counts of a day late
	if g.upTo != recent || !slices.Equal(g.runs, runs) {
		days, err := g.counts.Cells(ctx, runs, columns, recent-events.KeepDays, recent-1)
		if err != nil {
			return nil, err
		}
		g.runs, g.upTo, g.past = runs, recent, sumsOf(days)
	}
	days, err := g.counts.Cells(ctx, runs, columns, recent, recent+1)
	if err != nil {
		return nil, err
	}
	sums := sumsOf(days)
	for run, past := range g.past {
		if sums[run] == nil {
			sums[run] = events.Cells{}
		}
		sums[run].Merge(past)
	}
	return sums, nil
}

// sumsOf adds the days of each run.
func sumsOf(days []events.DayCells) map[string]events.Cells {
	sums := map[string]events.Cells{}
	for _, day := range days {
		if sums[day.Run] == nil {
			sums[day.Run] = events.Cells{}
		}
		sums[day.Run].Merge(day.Cells)
	}
	return sums
}

// end ends the experiments of breaches, all at once, since others are then judged by the run that begins. It
// does not if the ranking has changed meanwhile: another server may have ended them.
func (g *guardrails) end(ctx context.Context, v ranking.Version, breaches []experiment.Breach) error {
	first := map[string]experiment.Breach{}
	left, why := []ranking.Experiment{}, []string{}
	for _, b := range breaches {
		if _, again := first[b.Variant]; !again {
			first[b.Variant] = b
			why = append(why, "end "+b.Variant+": "+b.String())
		}
	}
	for _, x := range v.Live.Variants {
		if _, ends := first[x.Name]; !ends {
			left = append(left, ranking.Experiment{Name: x.Name, Share: x.Share})
		}
	}
	_, err := g.live.Change(ctx, ranking.Change{Experiments: left, By: "guardrail", Why: shortened(strings.Join(why, "; ")), If: &v.Version})
	if errors.Is(err, feed.ErrChanged) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, b := range first {
		experimentsEnded.WithLabelValues(b.Limit.Name).Inc()
		g.log.WarnContext(ctx, "an experiment broke one of its limits and was ended; its readers have the live ranking",
			"experiment", b.Variant, "limit", b.Limit.Name, "reason", b.String(), "readers", b.Readers, "control", b.Other)
	}
	return nil
}

// shortened returns a reason as the history can store it; the log has the rest.
func shortened(why string) string {
	if len(why) <= ranking.MaxWhy {
		return why
	}
	return why[:ranking.MaxWhy-3] + "..."
}
