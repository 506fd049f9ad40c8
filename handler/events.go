package handler

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// eventsBody is one event, or a list in the field events.
type eventsBody struct {
	api.Event
	Events []api.Event `json:"events"`
}

// postEvents answers POST /v1/events.
func (s *server) postEvents(ctx context.Context, _ *call, agent string, in *eventsBody) (any, error) {
	acts, err := in.acts()
	if err != nil {
		return nil, err
	}
	return s.deps.Engine.React(ctx, agent, acts)
}

func (b *eventsBody) acts() ([]engine.Act, error) {
	if b.Events == nil {
		act, err := actOf(b.Event)
		return []engine.Act{act}, err
	}
	if b.Event != (api.Event{}) {
		return nil, fmt.Errorf("%w: send one event as type and id, or several in events, not both", feed.ErrInvalid)
	}
	if len(b.Events) == 0 || len(b.Events) > MaxEvents {
		return nil, fmt.Errorf("%w: events must contain 1 to %d events, not %d", feed.ErrInvalid, MaxEvents, len(b.Events))
	}
	acts := make([]engine.Act, len(b.Events))
	for i, event := range b.Events {
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

// impressionsBody is the body of POST /v1/impressions.
type impressionsBody struct {
	IDs []string `json:"ids"`
}

func (b *impressionsBody) check() error {
	if len(b.IDs) == 0 || len(b.IDs) > MaxImpressions {
		return fmt.Errorf("%w: ids must contain 1 to %d items, not %d", feed.ErrInvalid, MaxImpressions, len(b.IDs))
	}
	for i, id := range b.IDs {
		if err := feed.CheckItemID(id); err != nil {
			return fmt.Errorf("ids[%d]: %w", i, err)
		}
	}
	return nil
}

// recorded is the data of POST /v1/impressions.
type recorded struct {
	Recorded int `json:"recorded"`
}

// postImpressions answers POST /v1/impressions.
func (s *server) postImpressions(ctx context.Context, _ *call, agent string, in *impressionsBody) (any, error) {
	return recorded{len(in.IDs)}, s.deps.Engine.Seen(ctx, agent, in.IDs)
}
