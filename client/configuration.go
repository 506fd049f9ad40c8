package client

import (
	"context"
	"net/http"

	"github.com/freshet/freshet/feed/api"
)

// ConfigChange is a setting of a server whose value in force differs from the one in its file and
// environment.
type ConfigChange = api.ConfigChange

// ConfigChanges lists such settings.
type ConfigChanges = api.ConfigChanges

// ConfigDiff calls GET /v1/config/diff: what a reload of the server's configuration would change. It
// returns [ErrUnprocessable] if the configuration cannot be used. It needs the admin token.
func (c *Client) ConfigDiff(ctx context.Context) (ConfigChanges, error) {
	return call[ConfigChanges](ctx, c, Request{Method: http.MethodGet, Path: "/v1/config/diff", Repeatable: true})
}

// ReloadConfig calls POST /v1/config/reload: settings that may change while the server runs do. It
// returns them, and those that need a restart. If the configuration cannot be used, nothing changes,
// and the error is [ErrUnprocessable]. It needs the admin token.
func (c *Client) ReloadConfig(ctx context.Context) (ConfigChanges, error) {
	return call[ConfigChanges](ctx, c, Request{Method: http.MethodPost, Path: "/v1/config/reload"})
}
