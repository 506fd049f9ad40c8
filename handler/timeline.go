package handler

import (
	"context"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
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

// getReplies answers GET /v1/posts/{id}/replies.
func (s *server) getReplies(c *call) error {
	reader, err := s.reader(c)
	if err != nil {
		return err
	}
	id := c.gin.Param("id")
	if err := social.CheckPostID(id); err != nil {
		return err
	}
	ask := struct {
		pageQuery
		Order queryText `json:"order"`
	}{pageQuery: pageQuery{Limit: engine.DefaultLimit}}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	after, limit, err := ask.check()
	if err != nil {
		return err
	}
	if ask.Order != "" && ask.Order != "newest" && ask.Order != "oldest" {
		return fmt.Errorf("%w: order must be newest or oldest, not %.80q", feed.ErrInvalid, string(ask.Order))
	}
	page, err := result(c, s.work, func(ctx context.Context) (engine.TimelinePage, error) {
		return s.deps.Social.Timelines.Replies(ctx, engine.RepliesRequest{
			Reader: reader, Post: id, After: after, Limit: limit, Oldest: ask.Order == "oldest",
		})
	})
	if err != nil {
		return err
	}
	c.sendPage(&entryPage{reader: reader, TimelinePage: page})
	return nil
}
