package handler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
)

// Reactions takes what agents do with items. [engine.Engine] is one.
type Reactions interface {
	React(ctx context.Context, agent string, acts []engine.Act) (engine.Taken, error)
}

// reacted is the data of POST /v1/events.
type reacted struct {
	Accepted int `json:"accepted"`
	Unshown  int `json:"not_shown"`
}

// postEvents answers POST /v1/events.
func (s *server) postEvents(c *call) error {
	agent, err := s.caller(c)
	if err != nil {
		return err
	}
	body, err := c.readBody(MaxEventsBody)
	if err != nil {
		return err
	}
	acts, err := decodeEvents(body)
	if err != nil {
		return err
	}
	var taken engine.Taken
	err = s.work(c, func(ctx context.Context) (err error) {
		taken, err = s.deps.Reactions.React(ctx, agent, acts)
		return err
	})
	if err != nil {
		return err
	}
	return c.succeed(reacted{Accepted: taken.Accepted, Unshown: taken.Unshown})
}

// decodeEvents reads one event, or a list of them under the name events.
func decodeEvents(body []byte) ([]engine.Act, error) {
	all, err := fields(body, "type", "id", "events")
	if err != nil {
		return nil, err
	}
	raw, batched := all["events"]
	if !batched {
		act, err := decodeEvent(all)
		return []engine.Act{act}, err
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("%w: send one event as type and id, or several in events, not both", errBadRequest)
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, fmt.Errorf("%w: events must be a list of objects with type and id", errBadRequest)
	}
	if len(list) == 0 || len(list) > MaxEvents {
		return nil, fmt.Errorf("%w: events must list 1 to %d of them, this one lists %d", errBadRequest, MaxEvents, len(list))
	}
	acts := make([]engine.Act, len(list))
	for i, one := range list {
		members, err := fields(one, "type", "id")
		if err == nil {
			acts[i], err = decodeEvent(members)
		}
		if err != nil {
			return nil, fmt.Errorf("events, entry %d: %w", i+1, err)
		}
	}
	return acts, nil
}

func decodeEvent(members map[string]json.RawMessage) (engine.Act, error) {
	var texts [2]string
	for i, name := range []string{"type", "id"} {
		raw, ok := members[name]
		if !ok || !isString(raw) {
			return engine.Act{}, fmt.Errorf("%w: %s must be a string", errBadRequest, name)
		}
		texts[i] = string(unquote(raw))
	}
	kind, err := events.ParseKind(texts[0])
	if err != nil {
		return engine.Act{}, err
	}
	if err := feed.CheckItemID(texts[1]); err != nil {
		return engine.Act{}, err
	}
	return engine.Act{Kind: kind, ID: texts[1]}, nil
}
