package client

import (
	"context"
	"net/http"
	"net/url"
)

// Author calls GET /v1/authors/{id}. [ErrNotFound] where nothing is known of
// them, and where they block the caller. Of whom the caller blocks only IsBlocked is told.
func (c *Client) Author(ctx context.Context, id string) (Author, error) {
	return call[Author](ctx, c, Request{Method: http.MethodGet, Path: authorPath(id), Repeatable: true})
}

// PutAuthor calls PUT /v1/authors/{id}: the card replaces the one before.
func (c *Client) PutAuthor(ctx context.Context, id string, card AuthorCard) error {
	_, err := send[struct{}](ctx, c, Request{Method: http.MethodPut, Path: authorPath(id), Repeatable: true}, card)
	return err
}

// DeleteAuthor calls DELETE /v1/authors/{id}: card, posts and followers are
// erased.
func (c *Client) DeleteAuthor(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: authorPath(id), Repeatable: true})
	return err
}

// AuthorPosts calls GET /v1/authors/{id}/posts: those that the caller may see,
// paged as [Client.Timeline].
func (c *Client) AuthorPosts(ctx context.Context, id, cursor string, limit int) (PostPage, error) {
	path := withPage(authorPath(id)+"/posts", "cursor", cursor, limit)
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// AuthorGrid calls GET /v1/authors/{id}/posts?view=grid: the first thumbnail and the counts of
// each post of [Client.AuthorPosts]. limit 0 is the server's 10.
func (c *Client) AuthorGrid(ctx context.Context, id, cursor string, limit int) (TilePage, error) {
	path := withQuery(authorPath(id)+"/posts", map[string]string{"view": "grid", "cursor": cursor}, map[string]int64{"limit": int64(limit)})
	return call[TilePage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// TilePage is a page of an author's grid.
type TilePage struct {
	Items      []Tile   `json:"items"`       // newest first
	NextCursor string   `json:"next_cursor"` // for the next page; "": there was nothing
	HasMore    bool     `json:"has_more"`
	Degraded   []string `json:"degraded"` // what the server had to do without

	asSent
}

// DeleteAgent calls DELETE /v1/agents/{agent_id}: everything that is kept of the
// agent, and what they made, is erased.
func (c *Client) DeleteAgent(ctx context.Context, agent string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: agentPath(agent), Repeatable: true})
	return err
}

func authorPath(id string) string { return "/v1/authors/" + url.PathEscape(id) }

func agentPath(agent string) string { return "/v1/agents/" + url.PathEscape(agent) }
