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
	route(http.MethodGet, "/v1/timeline", serveInput(s.work, s.member, query(pageQuery{Limit: engine.DefaultLimit}), s.getTimeline))
	route(http.MethodPost, "/v1/timeline/warm", s.of(s.member, s.deps.Social.Timelines.Warm))
	route(http.MethodGet, streamPath, s.getStream)
}

// getTimeline answers GET /v1/timeline.
func (s *server) getTimeline(ctx context.Context, c *call, agent string, ask *pageQuery) (any, error) {
	if err := s.auth.checkShown(c.gin.Request); err != nil {
		return nil, err
	}
	page, err := s.deps.Social.Timelines.Timeline(ctx, engine.TimelineRequest{Agent: agent, Below: ask.position, Limit: ask.Limit})
	return &entryPage{reader: agent, source: social.FromFollowing, TimelinePage: page}, err
}

// repliesQuery are the parameters of GET /v1/posts/{id}/replies.
type repliesQuery struct {
	pageQuery
	Order queryText `json:"order"`
}

func (q *repliesQuery) check() error {
	if err := q.pageQuery.check(); err != nil {
		return err
	}
	if q.Order != "" && q.Order != "newest" && q.Order != "oldest" {
		return fmt.Errorf("%w: order must be newest or oldest, not %.80q", feed.ErrInvalid, string(q.Order))
	}
	return nil
}

// getReplies answers GET /v1/posts/{id}/replies.
func (s *server) getReplies(ctx context.Context, c *call, reader string, ask *repliesQuery) (any, error) {
	page, err := s.deps.Social.Timelines.Replies(ctx, engine.RepliesRequest{
		Reader: reader, Post: c.gin.Param("id"), After: ask.position, Limit: ask.Limit, Oldest: ask.Order == "oldest",
	})
	return &entryPage{reader: reader, TimelinePage: page}, err
}
