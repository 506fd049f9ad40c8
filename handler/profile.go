package handler

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/terms"
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

// mutedRoutes are single steps of what a profile mutes.
func (s *server) mutedRoutes(route router) {
	for list, of := range map[string]func(*feed.Profile) *[]string{
		"authors": func(p *feed.Profile) *[]string { return &p.MutedAuthors },
		"tags":    func(p *feed.Profile) *[]string { return &p.MutedTags },
	} {
		s.mutedList(route, list, func(p *feed.Profile, value string) (bool, error) {
			muted := of(p)
			if slices.ContainsFunc(*muted, sameAs(list, value)) {
				return false, nil
			}
			if len(*muted) >= feed.MaxMutes {
				return false, feed.Errorf(feed.ErrLimit, "%d %s are muted, more are not allowed; unmute one first", feed.MaxMutes, list)
			}
			*muted = append(slices.Clip(*muted), value)
			return true, nil
		}, of)
	}
	s.mutedList(route, "items", func(p *feed.Profile, value string) (bool, error) {
		return p.Hide([]string{value}), nil
	}, func(p *feed.Profile) *[]string { return &p.MutedItems })
}

// sameAs finds the value in a list. Of a tag each spelling is the same.
func sameAs(list, value string) func(one string) bool {
	return func(one string) bool { return one == value || list == "tags" && terms.Same(one, value) }
}

// mutedList has the routes of one list. Values may have slashes.
func (s *server) mutedList(route router, list string, mute func(p *feed.Profile, value string) (bool, error), of func(*feed.Profile) *[]string) {
	const agent = "/v1/agents/:agent_id/muted/"
	unmute := func(p *feed.Profile, value string) (bool, error) {
		muted := of(p)
		if !slices.ContainsFunc(*muted, sameAs(list, value)) {
			return false, nil
		}
		*muted = slices.DeleteFunc(slices.Clone(*muted), sameAs(list, value))
		return true, nil
	}
	valid := func(value string) error {
		var p feed.Profile
		*of(&p) = []string{value}
		return p.Validate()
	}
	one := strings.TrimSuffix(list, "s")
	route(http.MethodPut, agent+list+"/*"+one, s.changeMuted(one, valid, mute))
	route(http.MethodDelete, agent+list+"/*"+one, s.changeMuted(one, valid, unmute))
}

// changeMuted answers PUT and DELETE /v1/agents/{agent_id}/muted/….
func (s *server) changeMuted(param string, valid func(value string) error, step func(p *feed.Profile, value string) (bool, error)) func(*call) error {
	return func(c *call) error {
		agent, err := s.profileAgent(c)
		if err != nil {
			return err
		}
		value := strings.TrimPrefix(c.gin.Param(param), "/")
		if value == "" {
			return fmt.Errorf("%w: the path ends without the %s", feed.ErrInvalid, param)
		}
		if err := valid(value); err != nil {
			return err
		}
		return s.change(c, func(ctx context.Context) (changed bool, err error) {
			_, err = s.deps.Profiles.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
				changed, err = step(p, value)
				return changed, err
			})
			return changed, err
		})
	}
}
