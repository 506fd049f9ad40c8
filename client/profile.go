package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/freshet/freshet/feed"
)

// Profile calls GET /v1/agents/{agent_id}/profile. An agent may read its own,
// an admin everyone's; [ErrNotFound] where the agent has none.
func (c *Client) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	return call[feed.Profile](ctx, c, Request{Method: http.MethodGet, Path: profilePath(agent), Repeatable: true})
}

// PutProfile calls PUT /v1/agents/{agent_id}/profile and returns the profile
// as it is stored. Changed mutes end the agent's session.
func (c *Client) PutProfile(ctx context.Context, agent string, p feed.Profile) (feed.Profile, error) {
	return send[feed.Profile](ctx, c, Request{Method: http.MethodPut, Path: profilePath(agent), Repeatable: true}, p)
}

// DeleteProfile calls DELETE /v1/agents/{agent_id}/profile. [ErrNotFound]
// where the agent has none; after a retry that may mean that the try before
// has deleted it.
func (c *Client) DeleteProfile(ctx context.Context, agent string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: profilePath(agent), Repeatable: true})
	return err
}

func profilePath(agent string) string { return "/v1/agents/" + url.PathEscape(agent) + "/profile" }
