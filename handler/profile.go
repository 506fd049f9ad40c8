package handler

import (
	"fmt"

	"github.com/freshet/freshet/feed"
)

// profileAgent is whose profile the path names, after checking that the caller
// may touch it.
func (s *server) profileAgent(c *call) (string, error) {
	agent := c.gin.Param("agent_id")
	caller, err := s.auth.profile(c.gin.Request, agent)
	c.agent = caller
	if err != nil {
		return "", err
	}
	return agent, feed.CheckAgentID(agent)
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
	ctx, cancel := s.deadline(c)
	defer cancel()
	if err := s.deps.Profiles.PutProfile(ctx, agent, p); err != nil {
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
	ctx, cancel := s.deadline(c)
	defer cancel()
	p, err := s.deps.Profiles.Profile(ctx, agent)
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
	ctx, cancel := s.deadline(c)
	defer cancel()
	if err := s.deps.Profiles.RemoveProfile(ctx, agent); err != nil {
		return err
	}
	return c.succeed(empty{})
}
