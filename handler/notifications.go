package handler

import (
	"context"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// notificationRoutes adds the notifications of agents, and the mutes of their kinds.
func (s *server) notificationRoutes(route router) {
	const path, muted = "/v1/agents/:agent_id/notifications", "/v1/agents/:agent_id/muted/notifications"
	own := s.owner("agent_id")
	route(http.MethodGet, path, serveInput(s.work, own, query(noticesQuery{Limit: engine.DefaultLimit}), s.getNotifications))
	route(http.MethodPut, path+"/seen", serveInput(s.gated, own, body(maxSeenBody, seenBody{}), s.putSeen))
	route(http.MethodGet, muted, serve(s.gated, own, s.getMutedKinds))
	route(http.MethodPut, muted+"/:kind", s.change(own, s.putMutedKind))
	route(http.MethodDelete, muted+"/:kind", s.change(own, s.deleteMutedKind))
}

// maxSeenBody is the maximum size of the body of PUT …/notifications/seen.
const maxSeenBody = 1 << 10

// noticesQuery are the parameters of GET /v1/agents/{agent_id}/notifications.
type noticesQuery struct {
	Cursor queryText `json:"cursor"`
	Limit  int       `json:"limit"`
}

// getNotifications answers GET /v1/agents/{agent_id}/notifications.
func (s *server) getNotifications(ctx context.Context, c *call, agent string, ask *noticesQuery) (any, error) {
	page, err := s.deps.Social.Timelines.Notifications(ctx, timeline.NoticesRequest{Agent: agent, After: string(ask.Cursor), Limit: ask.Limit})
	c.without(page.Degraded)
	return page, err
}

// seenBody is the body of PUT /v1/agents/{agent_id}/notifications/seen.
type seenBody struct {
	Marker *int64 `json:"marker"`
}

func (b *seenBody) check() error {
	if b.Marker == nil {
		return feed.Errorf(feed.ErrInvalid, "marker is missing; send the one of a notification, or of an answer with notifications, up to which they are seen")
	}
	return nil
}

// putSeen answers PUT /v1/agents/{agent_id}/notifications/seen.
func (s *server) putSeen(ctx context.Context, _ *call, agent string, in *seenBody) (any, error) {
	is, err := s.deps.Social.Store.SeeNotifications(ctx, agent, *in.Marker)
	return changed{is}, err
}

// mutedKinds is the answer of GET /v1/agents/{agent_id}/muted/notifications.
type mutedKinds struct {
	Kinds []string `json:"kinds"`
}

// getMutedKinds answers GET /v1/agents/{agent_id}/muted/notifications.
func (s *server) getMutedKinds(ctx context.Context, _ *call, agent string) (any, error) {
	kinds, err := s.deps.Social.Store.Muted(ctx, agent, social.MuteNotification, "", len(social.NotificationKinds()))
	return mutedKinds{convert.Each(kinds, func(m social.Mute) string { return m.ID })}, err
}

// putMutedKind answers PUT /v1/agents/{agent_id}/muted/notifications/{kind}.
func (s *server) putMutedKind(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Mute(ctx, agent, social.MuteNotification, c.gin.Param("kind"), time.Time{})
}

// deleteMutedKind answers DELETE /v1/agents/{agent_id}/muted/notifications/{kind}.
func (s *server) deleteMutedKind(ctx context.Context, c *call, agent string) (bool, error) {
	return s.deps.Social.Store.Unmute(ctx, agent, social.MuteNotification, c.gin.Param("kind"))
}
