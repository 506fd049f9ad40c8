package handler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// replayCall is the body of POST /v1/replay.
type replayCall struct {
	clicks   []offline.Click
	rankings []json.RawMessage
	depth    int
}

// replayed is the data of its answer.
type replayed struct {
	Rankings []feed.Ranking    `json:"rankings"`
	Depth    int               `json:"depth"` // how far was ranked
	Outcomes []offline.Outcome `json:"outcomes"`
}

// postReplay answers POST /v1/replay: where rankings would have placed items
// that were clicked.
func (s *server) postReplay(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	body, err := c.readBody(MaxReplayBody)
	if err != nil {
		return err
	}
	ask, err := decodeReplay(body)
	if err != nil {
		return err
	}
	out := replayed{Depth: ask.depth, Rankings: make([]feed.Ranking, len(ask.rankings))}
	err = s.offlineWork(c, func(ctx context.Context) error {
		base := s.deps.Rankings.Current(ctx).Live.Ranking
		var err error
		for i, changes := range ask.rankings {
			if out.Rankings[i], err = changedRanking(base, fmt.Sprintf("rankings, entry %d", i+1), changes); err != nil {
				return err
			}
		}
		out.Outcomes, err = offline.Replay(ctx, s.deps.Offline, ask.clicks, ask.depth, out.Rankings)
		return err
	})
	if err != nil {
		return err
	}
	return c.succeed(out)
}

func decodeReplay(body []byte) (replayCall, error) {
	ask := replayCall{depth: offline.DefaultDepth}
	err := eachField(body, func(name string, value []byte) (err error) {
		switch name {
		case "clicks":
			ask.clicks, err = decodeClicks(value)
		case "rankings":
			ask.rankings, err = strictly[[]json.RawMessage](name, value, "a list of changes to the live ranking")
		case "depth":
			ask.depth, err = strictly[int](name, value, "a whole number")
		default:
			return unknownField([]byte(name), "clicks, rankings, depth")
		}
		return err
	})
	if err != nil {
		return ask, err
	}
	if ask.depth < 1 || ask.depth > maxDepth {
		return ask, fmt.Errorf("%w: depth must be 1 to %d, not %d", errBadRequest, maxDepth, ask.depth)
	}
	return ask, nil
}

func decodeClicks(value []byte) ([]offline.Click, error) {
	type entry struct {
		Agent string          `json:"agent_id"`
		ID    string          `json:"id"`
		At    json.RawMessage `json:"at"`
	}
	entries, err := strictly[[]entry]("clicks", value, `a list of {"agent_id","id","at"}`)
	if err != nil {
		return nil, err
	}
	clicks := make([]offline.Click, len(entries))
	for i, e := range entries {
		clicks[i] = offline.Click{Agent: e.Agent, ID: e.ID}
		if e.At == nil {
			return nil, fmt.Errorf("%w: clicks, entry %d: at is missing", errBadRequest, i+1)
		}
		if clicks[i].At, err = moment(fmt.Sprintf("clicks, entry %d: at", i+1), e.At); err != nil {
			return nil, err
		}
	}
	return clicks, nil
}
