package handler

import (
	"context"
	"net/http"
	"strings"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/social"
)

func (s *server) timelineRoutes(route router) {
	route(http.MethodGet, "/v1/timeline", "/v1/timeline", s.getTimeline)
	route(http.MethodPost, "/v1/timeline/warm", "/v1/timeline/warm", s.warmTimeline)
	route(http.MethodGet, streamPath, streamPath, s.getStream)
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
	var page engine.TimelinePage
	err = s.work(c, func(ctx context.Context) (err error) {
		page, err = s.deps.Social.Timelines.Timeline(ctx, engine.TimelineRequest{Agent: agent, Below: below, Limit: limit})
		return err
	})
	if err != nil {
		return err
	}
	c.lacks = strings.Join(page.Degraded, ",")
	c.sendPage(&entryPage{
		reader: agent, source: social.FromFollowing, cards: page.Posts, next: page.Next, more: page.HasMore, degraded: page.Degraded,
	})
	return nil
}

// warmTimeline answers POST /v1/timeline/warm.
func (s *server) warmTimeline(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	if err := s.work(c, func(ctx context.Context) error { return s.deps.Social.Timelines.Warm(ctx, agent) }); err != nil {
		return err
	}
	return c.succeed(empty{})
}
