package handler

import (
	"context"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// mutedQuery are the parameters of GET /v1/agents/{agent_id}/muted/items.
type mutedQuery struct {
	Cursor queryText `json:"cursor"`
	Limit  int       `json:"limit"`
}

func (q *mutedQuery) check() error { return feed.CheckLimit(q.Limit, engine.MaxLimit) }

// getMutedItems answers GET /v1/agents/{agent_id}/muted/items with what the agent has hidden.
func (s *server) getMutedItems(ctx context.Context, _ *call, agent string, ask *mutedQuery) (any, error) {
	page, err := s.deps.Engine.Muted(ctx, agent, string(ask.Cursor), ask.Limit)
	return mutedItems(page), err
}

type mutedItems engine.MutedPage

// send answers with the entries, those with content as every list has it.
func (p mutedItems) send(c *call) error {
	c.without(p.Degraded)
	b := append(c.out[:0], itemsHead...)
	for i := range p.Entries {
		e := &p.Entries[i]
		b = feed.AppendString(append(b, `{"id":`...), e.ID)
		if !e.Until.IsZero() {
			b = feed.AppendString(append(b, `,"until":`...), e.Until.UTC().Format(time.RFC3339Nano))
		}
		if !e.Missing() {
			b = append(append(b, `,"item":`...), e.JSON...)
		}
		b = append(b, "},"...)
	}
	b = append(endItems(b), `,"next_cursor":`...)
	if p.Next == "" {
		b = append(b, "null"...)
	} else {
		b = feed.AppendString(b, p.Next)
	}
	c.out = append(appendDegraded(b, p.Degraded), "}}"...)
	return c.sendRaw(http.StatusOK, c.out)
}
