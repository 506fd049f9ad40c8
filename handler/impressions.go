package handler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/feed"
)

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
	body, err := c.readBody(MaxImpressionsBody)
	if err != nil {
		return err
	}
	ids, err := decodeImpressions(body)
	if err != nil {
		return err
	}
	err = s.work(c, func(ctx context.Context) error { return s.deps.Feed.Seen(ctx, agent, ids) })
	if err != nil {
		return err
	}
	return c.succeed(recorded{Recorded: len(ids)})
}

func decodeImpressions(body []byte) ([]string, error) {
	object, err := openObject(body)
	if err != nil {
		return nil, err
	}
	var list []byte
	for {
		name, value, ok := object.next()
		if !ok {
			break
		}
		if string(name) != "ids" {
			return nil, unknownField(name, "ids")
		}
		if list != nil {
			return nil, repeatedField("ids")
		}
		list = value
	}
	// A pointer tells null from the empty string, which is a bad id instead.
	var ids []*string
	if list == nil || json.Unmarshal(list, &ids) != nil {
		return nil, fmt.Errorf("%w: ids must be a list of strings", errBadRequest)
	}
	if len(ids) == 0 || len(ids) > MaxImpressions {
		return nil, fmt.Errorf("%w: ids must list 1 to %d items, this one lists %d", errBadRequest, MaxImpressions, len(ids))
	}
	out := make([]string, len(ids))
	for i, id := range ids {
		if id == nil {
			return nil, fmt.Errorf("%w: ids must be a list of strings, entry %d is null", errBadRequest, i+1)
		}
		if err := feed.CheckItemID(*id); err != nil {
			return nil, fmt.Errorf("ids, entry %d: %w", i+1, err)
		}
		out[i] = *id
	}
	return out, nil
}
