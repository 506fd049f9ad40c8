package handler

import (
	"net/http"
	"strings"

	"github.com/freshet/freshet/feed"
)

// itemID returns the item that the path names, to an admin only. The wildcard's
// value starts with a slash.
func (s *server) itemID(c *call) (string, error) {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return "", err
	}
	id := strings.TrimPrefix(c.gin.Param("id"), "/")
	return id, feed.CheckItemID(id)
}

// getItem answers GET /v1/items/{id} with the item as it is stored.
func (s *server) getItem(c *call) error {
	id, err := s.itemID(c)
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	docs, err := s.deps.Items.Docs(ctx, []string{id})
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
	id, err := s.itemID(c)
	if err != nil {
		return err
	}
	patch, err := c.readBody(feed.MaxItemBytes)
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	it, err := s.deps.Intake.Patch(ctx, id, patch)
	if err != nil {
		return err
	}
	return c.succeed(it)
}

// deleteItem answers DELETE /v1/items/{id}.
func (s *server) deleteItem(c *call) error {
	id, err := s.itemID(c)
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	if err := s.deps.Items.Remove(ctx, id); err != nil {
		return err
	}
	return c.succeed(empty{})
}
