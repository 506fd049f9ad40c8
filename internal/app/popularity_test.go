package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/popularity"
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
	cfg.Ranking.Popularity.Weight = 1
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
	uploaded := items[20].ID
	report, err := catalog.NewIngest(a.Catalog, catalog.IngestConfig{}).Counts(t.Context(),
		strings.NewReader(fmt.Sprintf(`[{"id":%q,"likes":2},{"id":%q,"likes":1000000000}]`, read, uploaded)))
	require.NoError(t, err)
	require.Equal(t, 2, report.Accepted)
	again, _ = popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9, "counts of another system leave it alone")
	assert.Equal(t, uploaded, firstFor(t, a, "counted"), "and are in force")
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

// TestPopularityOfTwoServers adds up what two servers are told, and ranks by it on
// both.
func TestPopularityOfTwoServers(t *testing.T) {
	t.Parallel()
	cfg, now := services(t), at(noon)
	a := open(t, cfg, WithClock(now.Now))
	cfg.DataDir = t.TempDir()
	b := open(t, cfg, WithClock(now.Now))
	items := authored(5)
	put(t, a, items...)
	for i, server := range []*App{a, b, a, b} {
		agent := fmt.Sprint("u_", i/2*2) // each agent tells both servers
		require.NoError(t, server.Engine.Seen(t.Context(), agent, []string{items[2].ID}))
		require.Equal(t, 1, react(t, server, agent, act(events.Click, items[2].ID)).Accepted)
	}
	popular(t, b, items[2].ID)
	for _, server := range []*App{a, b} {
		n2h, _ := popular(t, server, items[2].ID)
		assert.InDelta(t, 2, n2h, 1e-9)
	}

	// A server publishes by itself.
	require.NoError(t, a.Engine.Seen(t.Context(), "u_9", []string{items[2].ID}))
	require.Equal(t, 1, react(t, a, "u_9", act(events.Like, items[2].ID)).Accepted)
	require.Eventually(t, func() bool {
		refreshIndex(t, b)
		x, err := b.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "somebody", Limit: 1, Item: items[2].ID})
		require.NoError(t, err)
		return x.Item.Popularity.Readers2h.Count > 2.5
	}, time.Minute, 50*time.Millisecond)
}

// TestErasedAgentsActs erases an agent over HTTP: nothing is remembered of what it has
// clicked and liked, and what it added to counts stays.
func TestErasedAgentsActs(t *testing.T) {
	t.Parallel()
	for _, m := range []mode{{"embedded", embedded}, {"services", withPostgres}} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			cfg.Auth.AdminToken = "test-admin-token-of-enough-length"
			a := open(t, cfg, WithClock(at(noon).Now))
			items := authored(5)
			put(t, a, items...)
			read := items[2].ID
			click := func(agent string) {
				require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{read}))
				require.Equal(t, 1, react(t, a, agent, act(events.Click, read)).Accepted)
			}
			readers := func() float64 {
				n2h, _ := popular(t, a, read)
				return n2h
			}
			erase := func(agent string) {
				r := httptest.NewRequest(http.MethodDelete, "/v1/agents/"+agent, nil)
				r.Header.Set("Authorization", "Bearer "+cfg.Auth.AdminToken)
				w := httptest.NewRecorder()
				a.Handler.ServeHTTP(w, r)
				require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			}
			click("u_1")
			click("u_2")
			require.InDelta(t, 2, readers(), 1e-9)
			erase("u_1")
			require.InDelta(t, 2, readers(), 1e-9)
			click("u_2")
			require.InDelta(t, 2, readers(), 1e-9, "others are remembered")
			click("u_1")
			require.InDelta(t, 3, readers(), 1e-9, "nobody knows any more that it has clicked")
			click("u_3")
			erase("u_3") // while its click waits to be counted
			click("u_3")
			require.InDelta(t, 5, readers(), 1e-9)
			erase("nobody")
		})
	}
}

// TestDoctorOnLivePopularity says where it is off, and why.
func TestDoctorOnLivePopularity(t *testing.T) {
	t.Parallel()
	own := configs.Default()
	own.Recall.Backend, own.Catalog.Backend = configs.RecallElastic, configs.CatalogElastic
	own.Dedup.Backend = configs.DedupRedisBloom
	assert.Empty(t, livePopularity(own))
	own.Elasticsearch.ManageIndex = false
	assert.Contains(t, livePopularity(own), "names no fields")
	f := &own.Elasticsearch.Fields
	f.Sum2h, f.Epoch2h, f.Sum2d, f.Epoch2d = "a", "b", "c", "d"
	assert.Empty(t, livePopularity(own))
	own.Dedup.Backend = configs.DedupMemory
	assert.Contains(t, livePopularity(own), "needs Redis")
	assert.Empty(t, livePopularity(configs.Default()))

	cfg := services(t)
	cfg.Elasticsearch.ManageIndex = false
	said := ""
	for _, f := range Doctor(t.Context(), cfg, false) {
		if f.What == "live popularity" {
			said = f.Detail
		}
	}
	assert.Contains(t, said, "off: elasticsearch.manage_index is false")
}

// TestPopularityWhileServicesAreDown clicks while Elasticsearch is away, and then while
// Redis is. What was accepted counts once they are back.
func TestPopularityWhileServicesAreDown(t *testing.T) {
	t.Parallel()
	cfg, redis := ownRedis(t)
	address, err := url.Parse(cfg.Elasticsearch.Addresses[0])
	require.NoError(t, err)
	elastic := newLink(t, address.Host)
	cfg.Elasticsearch.Addresses = []string{"http://" + elastic.l.Addr().String()}
	a := open(t, cfg, WithClock(at(noon).Now))
	items := authored(5)
	put(t, a, items...)
	read := items[1].ID
	elastic.set(true)
	require.True(t, a.popular.Acted("u_1", []string{read}, noon))
	require.NoError(t, a.popular.Flush(t.Context()), "it is counted in Redis")
	require.Error(t, a.publisher.Flush(t.Context()))
	elastic.set(false)
	require.Eventually(t, func() bool { return a.Flush(t.Context()) == nil }, time.Minute, 50*time.Millisecond)
	n2h, _ := popular(t, a, read)
	assert.InDelta(t, 1, n2h, 1e-9)

	redis.Kill()
	require.True(t, a.popular.Acted("u_2", []string{read}, noon), "the server holds it")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, a.popular.Forget(ctx, "u_2"), popularity.ErrUnavailable)
	redis.Start()
	require.Eventually(t, func() bool { return a.Flush(t.Context()) == nil }, time.Minute, 50*time.Millisecond)
	left, err := a.stores.live.Counts(t.Context(), []string{read})
	require.NoError(t, err)
	assert.Equal(t, feed.Counts{}.Add(noon.Unix()), left[read], "this Redis kept nothing; what waited for it counts")
}
