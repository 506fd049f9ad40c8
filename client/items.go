package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// Item calls GET /v1/items/{id}. It needs the admin token.
func (c *Client) Item(ctx context.Context, id string) (feed.Item, error) {
	return call[feed.Item](ctx, c, Request{Method: http.MethodGet, Path: itemPath(id), Repeatable: true})
}

// PatchItem calls PATCH /v1/items/{id}: fields replace those of the stored item, nil
// removes one, and the others stay. It returns the item as it is stored. It needs
// the admin token. [ErrNotFound] where there is no such item.
func (c *Client) PatchItem(ctx context.Context, id string, fields map[string]any) (feed.Item, error) {
	return send[feed.Item](ctx, c, Request{Method: http.MethodPatch, Path: itemPath(id), Repeatable: true}, fields)
}

// DeleteItem calls DELETE /v1/items/{id}: the item is no longer shown to
// anyone. It needs the admin token. [ErrNotFound] where there is no such item;
// after a retry that may mean that the try before has deleted it.
func (c *Client) DeleteItem(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: itemPath(id), Repeatable: true})
	return err
}

// PutItem stores one item through POST /v1/items, in place of the one with its
// id. For many, [Client.Ingest] is faster. It needs the admin token.
func (c *Client) PutItem(ctx context.Context, item feed.Item) error {
	report, err := send[api.Upload](ctx, c, Request{
		Method: http.MethodPost, Path: "/v1/items", Type: "application/x-ndjson", Repeatable: true,
	}, item)
	if err != nil {
		return err
	}
	if len(report.Errors) > 0 {
		return errors.New("the item was not stored: " + report.Errors[0].Reason)
	}
	if report.Accepted != 1 {
		return errors.New("the item was not stored, and the server does not say why")
	}
	return nil
}

// itemPath escapes what an id may hold and a path may not, slashes included.
func itemPath(id string) string { return "/v1/items/" + url.PathEscape(id) }

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
