package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

type promotions struct {
	byItem map[string][]string
	until  time.Time
	agents []string
}

func (p *promotions) Chosen(agent string, _ *feed.Profile, item string, at time.Time) (string, bool) {
	p.agents = append(p.agents, agent)
	if ids := p.byItem[item]; len(ids) > 0 && at.Before(p.until) {
		return ids[0], true
	}
	return "", false
}

func (p *promotions) About(item string) []string { return p.byItem[item] }

func TestMetricsPromoted(t *testing.T) {
	p := &promotions{byItem: map[string][]string{"i001": {"p", "q"}, "i002": {"r"}}, until: rankedAt.Add(time.Hour)}
	r := newRig(t, 30, func(s *engine.Stores, _ *engine.Config) { s.Promotions = p })
	ref := func(id string, source feed.Source) feed.Ref { return feed.Ref{ID: id, Group: id, Source: source} }
	stored := []feed.Ref{
		ref("i001", feed.SourcePromoted), ref("i002", feed.SourceDiscovery), ref("i003", feed.SourcePromoted), ref("gone", feed.SourcePromoted),
	}
	require.NoError(t, r.stores.Sessions.Restore(t.Context(), "u_1", stored, cache.Call{}))
	more := engine.Request{Agent: "u_1", Action: engine.ActionLoadMore, Limit: 4, RequestID: "again"}
	for range 2 {
		got := r.ask(t, more)
		assert.Equal(t, []string{"i001", "i002", "i003"}, docIDs(got)[:3])
		assert.Equal(t, []feed.Source{feed.SourcePromoted, feed.SourceDiscovery, feed.SourcePromoted}, sources(got)[:3])
	}
	shown := []events.Event{events.Promoted("p", "u_1", "i001")}
	assert.Equal(t, shown, r.tally.promoted, "a page that is answered again is not counted again")
	assert.Equal(t, []string{"u_1", "u_1"}, p.agents, "only what is there because it is promoted")

	acts := func() []events.Event { // returns the events of promotions
		return slices.DeleteFunc(slices.Clone(r.tally.after), func(e events.Event) bool { return !strings.HasPrefix(e.Field, "promoted") })
	}
	_, err := r.react(t, events.Click, "i001", "i003", "i020")
	require.NoError(t, err)
	assert.Equal(t, []events.Event{events.PromotedAct(events.Click, "p", "u_1", "i001"), events.PromotedAct(events.Click, "q", "u_1", "i001")}, acts(),
		"the store knows by which it was shown")
	for _, kind := range []events.Kind{events.Like, events.Dislike, events.Hide} {
		_, err = r.react(t, kind, "i002")
		require.NoError(t, err)
	}
	assert.Equal(t, events.PromotedAct(events.Like, "r", "u_1", "i002"), acts()[2])
	assert.Len(t, acts(), 3, "clicks and likes")

	p.until = rankedAt
	require.NoError(t, r.stores.Sessions.Restore(t.Context(), "u_2", stored, cache.Call{}))
	r.ask(t, engine.Request{Agent: "u_2", Action: engine.ActionLoadMore, Limit: 4})
	assert.Len(t, r.tally.promoted, 1, "what has ended is not counted")
}
