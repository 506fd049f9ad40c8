package app

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
)

// The tests of this file take dependencies away from a running system: a real
// Redis that is killed or frozen, and the connections to a real Elasticsearch.

// ownRedis is services mode over a Redis of this test's own.
func ownRedis(t *testing.T) (configs.Config, *testenv.OwnRedis) {
	t.Helper()
	r := testenv.StartRedis(t)
	cfg := services(t)
	cfg.Redis.Addrs = []string{r.Addr}
	brief(&cfg)
	return cfg, r
}

// link is a network between this process and a server that can be cut.
type link struct {
	to    string
	l     net.Listener
	mu    sync.Mutex
	conns map[net.Conn]struct{}
	cut   bool
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	k := &link{to: to, l: l, conns: map[net.Conn]struct{}{}}
	go k.accept()
	t.Cleanup(func() { _ = l.Close(); k.set(true) })
	return k
}

func (k *link) accept() {
	for {
		c, err := k.l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", k.to)
		if err != nil || !k.keep(c, far) {
			_ = c.Close()
			continue
		}
		go func() { _, _ = io.Copy(far, c); _ = far.Close() }()
		go func() { _, _ = io.Copy(c, far); _ = c.Close() }()
	}
}

func (k *link) keep(conns ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cut {
		return false
	}
	for _, c := range conns {
		k.conns[c] = struct{}{}
	}
	return true
}

// set cuts the link, with every connection on it, or restores it.
func (k *link) set(cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = cut
	for c := range k.conns {
		_ = c.Close()
		delete(k.conns, c)
	}
}

// healthy waits until a refresh of an agent of its own is answered in full.
func healthy(t *testing.T, a *App) {
	t.Helper()
	require.Eventually(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), refresh("u_probe", 1))
		// While the breaker lets a few calls try, it refuses those beside them.
		closed := a.clients.redis == nil || a.clients.breaker.breaker.State() == gobreaker.StateClosed
		return err == nil && answer.Degraded == nil && closed
	}, time.Minute, 50*time.Millisecond, "the system does not recover")
}

// TestRedisDown kills and freezes Redis under a reader: the feed goes on,
// repeats nothing this process remembers, and what it delivered meanwhile is in
// a filter once Redis is back, even an empty one.
func TestRedisDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		down, back func(*testenv.OwnRedis)
		forgets    bool // what was recorded before it went down
	}{
		{"killed, back empty", (*testenv.OwnRedis).Kill, (*testenv.OwnRedis).Start, true},
		{"frozen", (*testenv.OwnRedis).Freeze, (*testenv.OwnRedis).Thaw, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, r := ownRedis(t)
			a := open(t, cfg, WithClock(at(noon).Now))
			put(t, a, madeItems(300)...)
			before := ask(t, a, refresh("u_1", 10))
			require.Nil(t, before.Degraded)
			recorded(t, a)

			c.down(r)
			seen := newOnce()
			seen.add(t, "before", ids(before)) // this process remembers
			for range 5 {
				answer := ask(t, a, refresh("u_1", 10))
				assert.Equal(t, []string{"dedup", "session"}, answer.Degraded)
				assert.True(t, answer.HasMore)
				require.Len(t, answer.Docs, 10)
				seen.add(t, "while down", ids(answer))
				answer = ask(t, a, loadMore("u_1", 10))
				assert.Equal(t, []string{"dedup", "session"}, answer.Degraded)
				seen.add(t, "while down", ids(answer))
			}
			badge := ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 10, Silent: true})
			assert.Empty(t, badge.Docs)
			assert.NotNil(t, badge.Degraded)
			state := a.checks.Check(t.Context())["redis"]
			assert.Error(t, state.Err)
			assert.True(t, state.Optional, "failing open, the server stays ready")

			c.back(r)
			if !c.forgets { // the old session is back, and holds what was handed out without it
				require.Eventually(t, func() bool {
					answer, err := a.Engine.Feed(t.Context(), loadMore("u_1", 10))
					if err != nil || answer.Degraded != nil {
						if err == nil {
							seen.add(t, "while coming back", ids(answer))
						}
						return false
					}
					seen.add(t, "the old session", ids(answer))
					return true
				}, 30*time.Second, 50*time.Millisecond)
			}
			healthy(t, a)
			if c.forgets {
				for _, id := range ids(before) {
					delete(seen.seen, id)
				}
			}
			after := ask(t, a, refresh("u_1", 50))
			seen.add(t, "after it came back", ids(after))
			groups := ids(after)[:0:0]
			for id := range seen.seen {
				groups = append(groups, id)
			}
			require.Eventually(t, func() bool {
				out, err := a.stores.dedup.Check(t.Context(), "u_1", groups, noon)
				if err != nil {
					return false
				}
				for _, v := range out.Verdicts {
					if v == dedup.Unseen {
						return false
					}
				}
				return true
			}, 30*time.Second, 50*time.Millisecond, "what was delivered while Redis was down is recorded")
		})
	}
}

// TestRedisDownClosed refuses to answer without dedup, when told so.
func TestRedisDownClosed(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	cfg.Dedup.OnFailure = configs.FailClosed
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(50)...)
	first := ask(t, a, refresh("u_1", 10))
	r.Freeze()
	for _, request := range []engine.Request{refresh("u_1", 10), loadMore("u_1", 10)} {
		_, err := a.Engine.Feed(t.Context(), request)
		require.Error(t, err)
	}
	assert.False(t, a.checks.Check(t.Context())["redis"].Optional, "failing closed, the server is not ready")
	r.Thaw()
	healthy(t, a)
	seen := newOnce()
	seen.add(t, "before", ids(first))
	seen.add(t, "after", ids(ask(t, a, loadMore("u_1", 10))))
}

// TestSpoolSurvivesTheProcess delivers while Redis is down, dies, and starts
// again when Redis is back.
func TestSpoolSurvivesTheProcess(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	healthy(t, a)
	r.Kill()
	delivered := ask(t, a, refresh("u_1", 10))
	require.Equal(t, []string{"dedup", "session"}, delivered.Degraded)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no time to drain anything
	require.NoError(t, a.Close(ctx))

	r.Start()
	b := open(t, cfg, WithClock(at(noon).Now))
	require.Eventually(t, func() bool {
		out, err := b.stores.dedup.Check(t.Context(), "u_1", ids(delivered), noon)
		if err != nil {
			return false
		}
		for _, v := range out.Verdicts {
			if v == dedup.Unseen {
				return false
			}
		}
		return true
	}, 30*time.Second, 20*time.Millisecond)
	seen := newOnce()
	seen.add(t, "before", ids(delivered))
	seen.add(t, "after", ids(ask(t, b, refresh("u_1", 10))))
}

// cutOff is services mode with a link to Elasticsearch that can be cut.
func cutOff(t *testing.T) (configs.Config, *link) {
	t.Helper()
	cfg := services(t)
	u, err := url.Parse(cfg.Elasticsearch.Addresses[0])
	require.NoError(t, err)
	k := newLink(t, u.Host)
	cfg.Elasticsearch.Addresses = []string{"http://" + k.l.Addr().String()}
	return cfg, k
}

func TestElasticsearchDown(t *testing.T) {
	t.Parallel()
	cfg, es := cutOff(t)
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	put(t, a, madeItems(600)...)
	_, err := a.Catalog.Docs(t.Context(), []string{"doc_0000"})
	require.NoError(t, err)
	seen := newOnce()
	first := ask(t, a, refresh("u_1", 10))
	seen.add(t, "before", ids(first))
	for _, agent := range []string{"u_2", "u_3", "u_4"} {
		ask(t, a, refresh(agent, 5))
	}
	mine := feed.Profile{Interests: map[string]float64{"tag-3": 2}}
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_2", mine))
	cacheAll(t, a)

	es.set(true)
	clock.Advance(time.Minute)
	answer := ask(t, a, loadMore("u_1", 10))
	assert.Nil(t, answer.Degraded, "load_more is unaffected while contents are cached")
	seen.add(t, "load_more", ids(answer))
	answer = ask(t, a, refresh("u_1", 10))
	assert.Equal(t, []string{"recall"}, answer.Degraded, "an earlier recall stands in")
	assert.Len(t, answer.Docs, 10)
	seen.add(t, "stale", ids(answer))

	answer = ask(t, a, refresh("u_2", 10))
	assert.Equal(t, []string{"recall"}, answer.Degraded, "no recall for this profile: the old session's next page")
	assert.Len(t, answer.Docs, 10)

	badge := ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 10, Silent: true})
	assert.Empty(t, badge.Docs)
	assert.Equal(t, []string{"recall"}, badge.Degraded, "what is new is not known")

	answer = ask(t, a, refresh("u_3", 10))
	assert.Equal(t, []string{"recall"}, answer.Degraded, "u_3 has no profile, like u_1: the same query")
	_, err = a.Engine.Feed(t.Context(), refresh("u_new", 10))
	require.ErrorIs(t, err, catalog.ErrUnavailable, "whether u_new mutes anything cannot be told")
	clock.Advance(cfg.Recall.StaleTTL)
	require.NoError(t, a.stores.sessions.Delete(t.Context(), "u_4"))
	_, err = a.Engine.Feed(t.Context(), refresh("u_4", 10))
	require.ErrorIs(t, err, recall.ErrUnavailable, "too old, and no session: an error")

	es.set(false)
	healthy(t, a)
	answer = ask(t, a, refresh("u_1", 10))
	assert.Nil(t, answer.Degraded)
	seen.add(t, "after", ids(answer))
}

// cacheAll reads every item once the marks of its ingest are gone, so that all
// contents are in the cache.
func cacheAll(t *testing.T, a *App) {
	t.Helper()
	pattern := a.cfg.Redis.KeyPrefix + "feed:item:*"
	marks, err := a.clients.redis.Keys(t.Context(), pattern).Result()
	require.NoError(t, err)
	require.NoError(t, a.clients.redis.Del(t.Context(), marks...).Err())
	var all []string
	for _, it := range madeItems(600) {
		all = append(all, it.ID)
	}
	_, err = a.Catalog.Docs(t.Context(), all)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		keys, err := a.clients.redis.Keys(t.Context(), pattern).Result()
		return err == nil && len(keys) == len(all)
	}, time.Minute, 5*time.Millisecond)
}

// TestContentNotCached takes Elasticsearch away while only some of a page's
// contents are cached: those are answered, the others go back to the session.
func TestContentNotCached(t *testing.T) {
	t.Parallel()
	cfg, es := cutOff(t)
	cfg.Catalog.Prefetch = false // what is cached is for the test to say
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	ask(t, a, refresh("u_1", 10))
	cacheAll(t, a)
	key := func(id string) string { return cfg.Redis.KeyPrefix + "feed:item:" + id }
	gone := []string{"doc_0010", "doc_0012", "doc_0014", "doc_0016", "doc_0018"}
	for _, id := range gone {
		require.NoError(t, a.clients.redis.Del(t.Context(), key(id)).Err())
	}
	es.set(true)
	answer := ask(t, a, loadMore("u_1", 10))
	assert.Equal(t, []string{"catalog"}, answer.Degraded)
	assert.Equal(t, []string{"doc_0011", "doc_0013", "doc_0015", "doc_0017", "doc_0019"}, ids(answer))
	assert.True(t, answer.HasMore)
	answer = ask(t, a, loadMore("u_1", 5))
	assert.Equal(t, []string{"doc_0020", "doc_0021", "doc_0022", "doc_0023", "doc_0024"}, ids(answer), "what cannot be read is passed over")

	es.set(false)
	require.Eventually(t, func() bool { return pingElastic(t.Context(), a.clients.elastic) == nil }, 30*time.Second, 50*time.Millisecond)
	answer = ask(t, a, loadMore("u_1", 5))
	assert.Equal(t, gone, ids(answer), "they went back to the head of the session, and nothing was lost")
}

// TestFrozenRedisEnds: a request to a frozen Redis ends, one way or the
// other, within its own deadline.
func TestFrozenRedisEnds(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(50)...)
	healthy(t, a)
	r.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), cfg.Server.RequestTimeout)
	defer cancel()
	answer, err := a.Engine.Feed(ctx, refresh("u_1", 10))
	require.NoError(t, err, "even the first request after the fault is answered")
	assert.Len(t, answer.Docs, 10)
	_, err = a.stores.sessions.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 1, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
}
