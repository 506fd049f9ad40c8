package handler

import (
	"context"
	"net/http"
	"strings"

	"github.com/freshet/freshet/feed"
)

// itemID returns the item that the path names. The wildcard's value starts with a slash.
func itemID(c *call) (string, error) {
	id := strings.TrimPrefix(c.gin.Param("id"), "/")
	return id, feed.CheckItemID(id)
}

// getItem answers GET /v1/items/{id} with the item as it is stored.
func (s *server) getItem(c *call) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	docs, err := result(c, s.gated, func(ctx context.Context) ([]feed.Doc, error) { return s.deps.Items.Docs(ctx, []string{id}) })
	if err != nil {
		return err
	}
	if len(docs) == 0 || docs[0].Missing() {
		return feed.ErrNotFound
	}
	c.out = append(c.out[:0], successHead...)
	c.out = append(c.out, docs[0].JSON...)
	c.out = append(c.out, '}')
	c.send(http.StatusOK, 0, c.out)
	return nil
}

// patchItem answers PATCH /v1/items/{id} with the item as it is stored.
func (s *server) patchItem(c *call) error {
	id, err := itemID(c)
	if err != nil {
		return err
	}
	patch, err := c.readBody(feed.MaxItemBytes)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) { return s.deps.Intake.Patch(ctx, id, patch) })
}
