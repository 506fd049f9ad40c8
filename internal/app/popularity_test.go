package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
)

// popular is what is known of the readers of an item.
func popular(t *testing.T, a *App, id string) (readers2h, readers2d float64) {
	t.Helper()
	require.NoError(t, a.Flush(t.Context()))
	refreshIndex(t, a)
	x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "somebody", Limit: 1, Item: id})
	require.NoError(t, err)
	require.NotNil(t, x.Item.Popularity, x.Item.Reason)
	p := x.Item.Popularity
	if p.Readers2h != nil {
		readers2h = p.Readers2h.Count
	}
	if p.Readers2d != nil {
		readers2d = p.Readers2d.Count
	}
	return readers2h, readers2d
}

// firstFor is the first item for somebody who has seen nothing.
func firstFor(t *testing.T, a *App, agent string) string {
	t.Helper()
	return ask(t, a, refresh(agent, 3)).Docs[0].ID
}

// TestLivePopularity goes the way of a click: into the next refresh of others,
// over a restart, through a newer version, out with its item.
func TestLivePopularity(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			livesThrough(t, m.config(t))
		})
	}
}

func livesThrough(t *testing.T, cfg configs.Config) {
	now := at(noon)
	a := open(t, cfg, WithClock(now.Now))
	items := authored(30)
	for i := range items {
		items[i].UpdateTime -= int64(i) * 600
	}
	put(t, a, items...)
	read := items[8].ID
	require.Equal(t, items[0].ID, firstFor(t, a, "before"))

	for _, agent := range []string{"u_1", "u_2", "u_3"} {
		require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{read}))
		for _, kind := range []events.Kind{events.Click, events.Like, events.Click, events.Dislike} {
			require.Equal(t, 1, react(t, a, agent, act(kind, read)).Accepted)
		}
	}
	require.Equal(t, 1, react(t, a, "liar", act(events.Click, items[9].ID)).Unshown)
	require.NoError(t, a.Engine.Seen(t.Context(), "grump", []string{items[9].ID}))
	require.Equal(t, 2, react(t, a, "grump", act(events.Dislike, items[9].ID), act(events.Hide, items[9].ID)).Accepted)
	n2h, n2d := popular(t, a, items[9].ID)
	assert.Zero(t, n2h+n2d, "what was not shown, and dislikes and hides, add nothing")
	n2h, n2d = popular(t, a, read)
	assert.InDelta(t, 3, n2h, 1e-9, "each reader once")
	assert.InDelta(t, 3, n2d, 1e-9)
	assert.Equal(t, read, firstFor(t, a, "after"))

	now.Advance(2 * time.Hour)
	n2h, n2d = popular(t, a, read)
	assert.InDelta(t, 1.5, n2h, 1e-9)
	assert.Greater(t, n2d, 2.9)

	require.NoError(t, a.Close(t.Context()))
	a = open(t, cfg, WithClock(now.Now))
	again, _ := popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9, "it survives a restart")
	require.Equal(t, 1, react(t, a, "u_1", act(events.Click, read)).Accepted)
	again, _ = popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9, "and so does who has acted")

	items[8].Title = "A newer version"
	put(t, a, items[8])
	again, _ = popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9)
	require.NoError(t, a.Catalog.Remove(t.Context(), read))
	put(t, a, items[8])
	again, _ = popular(t, a, read)
	assert.Zero(t, again, "a deleted item loses its counts")
	require.Equal(t, 1, react(t, a, "u_1", act(events.Click, read)).Accepted)
	again, _ = popular(t, a, read)
	assert.InDelta(t, 1, again, 1e-9, "and is forgotten by those who acted on it")
}

// TestPopularityOverMonths acts every few weeks for two years: epochs end and
// begin, and what is read at the moment always counts.
func TestPopularityOverMonths(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			livesForMonths(t, m.config(t))
		})
	}
}

func livesForMonths(t *testing.T, cfg configs.Config) {
	now := at(noon)
	a := open(t, cfg, WithClock(now.Now))
	items := authored(5)
	put(t, a, items...)
	for month := range 24 {
		agent := "u_" + string(rune('a'+month))
		require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{items[3].ID}))
		require.Equal(t, 1, react(t, a, agent, act(events.Like, items[3].ID)).Accepted)
		n2h, n2d := popular(t, a, items[3].ID)
		require.InDelta(t, 1, n2h, 1e-6)
		require.InDelta(t, 1, n2d, 1e-3)
		now.Advance(31 * 24 * time.Hour)
	}
	require.Equal(t, items[3].ID, func() string {
		require.NoError(t, a.Engine.Seen(t.Context(), "last", []string{items[3].ID}))
		react(t, a, "last", act(events.Like, items[3].ID))
		popular(t, a, items[3].ID)
		return firstFor(t, a, "nobody")
	}())
}
