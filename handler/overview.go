package handler

import (
	"context"

	"github.com/freshet/freshet/feed/api"
)

// Overview reads what the servers did lately. Its method is that of [overview.Keeper].
type Overview interface {
	Overview(ctx context.Context) (api.Overview, error)
}

// getOverview answers GET /v1/overview.
func (s *server) getOverview(ctx context.Context, _ *call, _ string) (any, error) {
	return s.deps.Overview.Overview(ctx)
}
