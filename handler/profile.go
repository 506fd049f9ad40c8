package handler

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// profileAgent is whose profile the path names, after checking that the caller
// may touch it.
func (s *server) profileAgent(c *call) (string, error) {
	agent := c.gin.Param("agent_id")
	caller, err := s.auth.profile(c.gin.Request, agent)
	c.agent = caller
	if caller != "" {
		// Before the error: who tries other agents' profiles is limited, too.
		if limited := s.rates.take(caller); limited != nil {
			return "", limited
		}
	}
	if err != nil {
		return "", err
	}
	return agent, feed.CheckAgentID(agent)
}

// profileWork is the work of a profile route. An admin's passes the gate: who
// repairs an overloaded server must not be shed by it.
func (s *server) profileWork(c *call, do func(ctx context.Context) error) error {
	if c.agent != "" {
		return s.work(c, do)
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	return do(ctx)
}

// putProfile answers PUT /v1/agents/{agent_id}/profile with the profile as it
// is stored.
func (s *server) putProfile(c *call) error {
	agent, err := s.profileAgent(c)
	if err != nil {
		return err
	}
	body, err := c.readBody(MaxProfileBody)
	if err != nil {
		return err
	}
	// ParseProfile takes null for the empty profile; here it is more likely a
	// client's mistake, and it would wipe what is stored.
	if i := skipSpace(body, 0); i == len(body) || body[i] != '{' {
		return fmt.Errorf("%w: the body must be a JSON object", errBadRequest)
	}
	p, err := feed.ParseProfile(body)
	if err != nil {
		return err
	}
	err = s.profileWork(c, func(ctx context.Context) error {
		if err := s.deps.Profiles.PutProfile(ctx, agent, p); err != nil || p.MutedItems != nil {
			return err
		}
		// Those that are stored have stayed, and the answer tells them.
		stored, err := s.deps.Profiles.Profile(ctx, agent)
		p.MutedItems = stored.MutedItems
		if errors.Is(err, catalog.ErrNotFound) { // deleted since
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.succeed(p)
}

// getProfile answers GET /v1/agents/{agent_id}/profile.
func (s *server) getProfile(c *call) error {
	agent, err := s.profileAgent(c)
	if err != nil {
		return err
	}
	var p feed.Profile
	err = s.profileWork(c, func(ctx context.Context) (err error) {
		p, err = s.deps.Profiles.Profile(ctx, agent)
		return err
	})
	if err != nil {
		return err
	}
	return c.succeed(p)
}

// deleteProfile answers DELETE /v1/agents/{agent_id}/profile.
func (s *server) deleteProfile(c *call) error {
	agent, err := s.profileAgent(c)
	if err != nil {
		return err
	}
	err = s.profileWork(c, func(ctx context.Context) error { return s.deps.Profiles.RemoveProfile(ctx, agent) })
	if err != nil {
		return err
	}
	return c.succeed(empty{})
}
