package handler

import (
	"context"
	"net/http"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// socialMuteRoutes adds the mutes that the social store holds: of groups, and of invitations by an
// owner.
func (s *server) socialMuteRoutes(route router) {
	const circles, inviters = "/v1/agents/:agent_id/muted/circles", "/v1/agents/:agent_id/muted/invitations"
	own, muted := s.owner("agent_id"), listQuery{Limit: defaultList, id: feed.CheckAgentID}
	route(http.MethodGet, circles, serveInput(s.gated, own, query(muted), s.getMutedCircles))
	route(http.MethodPut, circles+"/:circle", s.changeUntil(own, s.putMutedCircle))
	route(http.MethodDelete, circles+"/:circle", s.change(own, s.deleteMutedCircle))
	route(http.MethodGet, inviters, s.list(own, s.getMutedInviters))
	route(http.MethodPut, inviters+"/:agent", s.change(own, s.putMutedInviter))
	route(http.MethodDelete, inviters+"/:agent", s.change(own, s.deleteMutedInviter))
}

func idsOf(list []social.Mute) []string {
	return convert.Each(list, func(m social.Mute) string { return m.ID })
}

// getMutedCircles answers GET /v1/agents/{agent_id}/muted/circles.
func (s *server) getMutedCircles(ctx context.Context, _ *call, agent string, ask *listQuery) (any, error) {
	list, err := s.deps.Social.Store.Muted(ctx, agent, social.MuteCircle, string(ask.After), ask.Limit+1)
	var data api.CircleIDPage
	data.Circles, data.NextAfter = firstPage(idsOf(list), ask.Limit)
	for _, m := range list[:len(data.Circles)] {
		if !m.Until.IsZero() {
			if data.Until == nil {
				data.Until = map[string]time.Time{}
			}
			data.Until[m.ID] = m.Until
		}
	}
	return data, err
}

// putMutedCircle answers PUT /v1/agents/{agent_id}/muted/circles/{circle}.
func (s *server) putMutedCircle(ctx context.Context, c *call, agent string, until time.Time) (bool, error) {
	return s.deps.Social.Store.Mute(ctx, agent, social.MuteCircle, c.gin.Param("circle"), until)
}

// deleteMutedCircle answers DELETE /v1/agents/{agent_id}/muted/circles/{circle}.
func (s *server) deleteMutedCircle(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Unmute(ctx, agent, social.MuteCircle, c.gin.Param("circle"))
}

// getMutedInviters answers GET /v1/agents/{agent_id}/muted/invitations.
func (s *server) getMutedInviters(ctx context.Context, _ *call, agent, after string, n int) ([]string, error) {
	list, err := s.deps.Social.Store.Muted(ctx, agent, social.MuteInviter, after, n)
	return idsOf(list), err
}

// putMutedInviter answers PUT /v1/agents/{agent_id}/muted/invitations/{agent}.
func (s *server) putMutedInviter(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Mute(ctx, agent, social.MuteInviter, c.gin.Param("agent"), time.Time{})
}

// deleteMutedInviter answers DELETE /v1/agents/{agent_id}/muted/invitations/{agent}.
func (s *server) deleteMutedInviter(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Unmute(ctx, agent, social.MuteInviter, c.gin.Param("agent"))
}
