package handler

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// Reactions counts what readers do with items. The method is that of [engine.Engine].
type Reactions interface {
	React(ctx context.Context, agent string, acts []engine.Act) (api.EventsTaken, error)
}

// postEvents answers POST /v1/events.
func (s *server) postEvents(c *call) error {
	agent, err := s.caller(c)
	if err != nil {
		return err
	}
	acts, err := c.readEvents()
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) { return s.deps.Reactions.React(ctx, agent, acts) })
}

// readEvents reads one event, or a list of them under the name events.
func (c *call) readEvents() ([]engine.Act, error) {
	var in struct {
		api.Event
		Events []api.Event `json:"events"`
	}
	if err := c.readJSON(MaxEventsBody, &in); err != nil {
		return nil, err
	}
	if in.Events == nil {
		act, err := actOf(in.Event)
		return []engine.Act{act}, err
	}
	if in.Event != (api.Event{}) {
		return nil, fmt.Errorf("%w: send one event as type and id, or several in events, not both", feed.ErrInvalid)
	}
	if len(in.Events) == 0 || len(in.Events) > MaxEvents {
		return nil, fmt.Errorf("%w: events must list 1 to %d of them, this one lists %d", feed.ErrInvalid, MaxEvents, len(in.Events))
	}
	acts := make([]engine.Act, len(in.Events))
	for i, event := range in.Events {
		var err error
		if acts[i], err = actOf(event); err != nil {
			return nil, fmt.Errorf("events[%d]: %w", i, err)
		}
	}
	return acts, nil
}

func actOf(e api.Event) (engine.Act, error) {
	kind, err := events.ParseKind(e.Type)
	if err == nil {
		err = feed.CheckItemID(e.ID)
	}
	return engine.Act{Kind: kind, ID: e.ID}, err
}

// recorded is the data of POST /v1/impressions.
type recorded struct {
	Recorded int `json:"recorded"`
}

// postImpressions answers POST /v1/impressions.
func (s *server) postImpressions(c *call) error {
	agent, err := s.caller(c)
	if err != nil {
		return err
	}
	ids, err := c.readImpressions()
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		return recorded{Recorded: len(ids)}, s.deps.Feed.Seen(ctx, agent, ids)
	})
}

func (c *call) readImpressions() ([]string, error) {
	var in struct {
		IDs []string `json:"ids"`
	}
	if err := c.readJSON(MaxImpressionsBody, &in); err != nil {
		return nil, err
	}
	if len(in.IDs) == 0 || len(in.IDs) > MaxImpressions {
		return nil, fmt.Errorf("%w: ids must list 1 to %d items, this one lists %d", feed.ErrInvalid, MaxImpressions, len(in.IDs))
	}
	for i, id := range in.IDs {
		if err := feed.CheckItemID(id); err != nil {
			return nil, fmt.Errorf("ids[%d]: %w", i, err)
		}
	}
	return in.IDs, nil
}
