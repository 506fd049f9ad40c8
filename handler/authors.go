package handler

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/social"
)

func (s *server) authorRoutes(route router) {
	const author, name = "/v1/authors/:id", "/v1/authors/{id}"
	route(http.MethodGet, author, name, s.getAuthor)
	route(http.MethodPut, author, name, s.putAuthor)
	route(http.MethodDelete, author, name, s.deleteAuthor)
	route(http.MethodGet, author+"/posts", name+"/posts", s.getAuthorPosts)
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

// getAuthor answers GET /v1/authors/{id}.
func (s *server) getAuthor(c *call) error {
	reader, author, err := s.readAuthor(c)
	if err != nil {
		return err
	}
	var info social.AuthorInfo
	err = s.work(c, func(ctx context.Context) (err error) {
		info, err = s.deps.Social.Store.Author(ctx, reader, author)
		return err
	})
	if err != nil {
		return err
	}
	return c.succeed(info)
}

// putAuthor answers PUT /v1/authors/{id} with the card as it is stored.
func (s *server) putAuthor(c *call) error {
	author, err := s.own(c, "id")
	if err != nil {
		return err
	}
	var in struct {
		Name     string `json:"name"`
		ImageURL string `json:"image_url"`
		Bio      string `json:"bio"`
	}
	if err := c.readJSON(MaxAuthorBody, &in); err != nil {
		return err
	}
	card := social.Author{ID: author, Name: in.Name, ImageURL: in.ImageURL, Bio: in.Bio}
	err = s.gated(c, func(ctx context.Context) error { return s.deps.Social.Store.PutAuthor(ctx, card, time.Time{}) })
	if err != nil {
		return err
	}
	return c.succeed(card)
}

// deleteAuthor answers DELETE /v1/authors/{id}.
func (s *server) deleteAuthor(c *call) error {
	author, err := s.own(c, "id")
	if err != nil {
		return err
	}
	err = s.gated(c, func(ctx context.Context) error { return s.deps.Social.Store.EraseAuthor(ctx, author) })
	if err != nil {
		return err
	}
	return c.succeed(empty{})
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
	below, limit, err := c.readPage()
	if err != nil {
		return err
	}
	var page engine.TimelinePage
	err = s.work(c, func(ctx context.Context) (err error) {
		page, err = s.deps.Social.Timelines.Author(ctx, engine.AuthorRequest{Reader: reader, Author: author, Below: below, Limit: limit})
		return err
	})
	if err != nil {
		return err
	}
	c.lacks = strings.Join(page.Degraded, ",")
	c.sendPage(&entryPage{reader: reader, cards: page.Posts, next: page.Next, more: page.HasMore, degraded: page.Degraded})
	return nil
}
