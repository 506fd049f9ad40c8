package handler

import (
	"context"
	"errors"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
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
	agent, err := s.profileAgent(c)
	if err != nil {
		return err
	}
	body, err := c.readBody(MaxProfileBody)
	if err != nil {
		return err
	}
	p, err := feed.ParseProfile(body)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		if err := s.deps.Profiles.PutProfile(ctx, agent, p); err != nil || p.MutedItems != nil {
			return p, err
		}
		// The stored ones are kept and part of the answer.
		stored, err := s.deps.Profiles.Profile(ctx, agent)
		p.MutedItems = stored.MutedItems
		if errors.Is(err, feed.ErrNotFound) { // deleted since
			return p, nil
		}
		return p, err
	})
}

// known is a profile with what was learned beside it.
type known struct {
	feed.Profile
	Learned []recall.LearnedGain `json:"learned,omitempty"`
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
	return c.succeed(known{p, learned})
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
		return s.deps.Profiles.Forget(ctx, agent)
	})
}
