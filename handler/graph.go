package handler

import (
	"context"
	"io"
	"net/http"

	"github.com/freshet/freshet/feed/api"
)

// Graph takes the events of other systems. [graph.Applier] implements it.
type Graph interface {
	// Read applies the events of a stream, NDJSON with one event a line. A bad event
	// is rejected and the rest goes on. The report is valid beside an error, too, and
	// counts what was applied before it. Errors wrap [feed.ErrInvalid],
	// [social.ErrUnavailable], or what r returned. The same stream may be read again.
	Read(ctx context.Context, r io.Reader) (api.Upload, error)
}

func (s *server) graphRoutes(route router) {
	route(http.MethodPost, "/v1/graph/events", s.admin(s.postGraphEvents))
}

// postGraphEvents answers POST /v1/graph/events.
func (s *server) postGraphEvents(c *call) error {
	return s.upload(c, s.deps.Social.Graph.Read)
}
