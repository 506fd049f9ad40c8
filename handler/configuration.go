package handler

import (
	"context"
	"net/http"

	"github.com/freshet/freshet/feed/api"
)

// Settings compares the configuration in force with the one in the server's file and environment, and
// reloads it. Errors are of the kind [feed.ErrRule] if the loaded one cannot be used.
type Settings interface {
	Diff() ([]api.ConfigChange, error)
	Reload(ctx context.Context, by string) ([]api.ConfigChange, error)
}

func (s *server) configurationRoutes(route router) {
	route(http.MethodGet, "/v1/config/diff", s.admin(serve(s.gated, nobody, s.getConfigDiff)))
	route(http.MethodPost, "/v1/config/reload", s.admin(serve(s.gated, nobody, s.postConfigReload)))
}

// getConfigDiff answers GET /v1/config/diff with what a reload would change.
func (s *server) getConfigDiff(context.Context, *call, string) (any, error) {
	changes, err := s.deps.Settings.Diff()
	return api.ConfigChanges{Changes: changes}, err
}

// postConfigReload answers POST /v1/config/reload with what has changed, and what needs a restart.
func (s *server) postConfigReload(ctx context.Context, c *call, _ string) (any, error) {
	changes, err := s.deps.Settings.Reload(ctx, "request "+c.id)
	return api.ConfigChanges{Changes: changes}, err
}
