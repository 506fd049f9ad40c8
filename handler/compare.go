package handler

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// Largest accepted bodies of the routes that measure rankings, in bytes.
const (
	MaxCompareBody = 64 << 10
	MaxReplayBody  = 256 << 10
)

// offlineTimeout is the timeout of a comparison or replay, which query recall
// hundreds of times.
const offlineTimeout = 30 * time.Second

// offlineAtOnce is how many comparisons and replays are processed at once.
const offlineAtOnce = 4

// maxDepth is how far a replay may rank.
const maxDepth = 2000

// offlineWork runs a comparison or a replay. It does not pass the gate of agents'
// calls, so that an overload can be looked into, but has a smaller one of its own.
func (s *server) offlineWork(c *call, do func(ctx context.Context) error) error {
	if err := s.analyses.enter(); err != nil {
		return err
	}
	defer s.analyses.leave()
	timeout := max(offlineTimeout, s.cfg.RequestTimeout)
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), timeout)
	defer cancel()
	extendDeadlines(c.gin.Writer, c.gin.Request, timeout)
	return do(ctx)
}

// compareBody is the body of POST /v1/compare.
type compareBody struct {
	A      change      `json:"a"`
	B      change      `json:"b"`
	Agents []string    `json:"agents"`
	Sample int         `json:"sample"`
	Seed   int64       `json:"seed"`
	At     feed.Moment `json:"at"`
	K      int         `json:"k"`
	Lists  bool        `json:"lists"`
}

// postCompare answers POST /v1/compare: how far two rankings differ for some
// agents at one moment.
func (s *server) postCompare(c *call) error {
	ask, err := c.readCompare()
	if err != nil {
		return err
	}
	return c.answer(s.offlineWork, func(ctx context.Context) (any, error) {
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
	})
}

// draw returns the sample of agents that the body asks for.
func (s *server) draw(ctx context.Context, ask compareBody) ([]string, error) {
	agents, err := s.deps.Offline.Agents(ctx, ask.Sample, ask.Seed)
	if err == nil && len(agents) == 0 {
		err = fmt.Errorf("%w: there are no agents to draw from, because none has a profile; name them in agents", feed.ErrInvalid)
	}
	return agents, err
}

func (c *call) readCompare() (compareBody, error) {
	in := compareBody{K: offline.DefaultK}
	if err := c.readJSON(MaxCompareBody, &in); err != nil {
		return in, err
	}
	switch {
	case in.Agents == nil && in.Sample == 0:
		return in, fmt.Errorf("%w: say for whom to compare: agents (an array) or sample (a number)", feed.ErrInvalid)
	case in.Agents != nil && in.Sample != 0:
		return in, fmt.Errorf("%w: give agents or sample, not both", feed.ErrInvalid)
	case in.Agents == nil && (in.Sample < 1 || in.Sample > offline.MaxAgents):
		return in, fmt.Errorf("%w: sample must be 1 to %d, not %d", feed.ErrInvalid, offline.MaxAgents, in.Sample)
	}
	return in, nil
}

// replayBody is the body of POST /v1/replay.
type replayBody struct {
	Clicks   []clickBody `json:"clicks"`
	Rankings []change    `json:"rankings"`
	Depth    int         `json:"depth"`
}

type clickBody struct {
	Agent string      `json:"agent_id"`
	ID    string      `json:"id"`
	At    feed.Moment `json:"at"`
}

// replayed is the data of its answer.
type replayed struct {
	Rankings []feed.Ranking    `json:"rankings"`
	Notes    []string          `json:"notes,omitempty"` // what the changes did beside what they say
	Depth    int               `json:"depth"`           // how many items were ranked
	Outcomes []offline.Outcome `json:"outcomes"`
}

// postReplay answers POST /v1/replay: where rankings would have placed items
// that were clicked.
func (s *server) postReplay(c *call) error {
	ask, err := c.readReplay()
	if err != nil {
		return err
	}
	clicks := make([]offline.Click, len(ask.Clicks))
	for i, click := range ask.Clicks {
		clicks[i] = offline.Click{Agent: click.Agent, ID: click.ID, At: click.At.Time}
	}
	return c.answer(s.offlineWork, func(ctx context.Context) (any, error) {
		out := replayed{Depth: ask.Depth, Rankings: make([]feed.Ranking, len(ask.Rankings))}
		current, err := s.deps.Rankings.Current(ctx)
		if err != nil {
			return nil, err
		}
		for i, change := range ask.Rankings {
			if out.Rankings[i], err = change.apply(current.Live.Ranking, fmt.Sprintf("rankings[%d]", i), &out.Notes); err != nil {
				return nil, err
			}
		}
		out.Outcomes, err = offline.Replay(ctx, s.deps.Offline, clicks, ask.Depth, out.Rankings)
		return out, err
	})
}

func (c *call) readReplay() (replayBody, error) {
	in := replayBody{Depth: offline.DefaultDepth}
	if err := c.readJSON(MaxReplayBody, &in); err != nil {
		return in, err
	}
	if in.Depth < 1 || in.Depth > maxDepth {
		return in, fmt.Errorf("%w: depth must be 1 to %d, not %d", feed.ErrInvalid, maxDepth, in.Depth)
	}
	for i, click := range in.Clicks {
		if click.At.IsZero() {
			return in, fmt.Errorf("%w: clicks[%d].at is missing", feed.ErrInvalid, i)
		}
	}
	return in, nil
}

// Counts reads the counts of the ranking's variants. The method is that of [events.Store].
type Counts interface {
	Read(ctx context.Context, from, to feed.Day) ([]events.Totals, error)
}

// reportDays is the default of days: a week, so that each day of the week weighs
// the same.
const reportDays = 7

// getReport answers GET /v1/ranking/report.
func (s *server) getReport(c *call) error {
	ask := struct {
		Days int `json:"days"`
	}{reportDays}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	if ask.Days < 1 || ask.Days > events.MaxReportDays {
		return fmt.Errorf("%w: days must be 1 to %d, not %d", feed.ErrInvalid, events.MaxReportDays, ask.Days)
	}
	to := feed.DayOf(s.cfg.Clock())
	from := to - feed.Day(ask.Days) + 1
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		counted, err := s.deps.Counts.Read(ctx, from, to)
		if err != nil {
			return nil, err
		}
		current, err := s.deps.Rankings.Current(ctx)
		return events.NewReport(&current.Live, counted, from, to), err
	})
}
