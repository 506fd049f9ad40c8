package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/signals/events"
)

// lively returns what an explanation by a server says about the popularity of an item.
func lively(t *testing.T, a *App, id string) *api.Popularity {
	t.Helper()
	popular(t, a, id) // flushes
	x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "somebody", Limit: 1, Item: id})
	require.NoError(t, err)
	return x.Item.Popularity
}

// TestHalfLives adds a half-life to a running system, one server after the other, and removes it again.
func TestHalfLives(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(*testing.T) configs.Config{
		"embedded": func(t *testing.T) configs.Config { cfg := embedded(t); cfg.DataDir = t.TempDir(); return cfg },
		"services": func(t *testing.T) configs.Config { return services(t) },
		"copy": func(t *testing.T) configs.Config {
			cfg := services(t)
			cfg.Recall.From = configs.FromMemory
			return cfg
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testHalfLives(t, settings(t))
		})
	}
}

func testHalfLives(t *testing.T, cfg configs.Config) {
	now := at(noon)
	items := authored(10)
	read := items[4].ID
	click := func(a *App, agent string) {
		require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{read}))
		require.Equal(t, 1, react(t, a, agent, act(events.Click, read)).Accepted)
	}
	weigh := func(a *App, changes string) error {
		_, err := a.ranking.Change(t.Context(), ranking.Change{By: "a", Edit: func(r *feed.Ranking) (err error) {
			*r, err = r.With(changes)
			return err
		}})
		return err
	}
	without := open(t, cfg, WithClock(now.Now))
	put(t, without, items...)
	click(without, "u_1")
	require.ErrorContains(t, weigh(without, "weight_1h=2"), "unless the setting popularity.half_lives has 1h")
	require.Nil(t, lively(t, without, read).Readers1h)
	require.NoError(t, without.Close(t.Context()))

	cfg.Popularity.HalfLives = []string{"1h", "2h", "2d"}
	a := open(t, cfg, WithClock(now.Now))
	require.NoError(t, weigh(a, "weight_1h=2"))
	require.ErrorContains(t, weigh(a, "weight_7d=2"), "unless the setting popularity.half_lives has 7d")
	click(a, "u_2")
	click(a, "u_3")
	got := lively(t, a, read)
	assert.InDelta(t, 3, got.Readers2h.Count, 1e-9)
	require.NotNil(t, got.Readers1h, "%+v", got)
	assert.InDelta(t, 2, got.Readers1h.Count, 1e-9, "it begins at zero")
	assert.InDelta(t, 2*feed.LogCount(2), got.Readers1h.Adds, 1e-9)
	assert.Nil(t, got.Readers7d)
	now.Advance(time.Hour)
	got = lively(t, a, read)
	assert.InDelta(t, 1, got.Readers1h.Count, 1e-9)
	_, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "somebody", Limit: 1, Ranking: &feed.Ranking{Base: 1, PopularityMore: feed.PerHalfLife{0, 1}}})
	require.ErrorIs(t, err, feed.ErrInvalid)
	require.NoError(t, a.Close(t.Context()))

	a = open(t, cfg, WithClock(now.Now))
	assert.InDelta(t, 1, lively(t, a, read).Readers1h.Count, 1e-9, "it survives a restart")
	require.NoError(t, a.Close(t.Context()))

	cfg.Popularity.HalfLives = []string{"2h", "2d"}
	a = open(t, cfg, WithClock(now.Now))
	click(a, "u_4")
	got = lively(t, a, read)
	assert.Nil(t, got.Readers1h, "one that is removed counts no more")
	assert.InDelta(t, 1+3*0.7071067811865476, got.Readers2h.Count, 1e-9)
	require.NoError(t, weigh(a, "weight=0.5"), "the rest of the ranking can still be changed")
	require.NoError(t, weigh(a, "weight_1h=0"))
}
