package client

import (
	"context"
	"net/http"

	"github.com/freshet/freshet/feed"
)

// ItemFilter chooses items. Zero fields choose all.
type ItemFilter struct {
	Author string
	Tag    string
	Since  int64  // Unix seconds; update_time is this or later
	Cursor string // ItemPage.NextCursor of the page before
	Limit  int    // 1 to 1,000; 0: the server's 100
}

// ItemPage is a page of the stored items.
type ItemPage struct {
	Items      []feed.Item `json:"items"`       // the youngest first
	NextCursor *string     `json:"next_cursor"` // nil: this is the last page
}

// Items calls GET /v1/items: the stored items, posts apart. It needs the admin token.
func (c *Client) Items(ctx context.Context, f ItemFilter) (ItemPage, error) {
	path := withQuery("/v1/items",
		map[string]string{"author": f.Author, "tag": f.Tag, "cursor": f.Cursor},
		map[string]int64{"since": f.Since, "limit": int64(f.Limit)})
	return call[ItemPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}
