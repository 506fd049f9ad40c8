package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/freshet/freshet/feed"
)

// GuestPage is the feed for readers without an account.
type GuestPage struct {
	Items    []feed.Item `json:"items"`    // best first; [InFeedOf] has the source and the trend
	Degraded []string    `json:"degraded"` // what the server had to do without

	asSent
}

// Guest calls GET /v1/feed/guest: what trends, the same for everybody, so that no agent
// is needed. limit is 1 to 100, 0 for the server's 20.
func (c *Client) Guest(ctx context.Context, limit int) (GuestPage, error) {
	path := "/v1/feed/guest"
	if limit != 0 {
		path += "?limit=" + strconv.Itoa(limit)
	}
	return call[GuestPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}
