package handler

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

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
