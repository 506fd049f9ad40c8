package server

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/signals/popularity"
)

// unreachable is a catalog that can be made unreachable for one server.
type unreachable struct {
	learning.Store
	away atomic.Bool
}

func (u *unreachable) Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error {
	if u.away.Load() {
		return catalog.ErrUnavailable
	}
	return u.Store.Learn(ctx, agent, change)
}

// TestLearningEraseDropsBufferedEvents erases an agent while another server buffers acts of the
// agent because it cannot reach the catalog: these acts are not learned later. Acts after the
// erasure are.
func TestLearningEraseDropsBufferedEvents(t *testing.T) {
	t.Parallel()
	for name, erase := range map[string]func(a *App, ctx context.Context, agent string) error{
		"learned": func(a *App, ctx context.Context, agent string) error { return a.Engine.ForgetLearned(ctx, agent) },
		"agent":   func(a *App, ctx context.Context, agent string) error { return a.Engine.Forget(ctx, agent) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := at(noon)
			a := open(t, embedded(t), WithClock(now.Now))
			const agent = "u_1"
			items := subjects(4)
			put(t, a, items...)
			require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{items[0].ID, items[1].ID, items[2].ID, items[3].ID}))
			react(t, a, agent, act(events.Click, items[0].ID))
			require.Equal(t, map[string]int{"all-0": 1, subject(0): 1}, clicks(flushedLearning(t, a, agent)))

			docs, err := a.Catalog.Docs(t.Context(), []string{items[1].ID, items[2].ID})
			require.NoError(t, err)
			reached := &unreachable{Store: a.Catalog}
			other := learning.NewBuffer(t.Context(), reached, learning.Config{Config: signals.Config{Timeout: a.cfg.Server.RequestTimeout}, Clock: now.Now})
			t.Cleanup(func() { other.Close(context.Background()) })
			clicked := func(i int) []learning.Act {
				return []learning.Act{{Kind: feed.Clicked, Group: items[i].ID, Doc: docs[i-1]}}
			}
			reached.away.Store(true)
			require.True(t, other.Acted(agent, 0, clicked(1), now.Now()))
			now.Advance(time.Second)
			require.NoError(t, erase(a, t.Context(), agent))
			reached.away.Store(false)
			require.NoError(t, other.Flush(t.Context()))
			assert.Empty(t, clicks(learningOf(t, a, agent)), "the act is from before")
			_, err = a.Engine.Profile(t.Context(), agent)
			require.ErrorIs(t, err, feed.ErrNotFound)

			now.Advance(time.Second)
			require.True(t, other.Acted(agent, 0, clicked(1), now.Now()))
			require.True(t, other.Acted(agent, 0, clicked(2), now.Now()))
			require.NoError(t, other.Flush(t.Context()))
			assert.Equal(t, map[string]int{"all-0": 1, "all-1": 1, subject(1): 1, subject(2): 1}, clicks(learningOf(t, a, agent)))
			require.NoError(t, erase(a, t.Context(), agent), "and again")
			require.NoError(t, erase(a, t.Context(), agent))
			assert.Empty(t, clicks(flushedLearning(t, a, agent)))
		})
	}
}

// TestLearningDuringOutages sends acts while Elasticsearch is down, and then while Redis is:
// accepted acts are learned and count for popularity when the service is back. Sending all acts
// again does not change the learning.
func TestLearningDuringOutages(t *testing.T) {
	t.Parallel()
	cfg, own := ownRedis(t)
	address, err := url.Parse(cfg.Elasticsearch.Addresses[0])
	require.NoError(t, err)
	elastic := newLink(t, address.Host)
	cfg.Elasticsearch.Addresses = []string{"http://" + elastic.l.Addr().String()}
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	const agent, n = "u_1", 12
	items := subjects(n + 1)
	read := items[n].ID // by other readers
	put(t, a, items...)
	var seen []string
	for _, it := range items[:n] {
		seen = append(seen, it.ID)
	}
	require.NoError(t, a.Engine.Seen(t.Context(), agent, seen))
	accepted := map[string]int{}
	acts := func(from, to int) {
		for i := from; i < to; i++ {
			taken, err := a.Engine.React(t.Context(), agent, []engine.Act{act(events.Click, items[i].ID)})
			if err == nil && taken.Accepted == 1 {
				accepted[subject(i)] = 1
			}
		}
	}
	subjectsOf := func(l feed.Learning) map[string]int {
		all := clicks(l)
		delete(all, "all-0")
		delete(all, "all-1")
		return all
	}
	acts(0, 4)
	require.Len(t, accepted, 4)
	waitItemsCached(t, a, seen)
	elastic.set(true)
	acts(4, 8)
	require.Len(t, accepted, 8, "items and profile are cached: acts are accepted while Elasticsearch is away")
	require.True(t, a.popular.Acted("p_1", []popularity.Act{{Item: read}}, noon))
	require.NoError(t, a.popular.Flush(t.Context()), "it is counted in Redis")
	require.Error(t, a.publisher.Flush(t.Context()))
	elastic.set(false)
	require.Equal(t, accepted, subjectsOf(flushedLearning(t, a, agent)))
	testenv.WaitFor(t, func() bool { return a.Flush(t.Context()) == nil }, "what was accepted is counted")
	n2h, _ := popular(t, a, read)
	require.InDelta(t, 1, n2h, 1e-9)

	own.Kill()
	acts(8, n)
	require.True(t, a.popular.Acted("p_2", []popularity.Act{{Item: read}}, noon), "the server holds it")
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // a flush would wait for its full timeout
	defer cancel()
	require.ErrorIs(t, a.popular.Forget(brief, "p_2"), popularity.ErrUnavailable)
	own.Start()
	waitRedisUsed(t, a)
	require.Equal(t, accepted, subjectsOf(flushedLearning(t, a, agent)), "nothing that was accepted is lost, nor counts that was refused")
	testenv.WaitFor(t, func() bool { return a.Flush(t.Context()) == nil }, "what was accepted is counted")
	left, err := a.stores.live.Counts(t.Context(), []string{read})
	require.NoError(t, err)
	require.Equal(t, feed.Counts{}.Add(noon.Unix()), left[read], "this Redis kept nothing; what waited for it counts")
	checkCountsOfItem(t, a, items[n])

	require.NoError(t, a.Engine.Seen(t.Context(), agent, seen), "this Redis kept nothing")
	acts(0, n)
	require.Len(t, accepted, n)
	got := flushedLearning(t, a, agent)
	require.Equal(t, accepted, subjectsOf(got))
	require.Len(t, got.Acts, n)
}

// checkCountsOfItem checks that a click counted for an item survives a newer version of the item,
// but not its deletion.
func checkCountsOfItem(t *testing.T, a *App, it feed.Item) {
	t.Helper()
	it.Title = "A newer version"
	put(t, a, it)
	n2h, _ := popular(t, a, it.ID)
	require.InDelta(t, 1, n2h, 1e-9)
	require.NoError(t, a.Catalog.Remove(t.Context(), it.ID))
	put(t, a, it)
	n2h, _ = popular(t, a, it.ID)
	require.Zero(t, n2h, "a deleted item loses its counts")
	require.True(t, a.popular.Acted("p_2", []popularity.Act{{Item: it.ID}}, noon))
	waitCounted(t, a, it.ID, 0.5)
}

// waitItemsCached waits until Redis has cached the contents of items. It deletes the marks that
// writes leave, which prevent caching for a while.
func waitItemsCached(t *testing.T, a *App, ids []string) {
	t.Helper()
	client := a.clients.redis
	for _, id := range ids {
		require.NoError(t, client.Del(t.Context(), keysOf(a).Item(id)).Err())
	}
	testenv.WaitFor(t, func() bool {
		if _, err := a.Catalog.Docs(t.Context(), ids); err != nil {
			return false
		}
		for _, id := range ids {
			if client.StrLen(t.Context(), keysOf(a).Item(id)).Val() == 0 {
				return false
			}
		}
		return true
	}, "the items to be cached")
}

// TestLearningRedisDisconnectCountsOnce cuts each request to Redis that changes a profile, before
// it is executed, after it, or within its reply: the act counts once.
func TestLearningRedisDisconnectCountsOnce(t *testing.T) {
	t.Parallel()
	direct, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	proxy := faultproxy.Start(t, direct.Host)
	cfg := services(t)
	cfg.Redis.URL = testenv.RedisAt(proxy.Addrs)
	a := open(t, cfg, WithClock(at(noon).Now))
	items := subjects(1)
	put(t, a, items...)
	for _, command := range []string{"set", "evalsha"} {
		for _, kind := range []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within} {
			for _, refuse := range []time.Duration{0, cutRefused} {
				agent := fmt.Sprintf("u_%s_%s_%d", command, kind, refuse)
				require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{items[0].ID}))
				fault := proxy.Arm(faultproxy.Fault{Kind: kind, Refuse: refuse, Match: func(c faultproxy.Command) bool {
					return c.Name() == command && c.Mentions("feed:profile:") && c.Mentions(agent)
				}})
				react(t, a, agent, act(events.Click, items[0].ID))
				assert.Equal(t, map[string]int{"all-0": 1, subject(0): 1}, clicks(flushedLearning(t, a, agent)), agent)
				assert.True(t, fault.Fired(), agent)
				proxy.Disarm(fault)
				p, err := a.Engine.Profile(t.Context(), agent)
				if assert.NoError(t, err, agent) {
					assert.Len(t, clicks(feed.Learning{Features: p.Learned.Features}), 2, "readers find it, too: %s", agent)
				}
			}
		}
	}
}
