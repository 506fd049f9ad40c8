package handler

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

func (s *server) followRoutes(route router) {
	const agent = "/v1/agents/:agent_id"
	own := s.owner("agent_id")
	route(http.MethodGet, agent+"/following", s.list(own, s.getFollowing))
	route(http.MethodPost, agent+"/following", serveInput(s.gated, s.follower, body(MaxFollowsBody, followingBody{}), s.postFollowing))
	route(http.MethodGet, agent+"/suggestions", serveInput(s.gated, own, query(limitQuery{engine.DefaultLimit, social.MaxSuggestions}), s.getSuggestions))
	route(http.MethodGet, agent+"/followers", s.list(own, s.getFollowers))
	route(http.MethodPut, agent+"/following/:author", s.change(s.follower, s.putFollow))
	route(http.MethodDelete, agent+"/following/:author", s.change(s.follower, s.deleteFollow))
	route(http.MethodGet, agent+"/blocked", s.list(own, s.getBlocked))
	route(http.MethodPut, agent+"/blocked/:agent", s.change(own, s.putBlock))
	route(http.MethodDelete, agent+"/blocked/:agent", s.change(own, s.deleteBlock))
}

// putFollow answers PUT /v1/agents/{agent_id}/following/{author}.
func (s *server) putFollow(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Follow(ctx, agent, c.gin.Param("author"), time.Time{})
}

// deleteFollow answers DELETE /v1/agents/{agent_id}/following/{author}.
func (s *server) deleteFollow(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Unfollow(ctx, agent, c.gin.Param("author"), time.Time{})
}

// putBlock answers PUT /v1/agents/{agent_id}/blocked/{agent}.
func (s *server) putBlock(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Block(ctx, agent, c.gin.Param("agent"))
}

// deleteBlock answers DELETE /v1/agents/{agent_id}/blocked/{agent}.
func (s *server) deleteBlock(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Unblock(ctx, agent, c.gin.Param("agent"))
}

// getSuggestions answers GET /v1/agents/{agent_id}/suggestions.
func (s *server) getSuggestions(ctx context.Context, _ *call, agent string, ask *limitQuery) (any, error) {
	list, err := s.deps.Social.Suggest(ctx, agent, ask.Limit)
	return api.Suggestions{Authors: list}, err
}

// follower returns the agent in the path if the caller may change its follows.
func (s *server) follower(c *call) (string, error) {
	agent, err := s.owner("agent_id")(c)
	if err == nil && s.deps.Social.FollowsByApp && c.agent != "" {
		err = fmt.Errorf("%w: the app manages follows (social.follows: app); this call needs the admin token", feed.ErrForbidden)
	}
	return agent, err
}

// followingBody is the body of POST /v1/agents/{agent_id}/following.
type followingBody struct {
	Authors []string `json:"authors"`
}

func (b *followingBody) check() error {
	if len(b.Authors) == 0 || len(b.Authors) > MaxFollows {
		return fmt.Errorf("%w: authors must contain 1 to %d agents, not %d", feed.ErrInvalid, MaxFollows, len(b.Authors))
	}
	return nil
}

// postFollowing answers POST /v1/agents/{agent_id}/following: the agent follows further authors,
// and its timeline is built.
func (s *server) postFollowing(ctx context.Context, _ *call, agent string, in *followingBody) (any, error) {
	edges := make([]social.Edge, len(in.Authors))
	for i, author := range in.Authors {
		if err := social.CheckFollow(agent, author); err != nil && author != agent { // the store refuses the agent's own id alone
			return nil, fmt.Errorf("authors[%d]: %w", i, err)
		}
		edges[i] = social.Edge{Agent: agent, Author: author}
	}
	n, rejected, err := s.deps.Social.Store.FollowAll(ctx, edges, time.Time{})
	if err != nil {
		return nil, err
	}
	out := api.Followed{Changed: n, Refused: make([]api.FollowRefused, len(rejected))}
	for i, r := range rejected {
		p := problemOf(r.Err)
		out.Refused[i] = api.FollowRefused{Author: in.Authors[r.Index], Code: p.code, Msg: p.msg}
	}
	if err := s.deps.Social.Timelines.Warm(ctx, agent); err != nil { // otherwise the first page builds the timeline
		s.log.DebugContext(ctx, "cannot build a timeline's list in advance; its first page builds it", "error", err)
	}
	return out, nil
}

// getFollowing answers GET /v1/agents/{agent_id}/following.
func (s *server) getFollowing(ctx context.Context, c *call, agent, after string, n int) ([]string, error) {
	return s.deps.Social.Store.Following(ctx, agent, c.agent, after, n)
}

// getFollowers answers GET /v1/agents/{agent_id}/followers.
func (s *server) getFollowers(ctx context.Context, c *call, agent, after string, n int) ([]string, error) {
	return s.deps.Social.Store.Followers(ctx, agent, c.agent, after, n)
}

// getBlocked answers GET /v1/agents/{agent_id}/blocked.
func (s *server) getBlocked(ctx context.Context, _ *call, agent, after string, n int) ([]string, error) {
	return s.deps.Social.Store.Blocked(ctx, agent, after, n)
}

// list answers with a page of a list of agents; read returns at most n agents after a given one.
func (s *server) list(who subject, read func(ctx context.Context, c *call, who, after string, n int) ([]string, error)) func(*call) error {
	return serveInput(s.gated, who, query(listQuery{Limit: defaultList, id: feed.CheckAgentID}), func(ctx context.Context, c *call, who string, ask *listQuery) (any, error) {
		agents, err := read(ctx, c, who, string(ask.After), ask.Limit+1)
		var data api.AgentPage
		data.Agents, data.NextAfter = firstPage(agents, ask.Limit)
		if err == nil {
			data.Cards, err = s.deps.Social.Store.AgentCards(ctx, c.agent, data.Agents)
		}
		return data, err
	})
}

// limitQuery is a query with a limit of at most most.
type limitQuery struct {
	Limit int `json:"limit"`

	most int
}

func (q *limitQuery) check() error { return feed.CheckLimit(q.Limit, q.most) }

// listQuery is the query for a page of a list ordered by id.
type listQuery struct {
	After queryText `json:"after"`
	Limit int       `json:"limit"`

	id func(string) error // checks After
}

func (q *listQuery) check() error {
	if err := feed.CheckLimit(q.Limit, MaxList); err != nil || q.After == "" {
		return err
	}
	if err := q.id(string(q.After)); err != nil {
		return fmt.Errorf("after: %w", err)
	}
	return nil
}
