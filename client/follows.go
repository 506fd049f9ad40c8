package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/freshet/freshet/feed/api"
)

// Server is the author whom nobody is: who follows it gets every public post.
const Server = "@server"

// Follow calls PUT /v1/agents/{agent_id}/following/{author} and reports whether
// anything changed. [ErrForbidden] while one of the two blocks the other, and where
// only the app may do it; [ErrUnprocessable] where the agent follows as many as
// one may.
func (c *Client) Follow(ctx context.Context, agent, author string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, agentPath(agent)+"/following/"+url.PathEscape(author))
}

// FollowMany calls POST /v1/agents/{agent_id}/following: it adds up to 100 authors to those that
// the agent follows. The answer lists those that were refused, and why.
func (c *Client) FollowMany(ctx context.Context, agent string, authors ...string) (Followed, error) {
	in := map[string][]string{"authors": authors}
	return send[Followed](ctx, c, Request{Method: http.MethodPost, Path: agentPath(agent) + "/following", Repeatable: true}, in)
}

// Unfollow calls DELETE /v1/agents/{agent_id}/following/{author}.
func (c *Client) Unfollow(ctx context.Context, agent, author string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, agentPath(agent)+"/following/"+url.PathEscape(author))
}

// Block calls PUT /v1/agents/{agent_id}/blocked/{agent}: it ends the follows of
// both, and neither sees the other's posts.
func (c *Client) Block(ctx context.Context, agent, other string) (changed bool, err error) {
	return c.change(ctx, http.MethodPut, agentPath(agent)+"/blocked/"+url.PathEscape(other))
}

// Unblock calls DELETE /v1/agents/{agent_id}/blocked/{agent}.
func (c *Client) Unblock(ctx context.Context, agent, other string) (changed bool, err error) {
	return c.change(ctx, http.MethodDelete, agentPath(agent)+"/blocked/"+url.PathEscape(other))
}

// change makes a call that answers whether it changed something. After a retry
// the try before may have been what did.
func (c *Client) change(ctx context.Context, method, path string) (bool, error) {
	done, err := call[struct {
		Changed bool `json:"changed"`
	}](ctx, c, Request{Method: method, Path: path, Repeatable: true})
	return done.Changed, err
}

// Following calls GET /v1/agents/{agent_id}/following: whom the agent follows.
// after is the NextAfter of the page before, "" for the first; limit is 1 to
// 1,000, 0 for the server's 100.
func (c *Client) Following(ctx context.Context, agent, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, agentPath(agent)+"/following", after, limit)
}

// Suggestions calls GET /v1/agents/{agent_id}/suggestions: authors to follow, the best
// first. limit is 1 to 100, 0 for the server's 20.
func (c *Client) Suggestions(ctx context.Context, agent string, limit int) ([]Suggestion, error) {
	path := withQuery(agentPath(agent)+"/suggestions", nil, map[string]int64{"limit": int64(limit)})
	list, err := call[api.Suggestions](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
	return list.Authors, err
}

// Followers calls GET /v1/agents/{agent_id}/followers: who follows the agent,
// paged as [Client.Following].
func (c *Client) Followers(ctx context.Context, agent, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, agentPath(agent)+"/followers", after, limit)
}

// Blocked calls GET /v1/agents/{agent_id}/blocked: whom the agent blocks, paged as
// [Client.Following].
func (c *Client) Blocked(ctx context.Context, agent, after string, limit int) (AgentPage, error) {
	return c.agents(ctx, agentPath(agent)+"/blocked", after, limit)
}

func (c *Client) agents(ctx context.Context, path, after string, limit int) (AgentPage, error) {
	return call[AgentPage](ctx, c, Request{Method: http.MethodGet, Path: withPage(path, "after", after, limit), Repeatable: true})
}
