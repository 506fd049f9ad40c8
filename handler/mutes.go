package handler

import (
	"context"
	"net/http"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// socialMuteRoutes adds the mutes that the social store holds: of groups, and of invitations by an
// owner.
func (s *server) socialMuteRoutes(route router) {
	const circles, inviters = "/v1/agents/:agent_id/muted/circles", "/v1/agents/:agent_id/muted/invitations"
	store := s.deps.Social.Store
	muted := listQuery{Limit: defaultList, id: feed.CheckAgentID}
	route(http.MethodGet, circles, serveInput(s.gated, s.owner("agent_id"), query(muted), s.getMutedCircles))
	route(http.MethodPut, circles+"/:circle", s.changeMute("circle", social.MuteCircle, store.Mute))
	route(http.MethodDelete, circles+"/:circle", s.changeMute("circle", social.MuteCircle, store.Unmute))
	route(http.MethodGet, inviters, s.listOf(func(ctx context.Context, agent, after string, n int) ([]string, error) {
		return store.Muted(ctx, agent, social.MuteInviter, after, n)
	}))
	route(http.MethodPut, inviters+"/:agent", s.changeMute("agent", social.MuteInviter, store.Mute))
	route(http.MethodDelete, inviters+"/:agent", s.changeMute("agent", social.MuteInviter, store.Unmute))
}

// getMutedCircles answers GET /v1/agents/{agent_id}/muted/circles.
func (s *server) getMutedCircles(ctx context.Context, _ *call, agent string, ask *listQuery) (any, error) {
	ids, err := s.deps.Social.Store.Muted(ctx, agent, social.MuteCircle, string(ask.After), ask.Limit+1)
	var data api.CircleIDPage
	data.Circles, data.NextAfter = firstPage(ids, ask.Limit, func(id *string) *string { return id })
	return data, err
}

// changeMute answers PUT and DELETE of a mute, which the parameter of the path names.
func (s *server) changeMute(param string, kind social.MuteKind, do func(ctx context.Context, agent string, kind social.MuteKind, id string) (bool, error)) func(*call) error {
	return s.change(s.owner("agent_id"), func(ctx context.Context, c *call, agent string) (bool, error) {
		return do(ctx, agent, kind, c.gin.Param(param))
	})
}
