package handler

import (
	"context"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/popularity"
)

// Overview reads what the servers did lately. Its method is that of [overview.Keeper].
type Overview interface {
	Overview(ctx context.Context) (api.Overview, error)
}

// readersQuery are the parameters of GET /v1/readers.
type readersQuery struct {
	Item queryText `json:"item"`
}

func (q *readersQuery) check() error { return feed.CheckItemID(string(q.Item)) }

// getReaders answers GET /v1/readers.
func (s *server) getReaders(ctx context.Context, _ *call, _ string, q *readersQuery) (any, error) {
	found := api.ItemReaders{Days: popularity.RememberDays}
	if s.deps.Readers == nil {
		return found, ctx.Err()
	}
	n, err := s.deps.Readers.Readers(ctx, string(q.Item))
	found.Acted = &n
	return found, err
}

// getOverview answers GET /v1/overview.
func (s *server) getOverview(ctx context.Context, _ *call, _ string) (any, error) {
	return s.deps.Overview.Overview(ctx)
}
