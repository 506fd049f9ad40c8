package handler

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
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
