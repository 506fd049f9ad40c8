package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// FeedChange is a stored feed as sent to [Client.PutFeed], with its author and reason.
type FeedChange struct {
	feed.Filter
	Ranking json.RawMessage `json:"ranking,omitempty"` // parameters that differ from the live ranking; [feed.ChangesJSON] writes them
	Readers []string        `json:"readers,omitempty"` // agents who may read it; none means everyone
	By      string          `json:"by,omitempty"`      // "" is admin
	Why     string          `json:"why,omitempty"`
}

// StoredFeeds calls GET /v1/feeds: all stored feeds, in the order of their names, and the version of
// the ranking that holds them. It needs the admin token, as do all calls for stored feeds.
func (c *Client) StoredFeeds(ctx context.Context) (api.StoredFeeds, error) {
	return call[api.StoredFeeds](ctx, c, Request{Method: http.MethodGet, Path: "/v1/feeds", Repeatable: true})
}

// StoredFeed calls GET /v1/feeds/{name}. Without such a feed it returns [ErrNotFound].
func (c *Client) StoredFeed(ctx context.Context, name feed.Name) (feed.StoredFeed, error) {
	return call[feed.StoredFeed](ctx, c, Request{Method: http.MethodGet, Path: feedPath(name), Repeatable: true})
}

// PutFeed calls PUT /v1/feeds/{name}, which stores a feed or replaces it, and returns it as stored.
// Readers request it by its name on every server within two seconds. onlyIf is the version of the
// ranking that must be the newest, or [AnyVersion]; otherwise it returns [ErrPrecondition].
func (c *Client) PutFeed(ctx context.Context, name feed.Name, onlyIf int, f FeedChange) (feed.StoredFeed, error) {
	return send[feed.StoredFeed](ctx, c, Request{Method: http.MethodPut, Path: feedPath(name), Header: ifVersion(onlyIf)}, f)
}

// DeleteFeed calls DELETE /v1/feeds/{name}. Without such a feed it returns [ErrNotFound].
func (c *Client) DeleteFeed(ctx context.Context, name feed.Name) error {
	_, err := call[struct{}](ctx, c, Request{Method: http.MethodDelete, Path: feedPath(name)})
	return err
}

func feedPath(name feed.Name) string { return "/v1/feeds/" + url.PathEscape(string(name)) }
