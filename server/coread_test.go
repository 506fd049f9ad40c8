package server

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/signals/events"
)

// readsItems lets an agent see and click items.
func readsItems(t *testing.T, a *App, agent string, ids ...string) {
	t.Helper()
	require.NoError(t, a.Engine.Seen(t.Context(), agent, ids))
	acts := make([]engine.Act, len(ids))
	for i, id := range ids {
		acts[i] = act(events.Click, id)
	}
	require.Equal(t, len(ids), react(t, a, agent, acts...).Accepted)
}

// coReadOf returns the factors of an item in an explanation for an agent.
func coReadOf(t *testing.T, a *App, agent, item string) api.Explained {
	t.Helper()
	x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: agent, Limit: 20, Item: item})
	require.NoError(t, err)
	return x.Item.Explained
}

// TestCoReadersFollowClicks: what people have read who have read the same is raised at once, also
// after a restart, and no more once the reader was erased.
func TestCoReadersFollowClicks(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			now, cfg := at(noon), m.config(t)
			cfg.Ranking.Popularity2h, cfg.Ranking.Popularity2d, cfg.Ranking.Explore.Share, cfg.Ranking.CoRead.Weight = 0, 0, 0, 3
			a := open(t, cfg, WithClock(now.Now))
			items := madeItems(60)
			put(t, a, items...)
			refreshIndex(t, a)
			first, then := items[1].ID, items[40].ID
			for i := range 5 {
				readsItems(t, a, fmt.Sprint("other", i), first, then)
				readsItems(t, a, fmt.Sprint("alone", i), items[10+i].ID)
			}
			readsItems(t, a, "u_1", first)
			readsItems(t, a, "u_2", first)
			require.NoError(t, a.Flush(t.Context()))
			told := coReadOf(t, a, "u_1", then)
			require.NotNil(t, told.CoReaders)
			require.NotNil(t, told.CoReaders.Own)
			assert.Greater(t, told.CoReaders.Factor, 2.0)
			assert.InEpsilon(t, told.Relevance.Total*told.Decay*told.Popularity.Factor*told.CoReaders.Factor, told.Score, 1e-4)
			assert.Nil(t, coReadOf(t, a, "nobody", then).CoReaders)
			ask1 := refresh("u_1", 3)
			ask1.Why = true
			got := ask(t, a, ask1)
			assert.Equal(t, then, got.Docs[0].ID)
			assert.Contains(t, got.Why[0], api.Reason{Type: api.ReasonCoRead})

			require.NoError(t, a.Close(t.Context()))
			a = open(t, cfg, WithClock(now.Now))
			assert.Equal(t, told.CoReaders, coReadOf(t, a, "u_2", then).CoReaders, "it survives a restart")
			require.NoError(t, a.Engine.Forget(t.Context(), "u_2"))
			assert.Nil(t, coReadOf(t, a, "u_2", then).CoReaders)
		})
	}
}

// TestCoReadersNewAccounts: ten new accounts that read all that a stranger has read, and then an item,
// move the item further for everybody, by live popularity, than for the stranger by co-readers.
func TestCoReadersNewAccounts(t *testing.T) {
	t.Parallel()
	for reads := range 3 {
		for others := range 3 {
			cfg := embedded(t)
			cfg.Ranking.CoRead.Weight = 3
			a := open(t, cfg, WithClock(at(noon).Now))
			items := madeItems(80)
			put(t, a, items...)
			var read []string
			for i := range 1 + 9*reads {
				read = append(read, items[10+i].ID)
			}
			for i := range 20 * others { // who have read something else
				readsItems(t, a, fmt.Sprint("other", i), items[50+i%20].ID)
			}
			readsItems(t, a, "stranger", read...)
			target := items[5].ID
			for i := range 10 {
				readsItems(t, a, fmt.Sprint("new", i), append(read[:len(read):len(read)], target)...)
			}
			require.NoError(t, a.Flush(t.Context()))
			moved := coReadOf(t, a, "stranger", target)
			t.Logf("%d reads, %d others: co-readers × %.3f, live popularity × %.3f", len(read), 20*others, moved.CoReaders.Factor, moved.Popularity.Factor)
			assert.LessOrEqual(t, moved.CoReaders.Factor, moved.Popularity.Factor+1e-6)
		}
	}
}

// TestCoReadersCounted: co-readers cost a refresh one more pipelined read, and nothing if they are off
// or the reader has read nothing.
func TestCoReadersCounted(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	cfg.Ranking.CoRead.Weight = 3
	a := open(t, cfg, WithClock(at(noon).Now))
	items := madeItems(60)
	put(t, a, items...)
	refreshIndex(t, a)
	for _, agent := range []string{"u_1", "u_2", "u_3"} {
		readsItems(t, a, agent, items[1].ID, items[2].ID)
	}
	require.NoError(t, a.Flush(t.Context()))
	// A write leaves a mark that prevents caching for some seconds.
	clearCache(t, a, "item")
	for _, agent := range []string{"u_2", "u_3", "nobody"} { // caches contents and profiles, and loads scripts
		ask(t, a, refresh(agent, 20))
		ask(t, a, refresh(agent, 20))
	}
	h := &trips{}
	a.clients.redis.AddHook(h)
	h.ask(t, a, refresh("u_2", 5))
	on := len(h.take())
	h.ask(t, a, refresh("nobody", 5))
	assert.Len(t, h.take(), on-1)
	_, err := a.ranking.Change(t.Context(), ranking.Change{By: "test", Why: "off", Edit: func(r *feed.Ranking) error { r.CoRead.Weight = 0; return nil }})
	require.NoError(t, err)
	h.take()
	h.ask(t, a, refresh("u_3", 5))
	assert.Len(t, h.take(), on-1)
}
