package handler

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

func (s *server) authorRoutes(route router) {
	const author = "/v1/authors/:id"
	route(http.MethodGet, author, s.getAuthor)
	route(http.MethodPut, author, s.putAuthor)
	route(http.MethodDelete, author, s.of(s.owner("id"), s.deps.Social.Store.EraseAuthor))
	route(http.MethodGet, author+"/posts", s.getAuthorPosts)
}

// readAuthor returns who reads, "" for nobody, and the author that the path
// names.
func (s *server) readAuthor(c *call) (reader, author string, err error) {
	if reader, err = s.reader(c); err != nil {
		return "", "", err
	}
	author = c.gin.Param("id")
	return reader, author, social.CheckAgent(author)
}

// blockedAuthor is all that a reader is told of an author whom they block.
type blockedAuthor struct {
	ID        string `json:"id"`
	IsBlocked bool   `json:"is_blocked"`
}

// getAuthor answers GET /v1/authors/{id}.
func (s *server) getAuthor(c *call) error {
	reader, author, err := s.readAuthor(c)
	if err != nil {
		return err
	}
	return c.answer(s.work, func(ctx context.Context) (any, error) {
		info, err := s.deps.Social.Store.Author(ctx, reader, author)
		if info.IsBlocked {
			return blockedAuthor{info.ID, true}, err
		}
		return info, err
	})
}

// putAuthor answers PUT /v1/authors/{id} with the card as it is stored.
func (s *server) putAuthor(c *call) error {
	author, err := s.own(c, "id")
	if err != nil {
		return err
	}
	var in api.AuthorCard
	if err := c.readJSON(MaxAuthorBody, &in); err != nil {
		return err
	}
	card := social.Author{ID: author, Name: in.Name, ImageURL: in.ImageURL, Bio: in.Bio}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		return card, s.deps.Social.Store.PutAuthor(ctx, card, time.Time{})
	})
}

// grid is the view that shows a thumbnail of each post, and defaultTiles how many a page has.
const (
	grid         = "grid"
	defaultTiles = 10
)

// gridView is a view in a query: the grid, the only one that has a name.
type gridView bool

func (v *gridView) UnmarshalJSON(value []byte) error {
	if *v = string(value) == `"`+grid+`"`; !*v {
		return errors.New("must be grid, or left out")
	}
	return nil
}

// getAuthorPosts answers GET /v1/authors/{id}/posts. An author of whom the
// reader may see nothing has an empty page, like one who is not known.
func (s *server) getAuthorPosts(c *call) error {
	reader, author, err := s.readAuthor(c)
	if err == nil && reader != "" {
		err = s.auth.checkShown(c.gin.Request)
	}
	if err != nil {
		return err
	}
	ask := struct {
		pageQuery
		View gridView `json:"view"`
	}{pageQuery: pageQuery{Limit: engine.DefaultLimit}}
	if c.gin.Query("view") == grid {
		ask.Limit = defaultTiles
	}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	below, limit, err := ask.check()
	if err != nil {
		return err
	}
	page, err := result(c, s.work, func(ctx context.Context) (engine.TimelinePage, error) {
		return s.deps.Social.Timelines.Author(ctx, engine.AuthorRequest{Reader: reader, Author: author, Below: below, Limit: limit, Grid: bool(ask.View)})
	})
	if err != nil {
		return err
	}
	c.sendPage(&entryPage{reader: reader, grid: bool(ask.View), TimelinePage: page})
	return nil
}
