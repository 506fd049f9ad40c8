package handler

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// mutedRoutes adds routes that change single mutes of a profile. Values may contain slashes.
func (s *server) mutedRoutes(route router) {
	for _, list := range []mutedList{"authors", "tags", "items", "words"} {
		path := "/v1/agents/:agent_id/muted/" + string(list) + "/*" + list.one()
		route(http.MethodPut, path, s.changeUntil(s.owner("agent_id"), s.mute(list)))
		route(http.MethodDelete, path, s.change(s.owner("agent_id"), s.unmute(list)))
	}
	route(http.MethodGet, "/v1/agents/:agent_id/muted/items", serveInput(s.gated, s.owner("agent_id"), query(mutedQuery{Limit: engine.DefaultLimit}), s.getMutedItems))
}

// changeUntil is [server.change] for a mute, which may have an end; zero means none.
func (s *server) changeUntil(who subject, do func(ctx context.Context, c *call, who string, until time.Time) (bool, error)) func(*call) error {
	return serveInput(s.gated, who, s.until, func(ctx context.Context, c *call, who string, until *time.Time) (any, error) {
		is, err := do(ctx, c, who, *until)
		return changed{is}, err
	})
}

// until reads the end of a mute.
func (s *server) until(c *call) (*time.Time, error) {
	var ask struct {
		Until queryText `json:"until"`
	}
	var end time.Time
	if err := c.decodeQuery(&ask); err != nil || ask.Until == "" {
		return &end, err
	}
	end, err := time.Parse(time.RFC3339, string(ask.Until))
	if err != nil {
		return &end, feed.Errorf(feed.ErrInvalid, "until=%.64q is not a time like 2026-03-06T10:00:00Z; in an offset, write + as %%2B", ask.Until)
	}
	end = end.UTC()
	if !end.After(s.cfg.Clock()) {
		return &end, feed.Errorf(feed.ErrInvalid, "until=%.64s is not in the future; leave it out to mute without an end", ask.Until)
	}
	return &end, feed.CheckMuteEnd(end)
}

// mutedList names a list of mutes of a profile: authors, tags, items or words.
type mutedList string

// one returns what the list has several of, which is also the parameter of its path.
func (l mutedList) one() string { return strings.TrimSuffix(string(l), "s") }

// of returns the list of a profile, other than that of words, and the ends of its mutes.
func (l mutedList) of(p *feed.Profile) (list *[]string, ends *map[string]time.Time) {
	switch l {
	case "authors":
		return &p.MutedAuthors, &p.MutedUntil.Authors
	case "tags":
		return &p.MutedTags, &p.MutedUntil.Tags
	}
	return &p.MutedItems, &p.MutedUntil.Items
}

// same reports whether two values are the same: tags are in any spelling.
func (l mutedList) same(a, b string) bool { return a == b || l == "tags" && terms.Same(a, b) }

// value reads the value at the end of the path.
func (l mutedList) value(c *call) (string, error) {
	value := strings.TrimPrefix(c.gin.Param(l.one()), "/")
	if value == "" {
		return "", fmt.Errorf("%w: the path lacks the %s at its end", feed.ErrInvalid, l.one())
	}
	if l == "words" {
		return value, feed.CheckMutedWord(value)
	}
	var alone feed.Profile
	list, _ := l.of(&alone)
	*list = []string{value}
	return value, alone.Validate()
}

func (l mutedList) mute(p *feed.Profile, value string, until time.Time) (changed bool, err error) {
	if l == "words" {
		return p.MuteWord(value, until)
	}
	list, ends := l.of(p)
	values := []string{value}
	there := slices.DeleteFunc(slices.Clone(*list), func(one string) bool { return !l.same(one, value) })
	switch {
	case len(there) > 0:
		values = there
		changed = slices.ContainsFunc(there, func(one string) bool { return !(*ends)[one].Equal(until) })
	case l == "items":
		changed, err = p.MuteItems([]string{value})
	case len(*list) >= feed.MaxMutes:
		err = feed.Errorf(feed.ErrLimit, "the limit of %d muted %s is reached; unmute one first", feed.MaxMutes, l)
	default:
		*list, changed = append(slices.Clip(*list), value), true
	}
	if changed {
		endAt(ends, values, until)
	}
	return changed, err
}

// endAt sets the end of mutes, in a copy of the map; zero removes it.
func endAt(ends *map[string]time.Time, values []string, until time.Time) {
	all := maps.Clone(*ends)
	for _, value := range values {
		delete(all, value)
		if !until.IsZero() {
			if all == nil {
				all = map[string]time.Time{}
			}
			all[value] = until
		}
	}
	if len(all) == 0 {
		all = nil
	}
	*ends = all
}

func (l mutedList) unmute(p *feed.Profile, values []string) (changed bool) {
	if l == "words" {
		return p.UnmuteWord(values[0])
	}
	list, ends := l.of(p)
	var kept, gone []string
	for _, one := range *list {
		if slices.ContainsFunc(values, func(value string) bool { return l.same(one, value) }) {
			gone = append(gone, one)
		} else {
			kept = append(kept, one)
		}
	}
	if kept == nil && l == "items" {
		kept = []string{} // otherwise the stored ones stay
	}
	*list = kept
	endAt(ends, gone, time.Time{})
	return len(gone) > 0
}

// mute answers PUT /v1/agents/{agent_id}/muted/….
func (s *server) mute(list mutedList) func(ctx context.Context, c *call, agent string, until time.Time) (bool, error) {
	return func(ctx context.Context, c *call, agent string, until time.Time) (changed bool, err error) {
		value, err := list.value(c)
		if err != nil {
			return false, err
		}
		_, err = s.deps.Engine.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
			changed, err = list.mute(p, value, until)
			return changed, err
		})
		return changed, err
	}
}

// unmute answers DELETE /v1/agents/{agent_id}/muted/…. Of an item it also unmutes the group, which a
// hide has muted with it.
func (s *server) unmute(list mutedList) func(ctx context.Context, c *call, agent string) (bool, error) {
	return func(ctx context.Context, c *call, agent string) (changed bool, err error) {
		value, err := list.value(c)
		if err != nil {
			return false, err
		}
		values := []string{value}
		if list == "items" {
			values, err = s.deps.Engine.HiddenWith(ctx, value)
			if err != nil {
				return false, err
			}
		}
		_, err = s.deps.Engine.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
			changed = list.unmute(p, values)
			return changed, nil
		})
		return changed, err
	}
}
