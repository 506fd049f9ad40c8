package handler

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/experiment"
)

// Largest accepted bodies of the offline routes, in bytes.
const (
	MaxCompareBody = 64 << 10
	MaxReplayBody  = 256 << 10
)

// offlineTimeout is the timeout of a comparison or replay, which sends hundreds of recall
// queries.
const offlineTimeout = 30 * time.Second

// offlineAtOnce is the number of comparisons and replays processed concurrently.
const offlineAtOnce = 4

// maxDepth is the maximum depth of a replay.
const maxDepth = 2000

// offlineWork admits a comparison or a replay. It uses a smaller gate than agents' calls, so that
// an overload can be investigated.
func (s *server) offlineWork(c *call) (context.Context, error) {
	return c.slowly(s.analyses, max(offlineTimeout, s.cfg.RequestTimeout))
}

// compareBody is the body of POST /v1/compare.
type compareBody struct {
	A      change      `json:"a"`
	B      change      `json:"b"`
	Agents []string    `json:"agents"`
	Sample *int        `json:"sample"`
	Seed   int64       `json:"seed"`
	At     feed.Moment `json:"at"`
	K      int         `json:"k"`
	Lists  bool        `json:"lists"`
}

func (b *compareBody) check() error {
	switch {
	case b.Agents == nil && b.Sample == nil:
		return fmt.Errorf("%w: agents and sample are missing; send agents (an array) or sample (a number)", feed.ErrInvalid)
	case b.Agents != nil && b.Sample != nil:
		return fmt.Errorf("%w: send either agents or sample, not both", feed.ErrInvalid)
	case b.Agents == nil && (*b.Sample < 1 || *b.Sample > offline.MaxAgents):
		return fmt.Errorf("%w: sample must be 1 to %d, not %d", feed.ErrInvalid, offline.MaxAgents, *b.Sample)
	}
	return nil
}

// postCompare answers POST /v1/compare: the difference between two rankings for some agents at
// one moment.
func (s *server) postCompare(ctx context.Context, _ *call, _ string, ask *compareBody) (any, error) {
	pair := offline.Pair{Agents: ask.Agents, At: ask.At.Time, K: ask.K, Lists: ask.Lists}
	current, err := s.deps.Rankings.Current(ctx)
	if err != nil {
		return nil, err
	}
	base := current.Live.Ranking
	var notes []string
	if pair.A, err = ask.A.apply(base, "a", &notes); err != nil {
		return nil, err
	}
	if pair.B, err = ask.B.apply(base, "b", &notes); err != nil {
		return nil, err
	}
	if pair.At.IsZero() {
		pair.At = s.cfg.Clock()
	}
	if pair.Agents == nil {
		if pair.Agents, err = s.draw(ctx, ask); err != nil {
			return nil, err
		}
	}
	found, err := offline.Compare(ctx, s.deps.Offline, pair)
	found.Notes = notes
	return found, err
}

// draw returns the random sample of agents that the request asks for.
func (s *server) draw(ctx context.Context, ask *compareBody) ([]string, error) {
	agents, err := s.deps.Offline.Agents(ctx, *ask.Sample, ask.Seed)
	if err == nil && len(agents) == 0 {
		err = fmt.Errorf("%w: no agents to sample, because none has a profile; send agents instead", feed.ErrInvalid)
	}
	return agents, err
}

// replayBody is the body of POST /v1/replay.
type replayBody struct {
	Clicks   []offline.Click `json:"clicks"`
	Rankings []change        `json:"rankings"`
	Depth    int             `json:"depth"`
}

func (b *replayBody) check() error {
	if b.Depth < 1 || b.Depth > maxDepth {
		return fmt.Errorf("%w: depth must be 1 to %d, not %d", feed.ErrInvalid, maxDepth, b.Depth)
	}
	for i, click := range b.Clicks {
		if click.At.IsZero() {
			return fmt.Errorf("%w: clicks[%d].at is missing", feed.ErrInvalid, i)
		}
	}
	return nil
}

// postReplay answers POST /v1/replay: the positions that rankings would have given to clicked
// items.
func (s *server) postReplay(ctx context.Context, _ *call, _ string, ask *replayBody) (any, error) {
	current, err := s.deps.Rankings.Current(ctx)
	if err != nil {
		return nil, err
	}
	var notes []string
	rankings := make([]feed.Ranking, len(ask.Rankings))
	for i, change := range ask.Rankings {
		if rankings[i], err = change.apply(current.Live.Ranking, fmt.Sprintf("rankings[%d]", i), &notes); err != nil {
			return nil, err
		}
	}
	found, err := offline.Replay(ctx, s.deps.Offline, ask.Clicks, ask.Depth, rankings)
	found.Notes = notes
	return found, err
}

// Counts reads the counts of the ranking's variants. The methods are those of [events.Store].
type Counts interface {
	Read(ctx context.Context, from, to feed.Day) ([]events.Totals, error)
	Cells(ctx context.Context, runs []string, columns []events.Column, from, to feed.Day) ([]events.DayCells, error)
	Readers(ctx context.Context, runs []string) (n []int64, part float64, err error)
}

// reportDays is the default of days: a week, so that every weekday has the same weight.
const reportDays = 7

// reportEffect is the default of effect.
const reportEffect = 0.1

// reportQuery are the parameters of GET /v1/ranking/report.
type reportQuery struct {
	Days   int     `json:"days"`
	Effect float64 `json:"effect"`
}

func (q *reportQuery) check() error {
	if q.Days < 1 || q.Days > experiment.MaxReportDays {
		return fmt.Errorf("%w: days must be 1 to %d, not %d", feed.ErrInvalid, experiment.MaxReportDays, q.Days)
	}
	if !(q.Effect >= 0.001 && q.Effect <= 10) {
		return fmt.Errorf("%w: effect must be 0.001 to 10, not %v", feed.ErrInvalid, q.Effect)
	}
	return nil
}

// getReport answers GET /v1/ranking/report.
func (s *server) getReport(ctx context.Context, _ *call, _ string, ask *reportQuery) (any, error) {
	to := feed.DayOf(s.cfg.Clock())
	from := to - feed.Day(ask.Days) + 1
	counted, err := s.deps.Counts.Read(ctx, from, to)
	if err != nil {
		return nil, err
	}
	current, err := s.deps.Rankings.Current(ctx)
	if err != nil {
		return nil, err
	}
	counts := experiment.Counts{
		Live: &current.Live, Totals: counted, From: from, To: to, Effect: ask.Effect,
		Cells: func(runs []string, columns []events.Column, from, to feed.Day) ([]events.DayCells, error) {
			return s.deps.Counts.Cells(ctx, runs, columns, from, to)
		},
		Readers: func(runs []string) ([]int64, float64, error) { return s.deps.Counts.Readers(ctx, runs) },
		Began: func(version int) (*feed.Live, error) {
			v, err := s.deps.Rankings.At(ctx, version)
			return &v.Live, err
		},
	}
	return counts.Report()
}
