package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func (s *server) circleRoutes(route router) {
	const circle = "/v1/circles/:id"
	route(http.MethodGet, "/v1/circles", s.getCircles)
	route(http.MethodPut, circle, s.putCircle)
	route(http.MethodGet, circle, s.getCircle)
	route(http.MethodDelete, circle, s.deleteCircle)
	route(http.MethodGet, circle+"/members", s.getMembers)
	store := s.deps.Social.Store
	route(http.MethodPut, circle+"/members/:agent", s.changeMember(store.AddMember))
	route(http.MethodDelete, circle+"/members/:agent", s.changeMember(store.RemoveMember))
	route(http.MethodPut, circle+"/invitations/:agent", s.changeInvitation(store.Invite))
	route(http.MethodDelete, circle+"/invitations/:agent", s.changeInvitation(store.Withdraw))
}

// putCircle answers PUT /v1/circles/{id} with the circle as it is stored.
func (s *server) putCircle(c *call) error {
	by, err := s.changer(c)
	if err != nil {
		return err
	}
	var in social.CircleChange
	if err := c.readJSON(MaxCircleBody, &in); err != nil {
		return err
	}
	if by != "" && in.Owner != "" && in.Owner != by {
		return fmt.Errorf("%w: an agent may make circles only for itself; leave out owner", feed.ErrForbidden)
	}
	circle := social.Circle{ID: c.gin.Param("id"), Owner: in.Owner, Name: in.Name, CircleTerms: in.CircleTerms}
	if !in.Until.IsZero() {
		circle.Until = in.Until.Unix()
	}
	if by != "" {
		circle.Owner = by
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		if err := s.storeCircle(ctx, circle, in.Members); err != nil {
			return nil, err
		}
		return s.deps.Social.Store.Circle(ctx, circle.ID)
	})
}

// storeCircle stores a circle. One that is there keeps its owner where none is
// named.
func (s *server) storeCircle(ctx context.Context, circle social.Circle, members []string) error {
	if circle.Owner == "" {
		stored, err := s.deps.Social.Store.Circle(ctx, circle.ID)
		if errors.Is(err, feed.ErrNotFound) {
			return fmt.Errorf("%w: owner is missing; name the agent whose circle it shall be", feed.ErrInvalid)
		}
		if err != nil {
			return err
		}
		circle.Owner = stored.Owner
	}
	return s.deps.Social.Store.PutCircle(ctx, circle, members, time.Time{})
}

// rolesOf are the roles that GET /v1/circles lists by.
var rolesOf = map[string]social.Role{"owned": social.RoleOwner, "joined": social.RoleMember, "invited": social.RoleInvited}

// getCircles answers GET /v1/circles with those that the caller has a role in.
func (s *server) getCircles(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	ask := struct {
		listQuery
		Of string `json:"of"`
	}{listQuery{Limit: defaultList}, "owned"}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	role, known := rolesOf[ask.Of]
	if !known {
		return fmt.Errorf("%w: of must be owned, joined or invited, not %.80q", feed.ErrInvalid, ask.Of)
	}
	if err := ask.check(feed.CheckAgentID); err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		circles, err := s.deps.Social.Store.CirclesOf(ctx, agent, role, string(ask.After), ask.Limit+1)
		var data social.CirclePage
		data.Circles, data.NextAfter = firstPage(circles, ask.Limit, func(c *social.Circle) *string { return &c.ID })
		return data, err
	})
}

// getCircle answers GET /v1/circles/{id}.
func (s *server) getCircle(c *call) error {
	by, err := s.changer(c)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		circle, _, err := s.circle(ctx, c.gin.Param("id"), by)
		return circle, err
	})
}

// circle reads a circle for who has a role in it, or for an admin ("").
func (s *server) circle(ctx context.Context, id, by string) (social.Circle, social.Role, error) {
	if err := social.CheckCircleID(id); err != nil {
		return social.Circle{}, social.NoRole, err
	}
	return s.deps.Social.Store.CircleFor(ctx, id, by)
}

// deleteCircle answers DELETE /v1/circles/{id}.
func (s *server) deleteCircle(c *call) error {
	by, err := s.changer(c)
	if err != nil {
		return err
	}
	return c.done(s.gated, func(ctx context.Context) error {
		return s.deps.Social.Store.DropCircle(ctx, c.gin.Param("id"), by, time.Time{})
	})
}

// getMembers answers GET /v1/circles/{id}/members.
func (s *server) getMembers(c *call) error {
	by, err := s.changer(c)
	if err != nil {
		return err
	}
	return s.sendList(c, c.gin.Param("id"), func(ctx context.Context, circle, after string, n int) ([]string, error) {
		group, role, err := s.circle(ctx, circle, by)
		if err != nil {
			return nil, err
		}
		if by != "" && role != social.RoleOwner && (role != social.RoleMember || group.MembersVisibleTo != social.ByMembers) {
			return nil, fmt.Errorf("%w: only %s may list the members of %s", feed.ErrForbidden, readers(group), circle)
		}
		return s.deps.Social.Store.Members(ctx, circle, after, n)
	})
}

// readers are who reads who is in a group.
func readers(group social.Circle) string {
	if group.MembersVisibleTo == social.ByMembers {
		return "its members"
	}
	return "its owner"
}

// changeInvitation answers PUT and DELETE /v1/circles/{id}/invitations/{agent}.
func (s *server) changeInvitation(do func(ctx context.Context, circle, agent, by string) (bool, error)) func(*call) error {
	return s.changeMember(func(ctx context.Context, circle, agent, by string, _ time.Time) (bool, error) {
		return do(ctx, circle, agent, by)
	})
}

// changeMember answers PUT and DELETE /v1/circles/{id}/members/{agent}.
func (s *server) changeMember(do func(ctx context.Context, circle, agent, by string, at time.Time) (bool, error)) func(*call) error {
	return func(c *call) error {
		by, err := s.changer(c)
		if err != nil {
			return err
		}
		return s.change(c, func(ctx context.Context) (bool, error) {
			return do(ctx, c.gin.Param("id"), c.gin.Param("agent"), by, time.Time{})
		})
	}
}
