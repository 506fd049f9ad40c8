package handler

import (
	"context"
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
