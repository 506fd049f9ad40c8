package handler

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func (s *server) circleRoutes(route router) {
	const circle, member, invitation = "/v1/circles/:id", "/v1/circles/:id/members/:agent", "/v1/circles/:id/invitations/:agent"
	circles := circlesQuery{listQuery: listQuery{Limit: defaultList, id: feed.CheckAgentID}}
	route(http.MethodGet, "/v1/circles", serveInput(s.gated, s.member, query(circles), s.getCircles))
	route(http.MethodPut, circle, serveInput(s.gated, s.changer, body(MaxCircleBody, social.CircleChange{}, "kind", "post", "history", "members_visible_to", "owner"), s.putCircle))
	route(http.MethodPatch, circle, serveInput(s.gated, s.changer, patchOf[social.CircleChange](MaxCircleBody), s.patchCircle))
	route(http.MethodGet, circle, serve(s.gated, s.changer, s.getCircle))
	route(http.MethodDelete, circle, serve(s.gated, s.changer, s.deleteCircle))
	route(http.MethodGet, circle+"/posts", serveInput(s.work, s.member, readPosts, s.getCirclePosts))
	route(http.MethodGet, circle+"/members", s.list(s.changer, s.getMembers))
	route(http.MethodGet, circle+"/invitations", s.list(s.changer, s.getInvitations))
	route(http.MethodPut, member, s.change(s.changer, s.putMember))
	route(http.MethodDelete, member, s.change(s.changer, s.deleteMember))
	route(http.MethodPut, invitation, s.change(s.changer, s.putInvitation))
	route(http.MethodDelete, invitation, s.change(s.changer, s.deleteInvitation))
}

// putCircle answers PUT /v1/circles/{id} with the stored circle.
func (s *server) putCircle(ctx context.Context, c *call, by string, in *social.CircleChange) (any, error) {
	if by != "" && in.Owner != "" && in.Owner != by {
		return nil, feed.Errorf(feed.ErrForbidden, "an agent can create circles only for itself; omit owner, or hand a group over with PATCH: not allowed")
	}
	return s.deps.Social.Store.ChangeCircle(ctx, c.gin.Param("id"), by, *in)
}

// patchCircle answers PATCH /v1/circles/{id} with the stored circle.
func (s *server) patchCircle(ctx context.Context, c *call, by string, patch *mergePatch[social.CircleChange]) (any, error) {
	if patch.nulls["members"] {
		return nil, fmt.Errorf("%w: members must be a list, not null; send [] to remove all", feed.ErrInvalid)
	}
	for _, name := range []string{"kind", "post", "history", "members_visible_to"} {
		if string(patch.members[name]) == `""` {
			return nil, fmt.Errorf("%w: %s must not be empty; send null for its default, or leave it out to keep it", feed.ErrInvalid, name)
		}
	}
	if string(patch.members["owner"]) == `""` {
		return nil, fmt.Errorf("%w: owner must not be empty; name the member who becomes the owner, or leave it out", feed.ErrInvalid)
	}
	return s.deps.Social.Store.PatchCircle(ctx, c.gin.Param("id"), by, patch.apply)
}

// rolesOf maps the values of the parameter of to roles.
var rolesOf = map[string]social.Role{"owned": social.RoleOwner, "joined": social.RoleMember, "invited": social.RoleInvited}

// circlesQuery are the parameters of GET /v1/circles.
type circlesQuery struct {
	listQuery
	Of string `json:"of"`
}

// getCircles answers GET /v1/circles with the circles in which the caller has a role.
func (s *server) getCircles(ctx context.Context, _ *call, agent string, ask *circlesQuery) (any, error) {
	role, known := rolesOf[cmp.Or(ask.Of, "owned")]
	if !known {
		return nil, fmt.Errorf("%w: of must be owned, joined or invited, not %.80q", feed.ErrInvalid, ask.Of)
	}
	circles, err := s.deps.Social.Store.CirclesOf(ctx, agent, role, string(ask.After), ask.Limit+1)
	page, last := firstPage(circles, ask.Limit)
	data := social.CirclePage{Circles: page}
	if last != nil {
		data.NextAfter = &last.ID
	}
	return data, err
}

// getCircle answers GET /v1/circles/{id}.
func (s *server) getCircle(ctx context.Context, c *call, by string) (any, error) {
	id := c.gin.Param("id")
	if err := social.CheckCircleID(id); err != nil {
		return nil, err
	}
	circle, _, err := s.deps.Social.Store.CircleFor(ctx, id, by)
	return circle, err
}

// getCirclePosts answers GET /v1/circles/{id}/posts.
func (s *server) getCirclePosts(ctx context.Context, c *call, reader string, ask *postsQuery) (any, error) {
	if err := s.auth.checkShown(c.gin.Request); err != nil {
		return nil, err
	}
	page, err := s.deps.Social.Timelines.Circle(ctx, timeline.CircleRequest{
		Reader: reader, Circle: c.gin.Param("id"), Below: ask.position, Limit: ask.Limit,
	})
	return &entryPage{reader: reader, grid: bool(ask.View), Page: page}, err
}

// deleteCircle answers DELETE /v1/circles/{id}.
func (s *server) deleteCircle(ctx context.Context, c *call, by string) (any, error) {
	return empty{}, s.deps.Social.Store.DropCircle(ctx, c.gin.Param("id"), by, time.Time{})
}

// getMembers answers GET /v1/circles/{id}/members.
func (s *server) getMembers(ctx context.Context, c *call, by, after string, n int) ([]string, error) {
	return s.deps.Social.Store.Members(ctx, c.gin.Param("id"), by, after, n)
}

// getInvitations answers GET /v1/circles/{id}/invitations.
func (s *server) getInvitations(ctx context.Context, c *call, by, after string, n int) ([]string, error) {
	return s.deps.Social.Store.Invited(ctx, c.gin.Param("id"), by, after, n)
}

// putInvitation answers PUT /v1/circles/{id}/invitations/{agent}.
func (s *server) putInvitation(ctx context.Context, c *call, by string) (bool, error) {
	return s.deps.Social.Store.Invite(ctx, c.gin.Param("id"), c.gin.Param("agent"), by)
}

// deleteInvitation answers DELETE /v1/circles/{id}/invitations/{agent}.
func (s *server) deleteInvitation(ctx context.Context, c *call, by string) (bool, error) {
	return s.deps.Social.Store.Withdraw(ctx, c.gin.Param("id"), c.gin.Param("agent"), by)
}

// putMember answers PUT /v1/circles/{id}/members/{agent}.
func (s *server) putMember(ctx context.Context, c *call, by string) (bool, error) {
	return s.deps.Social.Store.AddMember(ctx, c.gin.Param("id"), c.gin.Param("agent"), by, time.Time{})
}

// deleteMember answers DELETE /v1/circles/{id}/members/{agent}.
func (s *server) deleteMember(ctx context.Context, c *call, by string) (bool, error) {
	return s.deps.Social.Store.RemoveMember(ctx, c.gin.Param("id"), c.gin.Param("agent"), by, time.Time{})
}
