package handler

import (
	"context"
	"net/http"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/social"
)

func (s *server) timelineRoutes(route router) {
	route(http.MethodGet, "/v1/timeline", s.getTimeline)
	route(http.MethodPost, "/v1/timeline/warm", s.of(s.member, s.deps.Social.Timelines.Warm))
	route(http.MethodGet, streamPath, s.getStream)
}

// getTimeline answers GET /v1/timeline.
func (s *server) getTimeline(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	if err := s.auth.checkShown(c.gin.Request); err != nil {
		return err
	}
	below, limit, err := c.readPage()
	if err != nil {
		return err
	}
	page, err := result(c, s.work, func(ctx context.Context) (engine.TimelinePage, error) {
		return s.deps.Social.Timelines.Timeline(ctx, engine.TimelineRequest{Agent: agent, Below: below, Limit: limit})
	})
	if err != nil {
		return err
	}
	c.sendPage(&entryPage{reader: agent, source: social.FromFollowing, TimelinePage: page})
	return nil
}
