package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/freshet/freshet/feed"
)

// AgentProfile is a profile with what was learned of the agent.
type AgentProfile struct {
	feed.Profile
	Learned []Learned `json:"learned,omitempty"` // what adds most first
}

// Learned is a feature of items that an agent has acted on, and what it does to their
// relevance: Score is added, or Factor multiplies where it is not 0. Both are 0 where
// the agent's ranking gives it no weight.
type Learned struct {
	Kind     string  `json:"kind"` // tag, author, lang or word (of a title)
	Value    string  `json:"value"`
	Score    float64 `json:"score,omitempty"`
	Factor   float64 `json:"factor,omitempty"`
	Clicks   int     `json:"clicks,omitempty"`
	Likes    int     `json:"likes,omitempty"`
	Dislikes int     `json:"dislikes,omitempty"`
	Hides    int     `json:"hides,omitempty"`
}

// Profile calls GET /v1/agents/{agent_id}/profile. An agent may read its own,
// an admin everyone's; [ErrNotFound] where the agent has none.
func (c *Client) Profile(ctx context.Context, agent string) (AgentProfile, error) {
	return call[AgentProfile](ctx, c, Request{Method: http.MethodGet, Path: profilePath(agent), Repeatable: true})
}

// PutProfile calls PUT /v1/agents/{agent_id}/profile and returns the profile
// as it is stored. Changed mutes end the agent's session.
func (c *Client) PutProfile(ctx context.Context, agent string, p feed.Profile) (feed.Profile, error) {
	return send[feed.Profile](ctx, c, Request{Method: http.MethodPut, Path: profilePath(agent), Repeatable: true}, p)
}

// ForgetLearned calls DELETE /v1/agents/{agent_id}/learned: what was learned of the
// agent is deleted, if anything was, and the profile stays.
func (c *Client) ForgetLearned(ctx context.Context, agent string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: "/v1/agents/" + url.PathEscape(agent) + "/learned", Repeatable: true})
	return err
}

// DeleteProfile calls DELETE /v1/agents/{agent_id}/profile. [ErrNotFound]
// where the agent has none; after a retry that may mean that the try before
// has deleted it.
func (c *Client) DeleteProfile(ctx context.Context, agent string) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: profilePath(agent), Repeatable: true})
	return err
}

func profilePath(agent string) string { return "/v1/agents/" + url.PathEscape(agent) + "/profile" }
