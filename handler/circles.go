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
	circle := social.Circle{ID: c.gin.Param("id"), Owner: in.Owner, Name: in.Name}
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

// circle reads the circle that the path names for who may: its owner, or an
// admin ("").
func (s *server) circle(ctx context.Context, c *call, by string) (social.Circle, error) {
	id := c.gin.Param("id")
	if err := social.CheckCircleID(id); err != nil {
		return social.Circle{}, err
	}
	circle, err := s.deps.Social.Store.Circle(ctx, id)
	if err == nil && by != "" && by != circle.Owner {
		err = fmt.Errorf("%w: this circle is another agent's", feed.ErrForbidden)
	}
	return circle, err
}

// getCircles answers GET /v1/circles with the caller's own.
func (s *server) getCircles(c *call) error {
	owner, err := s.member(c)
	if err != nil {
		return err
	}
	after, limit, err := c.page(feed.CheckAgentID)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		circles, err := s.deps.Social.Store.CirclesOf(ctx, owner, after, limit+1)
		var data social.CirclePage
		data.Circles, data.NextAfter = firstPage(circles, limit, func(c *social.Circle) *string { return &c.ID })
		return data, err
	})
}

// getCircle answers GET /v1/circles/{id}.
func (s *server) getCircle(c *call) error {
	by, err := s.changer(c)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) { return s.circle(ctx, c, by) })
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
		if _, err := s.circle(ctx, c, by); err != nil {
			return nil, err
		}
		return s.deps.Social.Store.Members(ctx, circle, after, n)
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
