package handler

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

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
