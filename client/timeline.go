package client

import (
	"context"
	"net/http"
)

// Timeline calls GET /v1/timeline: everything new from whom the agent follows,
// newest first. cursor is the NextCursor of the page before, "" for the newest;
// limit is 1 to 100, 0 for the server's 20.
func (c *Client) Timeline(ctx context.Context, cursor string, limit int) (PostPage, error) {
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: withPage("/v1/timeline", "cursor", cursor, limit), Repeatable: true})
}

// WarmTimeline calls POST /v1/timeline/warm: the agent's next [Client.Timeline]
// is fast.
func (c *Client) WarmTimeline(ctx context.Context) error {
	_, err := c.Do(ctx, Request{Method: http.MethodPost, Path: "/v1/timeline/warm", Repeatable: true})
	return err
}
