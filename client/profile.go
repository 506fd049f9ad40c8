package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/feed"
)

// Profile calls GET /v1/agents/{agent_id}/profile. An agent may read its own,
// an admin everyone's; [ErrNotFound] where the agent has none.
func (c *Client) Profile(ctx context.Context, agent string) (AgentProfile, error) {
	return profileOf(c.Do(ctx, Request{Method: http.MethodGet, Path: v1("agents", agent, "profile"), Repeatable: true}))
}

func profileOf(res Response, err error) (p AgentProfile, _ error) {
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(res.Data, &p); err != nil {
		return p, fmt.Errorf("the server's answer about a profile cannot be read: %w", err)
	}
	p.Tag = res.Header.Get("ETag")
	return p, nil
}

// PutProfile calls PUT /v1/agents/{agent_id}/profile and returns the profile
// as it is stored. Changed mutes end the agent's session.
func (c *Client) PutProfile(ctx context.Context, agent string, p feed.Profile) (feed.Profile, error) {
	return send[feed.Profile](ctx, c, Request{Method: http.MethodPut, Path: v1("agents", agent, "profile"), Repeatable: true}, p)
}

// PutProfileOf is PutProfile where the stored profile is still the one that the tag is of
// ([AgentProfile]); [ErrPrecondition] where another one is, or none: read it, and decide
// again. It is not repeated: that would fail where the first try has stored it.
func (c *Client) PutProfileOf(ctx context.Context, agent, tag string, p feed.Profile) (AgentProfile, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return AgentProfile{}, err
	}
	return profileOf(c.Do(ctx, Request{Method: http.MethodPut, Path: v1("agents", agent, "profile"), Body: body, Header: http.Header{"If-Match": {tag}}}))
}

// PatchProfile calls PATCH /v1/agents/{agent_id}/profile with a JSON merge patch
// (RFC 7396), which is encoded as JSON, and returns the profile as it is stored. What the
// patch does not name stays.
func (c *Client) PatchProfile(ctx context.Context, agent string, patch any) (AgentProfile, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return AgentProfile{}, err
	}
	return profileOf(c.Do(ctx, Request{Method: http.MethodPatch, Path: v1("agents", agent, "profile"), Body: body, Repeatable: true}))
}

// Muted is a list of what a profile mutes.
type Muted string

// The lists.
const (
	MutedAuthors Muted = "authors"
	MutedTags    Muted = "tags"
	MutedItems   Muted = "items" // and groups
)

// Mute calls PUT /v1/agents/{agent_id}/muted/…: one step, beside which those of other
// devices stay. It reports whether anything changed.
func (c *Client) Mute(ctx context.Context, agent string, list Muted, value string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, v1("agents", agent, "muted", string(list), value))
}

// Unmute calls DELETE /v1/agents/{agent_id}/muted/… and reports whether anything changed.
func (c *Client) Unmute(ctx context.Context, agent string, list Muted, value string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, v1("agents", agent, "muted", string(list), value))
}

// ForgetLearned calls DELETE /v1/agents/{agent_id}/learned: what was learned of the
// agent is deleted, if anything was, and the profile stays.
func (c *Client) ForgetLearned(ctx context.Context, agent string) error {
	return c.run(ctx, http.MethodDelete, v1("agents", agent, "learned"))
}

// DeleteProfile calls DELETE /v1/agents/{agent_id}/profile.
func (c *Client) DeleteProfile(ctx context.Context, agent string) error {
	return c.run(ctx, http.MethodDelete, v1("agents", agent, "profile"))
}
