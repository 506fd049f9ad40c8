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
	store := s.deps.Social.Store
	route(http.MethodGet, agent+"/following", s.listOf(store.Following))
	route(http.MethodPost, agent+"/following", s.postFollowing)
	route(http.MethodGet, agent+"/suggestions", s.getSuggestions)
	route(http.MethodGet, agent+"/followers", s.listOf(store.Followers))
	route(http.MethodPut, agent+"/following/:author", s.changeFollow(store.Follow))
	route(http.MethodDelete, agent+"/following/:author", s.changeFollow(store.Unfollow))
	route(http.MethodGet, agent+"/blocked", s.listOf(store.Blocked))
	route(http.MethodPut, agent+"/blocked/:agent", s.changeBlock(store.Block))
	route(http.MethodDelete, agent+"/blocked/:agent", s.changeBlock(store.Unblock))
}

// changeFollow answers PUT and DELETE /v1/agents/{agent_id}/following/{author}.
func (s *server) changeFollow(do func(ctx context.Context, agent, author string, at time.Time) (bool, error)) func(*call) error {
	return func(c *call) error {
		agent, err := s.follower(c)
		if err != nil {
			return err
		}
		return s.change(c, func(ctx context.Context) (bool, error) { return do(ctx, agent, c.gin.Param("author"), time.Time{}) })
	}
}

// getSuggestions answers GET /v1/agents/{agent_id}/suggestions.
func (s *server) getSuggestions(c *call) error {
	agent, err := s.own(c, "agent_id")
	if err != nil {
		return err
	}
	ask := struct {
		Limit int `json:"limit"`
	}{engine.DefaultLimit}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	if err := feed.CheckLimit(ask.Limit, social.MaxSuggestions); err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		list, err := s.deps.Social.Suggest(ctx, agent, ask.Limit)
		return api.Suggestions{Authors: list}, err
	})
}

// follower returns the agent that the path names, whose follows the caller may change.
func (s *server) follower(c *call) (string, error) {
	agent, err := s.own(c, "agent_id")
	if err == nil && s.deps.Social.FollowsByApp && c.agent != "" {
		err = fmt.Errorf("%w: the app keeps the follows here; this needs the admin token", feed.ErrForbidden)
	}
	return agent, err
}

// postFollowing answers POST /v1/agents/{agent_id}/following: the agent follows several
// authors in addition to those it follows, and its list is built.
func (s *server) postFollowing(c *call) error {
	agent, err := s.follower(c)
	if err != nil {
		return err
	}
	var in struct {
		Authors []string `json:"authors"`
	}
	if err := c.readJSON(MaxFollowsBody, &in); err != nil {
		return err
	}
	if len(in.Authors) == 0 || len(in.Authors) > MaxFollows {
		return fmt.Errorf("%w: authors must be 1 to %d, not %d", feed.ErrInvalid, MaxFollows, len(in.Authors))
	}
	edges := make([]social.Edge, len(in.Authors))
	for i, author := range in.Authors {
		if err := social.CheckFollow(agent, author); err != nil {
			return err
		}
		edges[i] = social.Edge{Agent: agent, Author: author}
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		n, rejected, err := s.deps.Social.Store.FollowAll(ctx, edges, time.Time{})
		if err != nil {
			return nil, err
		}
		out := api.Followed{Changed: n, Refused: make([]api.FollowRefused, len(rejected))}
		for i, r := range rejected {
			p := problemOf(r.Err)
			out.Refused[i] = api.FollowRefused{Author: in.Authors[r.Index], Code: p.code, Msg: p.msg}
		}
		if err := s.deps.Social.Timelines.Warm(ctx, agent); err != nil { // the first page builds the list
			s.log.DebugContext(ctx, "a list was not warmed", "error", err)
		}
		return out, nil
	})
}

// changeBlock answers PUT and DELETE /v1/agents/{agent_id}/blocked/{agent}.
func (s *server) changeBlock(do func(ctx context.Context, agent, other string) (bool, error)) func(*call) error {
	return func(c *call) error {
		agent, err := s.own(c, "agent_id")
		if err != nil {
			return err
		}
		return s.change(c, func(ctx context.Context) (bool, error) { return do(ctx, agent, c.gin.Param("agent")) })
	}
}

// change runs a change that may be repeated, and answers whether it was one.
func (s *server) change(c *call, do func(ctx context.Context) (bool, error)) error {
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		is, err := do(ctx)
		return changed{is}, err
	})
}

// lister reads at most n agents of a list after one, by id.
type lister func(ctx context.Context, of, after string, n int) ([]string, error)

// listOf answers GET /v1/agents/{agent_id}/following, /followers and /blocked.
func (s *server) listOf(list lister) func(*call) error {
	return func(c *call) error {
		agent, err := s.own(c, "agent_id")
		if err != nil {
			return err
		}
		return s.sendList(c, agent, list)
	}
}

// listQuery is the query of a page of a list by id.
type listQuery struct {
	After queryText `json:"after"`
	Limit int       `json:"limit"`
}

func (q *listQuery) check(id func(string) error) error {
	if err := feed.CheckLimit(q.Limit, MaxList); err != nil {
		return err
	}
	if q.After != "" {
		if err := id(string(q.After)); err != nil {
			return fmt.Errorf("after: %w", err)
		}
	}
	return nil
}

// page reads the query of a page of a list by id.
func (c *call) page(id func(string) error) (after string, limit int, err error) {
	ask := listQuery{Limit: defaultList}
	if err := c.decodeQuery(&ask); err != nil {
		return "", 0, err
	}
	return string(ask.After), ask.Limit, ask.check(id)
}

// sendList answers with a page of a list.
func (s *server) sendList(c *call, of string, list lister) error {
	after, limit, err := c.page(feed.CheckAgentID)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		agents, err := list(ctx, of, after, limit+1)
		var data api.AgentPage
		data.Agents, data.NextAfter = firstPage(agents, limit, func(id *string) *string { return id })
		return data, err
	})
}
