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

// profileChange is a change of a profile, applied only if match accepts the stored one.
type profileChange struct {
	match func(stored feed.Profile) error
	make  func(*feed.Profile) error
}

// readChange reads the change of a profile by PUT or PATCH.
func readChange(c *call) (*profileChange, error) {
	match, err := matching(c.gin.Request)
	if err != nil {
		return nil, err
	}
	body, err := c.readBody(MaxProfileBody)
	if err != nil {
		return nil, err
	}
	parse := replaceProfile
	if c.gin.Request.Method == http.MethodPatch {
		parse = catalog.ProfilePatch
	}
	change, err := parse(body)
	return &profileChange{match, change}, err
}

// replaceProfile is the change of PUT.
func replaceProfile(body []byte) (func(*feed.Profile) error, error) {
	p, err := feed.ParseProfile(body)
	return func(stored *feed.Profile) error {
		stored.Replace(p)
		return nil
	}, err
}

// editProfile answers PUT and PATCH /v1/agents/{agent_id}/profile with the stored profile.
func (s *server) editProfile(ctx context.Context, _ *call, agent string, change *profileChange) (any, error) {
	p, err := s.deps.Engine.EditProfile(ctx, agent, func(stored *feed.Profile) (bool, error) {
		if err := change.match(*stored); err != nil {
			return false, err
		}
		return true, change.make(stored)
	})
	return taggedProfile{p, p}, err
}

// taggedProfile is an answer with the profile's ETag.
type taggedProfile struct {
	feed.Profile
	data any
}

func (p taggedProfile) send(c *call) error {
	tag, err := profileTag(p.Profile)
	if err != nil {
		return err
	}
	c.gin.Writer.Header()["Etag"] = []string{tag}
	return c.succeed(p.data)
}

// getProfile answers GET /v1/agents/{agent_id}/profile.
func (s *server) getProfile(ctx context.Context, _ *call, agent string) (any, error) {
	p, err := s.deps.Engine.Profile(ctx, agent)
	if err != nil {
		return nil, err
	}
	learned := s.deps.Engine.Learned(agent, &p)
	for i := range learned {
		learned[i].Score = significant(learned[i].Score)
		learned[i].Factor = min(significant(learned[i].Factor), 0.9999) // 1 would mean no effect
	}
	return taggedProfile{p, api.AgentProfile{Profile: p, Learned: learned}}, nil
}

// significant rounds to four significant digits for display.
func significant(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return rounded
}

// deleteAgent answers DELETE /v1/agents/{agent_id}.
func (s *server) deleteAgent(ctx context.Context, agent string) error {
	if s.deps.Social != nil { // first the data visible to others
		if err := s.deps.Social.Store.EraseAgent(ctx, agent); err != nil {
			return err
		}
	}
	if err := s.deps.AuthorItems.Erase(ctx, agent); err != nil {
		return err
	}
	return s.deps.Engine.Forget(ctx, agent)
}

// mutedRoutes adds routes that change single mutes of a profile. Values may contain slashes.
func (s *server) mutedRoutes(route router) {
	for _, list := range []mutedList{"authors", "tags", "items"} {
		path := "/v1/agents/:agent_id/muted/" + string(list) + "/*" + list.one()
		change := s.changeMuted(list)
		route(http.MethodPut, path, change)
		route(http.MethodDelete, path, change)
	}
}

// mutedList names a list of mutes of a profile: authors, tags or items.
type mutedList string

// one returns what the list has several of, which is also the parameter of its path.
func (l mutedList) one() string { return strings.TrimSuffix(string(l), "s") }

// of returns the list of a profile.
func (l mutedList) of(p *feed.Profile) *[]string {
	switch l {
	case "authors":
		return &p.MutedAuthors
	case "tags":
		return &p.MutedTags
	}
	return &p.MutedItems
}

// same reports whether two values are the same: tags are in any spelling.
func (l mutedList) same(a, b string) bool { return a == b || l == "tags" && terms.Same(a, b) }

func (l mutedList) mute(p *feed.Profile, value string) (changed bool, err error) {
	muted := l.of(p)
	switch {
	case l == "items":
		return p.MuteItems([]string{value})
	case slices.ContainsFunc(*muted, func(one string) bool { return l.same(one, value) }):
		return false, nil
	case len(*muted) >= feed.MaxMutes:
		return false, feed.Errorf(feed.ErrLimit, "the limit of %d muted %s is reached; unmute one first", feed.MaxMutes, l)
	}
	*muted = append(slices.Clip(*muted), value)
	return true, nil
}

func (l mutedList) unmute(p *feed.Profile, values []string) (changed bool) {
	muted := l.of(p)
	before := len(*muted)
	*muted = slices.DeleteFunc(slices.Clone(*muted), func(one string) bool {
		return slices.ContainsFunc(values, func(value string) bool { return l.same(one, value) })
	})
	if len(*muted) == 0 && l != "items" {
		*muted = nil // an empty list would be written
	}
	return len(*muted) < before
}

// changeMuted answers PUT and DELETE /v1/agents/{agent_id}/muted/…. A DELETE of an item also unmutes
// its group, which a hide has muted with it.
func (s *server) changeMuted(list mutedList) func(*call) error {
	return s.change(s.owner("agent_id"), func(ctx context.Context, c *call, agent string) (changed bool, err error) {
		value := strings.TrimPrefix(c.gin.Param(list.one()), "/")
		if value == "" {
			return false, fmt.Errorf("%w: the path lacks the %s at its end", feed.ErrInvalid, list.one())
		}
		var alone feed.Profile
		*list.of(&alone) = []string{value}
		if err := alone.Validate(); err != nil {
			return false, err
		}
		unmute, values := c.gin.Request.Method == http.MethodDelete, []string{value}
		if unmute && list == "items" {
			values, err = s.deps.Engine.HiddenWith(ctx, value)
			if err != nil {
				return false, err
			}
		}
		_, err = s.deps.Engine.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
			if unmute {
				changed, err = list.unmute(p, values), nil
			} else {
				changed, err = list.mute(p, value)
			}
			return changed, err
		})
		return changed, err
	})
}
