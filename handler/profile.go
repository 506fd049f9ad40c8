package handler

import (
	"context"
	"strconv"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// profileAgent returns the agent that the path names, after checking that the
// caller may use its profile.
func (s *server) profileAgent(c *call) (string, error) {
	agent := c.gin.Param("agent_id")
	caller, err := s.auth.profile(c.gin.Request, agent)
	c.agent = caller
	if caller != "" {
		// Before the error, so that attempts at other agents' profiles are limited.
		if limited := s.rates.take(caller); limited != nil {
			return "", limited
		}
	}
	if err != nil {
		return "", err
	}
	return agent, feed.CheckAgentID(agent)
}

// putProfile answers PUT /v1/agents/{agent_id}/profile with the profile as it
// is stored.
func (s *server) putProfile(c *call) error {
	return s.writeProfile(c, func(body []byte) (func(*feed.Profile) error, error) {
		p, err := feed.ParseProfile(body)
		return func(stored *feed.Profile) error {
			stored.Replace(p)
			return nil
		}, err
	})
}

// patchProfile answers PATCH /v1/agents/{agent_id}/profile with the profile as it
// is stored.
func (s *server) patchProfile(c *call) error {
	return s.writeProfile(c, catalog.ProfilePatch)
}

// writeProfile changes the profile by what parse makes of the body, where it is
// still the one that the caller means.
func (s *server) writeProfile(c *call, parse func(body []byte) (func(*feed.Profile) error, error)) error {
	agent, err := s.profileAgent(c)
	if err != nil {
		return err
	}
	match, err := matching(c.gin.Request)
	if err != nil {
		return err
	}
	body, err := c.readBody(MaxProfileBody)
	if err != nil {
		return err
	}
	change, err := parse(body)
	if err != nil {
		return err
	}
	p, err := result(c, s.gated, func(ctx context.Context) (feed.Profile, error) {
		return s.deps.Profiles.EditProfile(ctx, agent, func(stored *feed.Profile) (bool, error) {
			if err := match(*stored); err != nil {
				return false, err
			}
			return true, change(stored)
		})
	})
	if err != nil {
		return err
	}
	return c.succeedProfile(p, p)
}

// succeedProfile answers data, with the profile's ETag.
func (c *call) succeedProfile(p feed.Profile, data any) error {
	tag, err := profileTag(p)
	if err != nil {
		return err
	}
	c.gin.Writer.Header()["Etag"] = []string{tag}
	return c.succeed(data)
}

// getProfile answers GET /v1/agents/{agent_id}/profile.
func (s *server) getProfile(c *call) error {
	agent, err := s.profileAgent(c)
	if err != nil {
		return err
	}
	p, err := result(c, s.gated, func(ctx context.Context) (feed.Profile, error) { return s.deps.Profiles.Profile(ctx, agent) })
	if err != nil {
		return err
	}
	learned := s.deps.Profiles.Learned(agent, &p)
	for i := range learned {
		learned[i].Score = significant(learned[i].Score)
		learned[i].Factor = min(significant(learned[i].Factor), 0.9999) // 1 would be none
	}
	return c.succeedProfile(p, api.AgentProfile{Profile: p, Learned: learned})
}

// significant rounds to four significant digits, as figures are shown.
func significant(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return rounded
}

// deleteAgent answers DELETE /v1/agents/{agent_id}.
func (s *server) deleteAgent(c *call) error {
	c.personal = true
	agent, err := s.own(c, "agent_id")
	if err != nil {
		return err
	}
	return c.done(s.gated, func(ctx context.Context) error {
		if s.deps.Social != nil { // first what others can see
			if err := s.deps.Social.Store.EraseAgent(ctx, agent); err != nil {
				return err
			}
		}
		if err := s.deps.Works.Erase(ctx, agent); err != nil {
			return err
		}
		return s.deps.Profiles.Forget(ctx, agent)
	})
}
