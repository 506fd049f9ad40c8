package handler

import (
	"context"
	"log/slog"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// putLike answers PUT /v1/posts/{id}/like. A like that is news is also the act
// "like".
func (s *server) putLike(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	id := c.gin.Param("id")
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		likes, changed, err := s.deps.Social.Store.Like(ctx, agent, id)
		data := api.Likes{Likes: likes, HasLiked: true}
		if err != nil || !changed {
			return data, err
		}
		// The like is stored. A repetition would not be news, so an act that cannot
		// be counted now is not.
		if _, err := s.deps.Reactions.React(ctx, agent, []engine.Act{{Kind: events.Like, ID: id}}); err != nil {
			s.log.WarnContext(ctx, "a like was not counted as an act", slog.String("request_id", c.id), slog.String("error", redact(err.Error())))
		}
		return data, nil
	})
}

// deleteLike answers DELETE /v1/posts/{id}/like.
func (s *server) deleteLike(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		likes, _, err := s.deps.Social.Store.Unlike(ctx, agent, c.gin.Param("id"))
		return api.Likes{Likes: likes}, err
	})
}
