package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
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
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/itemindex"
)

// The tests of this file make dependencies of a running system fail: a real Redis that is killed or
// frozen, and the connections to a real Elasticsearch.

// ownRedis returns services mode with a Redis for this test only.
func ownRedis(t *testing.T) (configs.Config, *testenv.OwnRedis) {
	t.Helper()
	r := testenv.StartRedis(t)
	cfg := services(t)
	cfg.Redis.URL = "redis://" + r.Addr
	brief(&cfg)
	return cfg, r
}

// redisAlone returns embedded mode with filters, pending sets and sessions in a Redis for this test
// only. Each server has its own catalog.
func redisAlone(t *testing.T) (configs.Config, *testenv.OwnRedis) {
	t.Helper()
	r := testenv.StartRedis(t)
	cfg := embedded(t)
	cfg.Redis.URL = "redis://" + r.Addr
	brief(&cfg)
	return cfg, r
}

// quick shortens the pauses of background work. Calls of one reader must not overlap, because
// recorded impressions stay pending for less time than a request may take.
func quick(s *settings) {
	s.pauses = pauses{
		settle: 50 * time.Millisecond, notes: 20 * time.Millisecond, spool: 20 * time.Millisecond, watch: 20 * time.Millisecond,
		index: itemindex.Pauses{WarmUp: 20 * time.Millisecond, Fallback: time.Minute, Mapping: time.Minute},
	}
}

// trip opens a breaker as calls that time out do.
func trip(t *testing.T, b *breaker.Breaker, kind string) {
	t.Helper()
	for b.State() == gobreaker.StateClosed {
		if _, c, err := b.Enter(t.Context(), kind, kind, 0); err == nil {
			c.Leave(errors.New("it does not answer"))
		}
	}
}

// link is a network link between this process and a server that can be cut.
type link struct {
	still sync.RWMutex // locked while requests are held; see hold
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
		go func() { _, _ = io.Copy(held{far, k}, c); _ = far.Close() }()
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

// set cuts the link and all its connections, or restores it.
func (k *link) set(cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = cut
	for c := range k.conns {
		_ = c.Close()
		delete(k.conns, c)
	}
}

// hold withholds all requests from the server, on connections that stay open, until the link is
// released.
func (k *link) hold() (release func()) {
	k.still.Lock()
	return sync.OnceFunc(k.still.Unlock)
}

// held is the server's end of a link.
type held struct {
	io.Writer
	link *link
}

func (w held) Write(b []byte) (int, error) {
	w.link.still.RLock()
	defer w.link.still.RUnlock()
	return w.Writer.Write(b)
}

// healthy waits until a refresh of a probe agent is answered completely.
func healthy(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), refresh("u_probe", 1))
		// While the half-open breaker lets a few calls through, it refuses concurrent ones.
		closed := a.clients.redis == nil || a.clients.breaker.State() == gobreaker.StateClosed
		return err == nil && answer.Degraded == nil && closed
	}, "the system recovers")
}

// accounted waits until groups of u_1 are in a filter, or pending.
func accounted(t *testing.T, a *App, groups []string) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		out, err := a.stores.dedup.Check(t.Context(), "u_1", groups, a.clock())
		return err == nil && !slices.Contains(out.Verdicts, dedup.Unseen)
	}, "what was handed out is in a filter, or pending")
}

// TestRedisDown kills and freezes Redis during a session. The feed continues and repeats nothing
// that this process remembers. Its deliveries meanwhile are in a filter once Redis is back, even an
// empty one. A retry gets the same page, during the outage and after it.
func TestRedisDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		config     func(*testing.T) (configs.Config, *testenv.OwnRedis)
		down, back func(*testenv.OwnRedis)
		forgets    bool // impressions recorded before the outage
	}{
		{"killed, back empty", redisAlone, (*testenv.OwnRedis).Kill, (*testenv.OwnRedis).Start, true},
		{"frozen", ownRedis, (*testenv.OwnRedis).Freeze, (*testenv.OwnRedis).Thaw, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg, r := c.config(t)
			a := open(t, cfg, WithClock(at(noon).Now), quick)
			put(t, a, madeItems(300)...)
			before := ask(t, a, refresh("u_1", 10))
			require.Nil(t, before.Degraded)
			retries := beginRetries(t, a)
			recorded(t, a)

			c.down(r)
			seen := newOnce()
			seen.add(t, "before", ids(before)) // this process remembers them
			firstWithoutRedis(t, a, seen)
			retries.whileDown(t, a)
			withoutRedis(t, a, seen)
			state := a.checks.Check(t.Context())["redis"]
			assert.Error(t, state.Err)
			assert.True(t, state.Optional, "failing open, the server stays ready")

			c.back(r)
			if !c.forgets { // the old session is back, with the items delivered without it
				testenv.WaitFor(t, func() bool { return a.clients.redis.Ping(t.Context()).Err() == nil }, "Redis is asked again")
				testenv.WaitFor(t, func() bool {
					answer := ask(t, a, loadMore("u_1", 10))
					seen.add(t, "the old session", ids(answer))
					return answer.Degraded == nil
				}, "an answer from the old session")
			}
			healthy(t, a)
			retries.afterwards(t, a, !c.forgets)
			if c.forgets {
				for _, id := range ids(before) {
					delete(seen.seen, id)
				}
			}
			after := ask(t, a, refresh("u_1", 50))
			seen.add(t, "after it came back", ids(after))
			var groups []string
			for id := range seen.seen {
				groups = append(groups, id)
			}
			accounted(t, a, groups)
		})
	}
}

// firstWithoutRedis checks that the first call is answered within its deadline, although it waits
// for Redis.
func firstWithoutRedis(t *testing.T, a *App, seen *once) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), a.cfg.Server.RequestTimeout)
	defer cancel()
	first, err := a.Engine.Feed(ctx, refresh("u_1", 10))
	require.NoError(t, err)
	require.Len(t, first.Docs, 10)
	seen.add(t, "the first call", ids(first))
}

// withoutRedis continues to read while Redis is down.
func withoutRedis(t *testing.T, a *App, seen *once) {
	t.Helper()
	trip(t, a.clients.breaker.Breaker, "command")
	_, err := a.stores.sessions.Pop(t.Context(), cache.Pop{Agent: "u_1", Limit: 1, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	for range 5 {
		for _, r := range []engine.Request{refresh("u_1", 10), loadMore("u_1", 10)} {
			answer := ask(t, a, r)
			assert.Equal(t, []string{"dedup", "session"}, answer.Degraded)
			assert.True(t, answer.HasMore)
			require.Len(t, answer.Docs, 10)
			seen.add(t, "while down", ids(answer))
		}
	}
	badge := ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 10, Silent: true})
	assert.Empty(t, badge.Docs)
	assert.NotNil(t, badge.Degraded)
}

// TestRedisDownClosed checks that a server that fails closed refuses calls without dedup.
func TestRedisDownClosed(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	cfg.Dedup.OnFailure = configs.FailClosed
	a := open(t, cfg, WithClock(at(noon).Now), quick)
	put(t, a, madeItems(50)...)
	first := ask(t, a, refresh("u_1", 10))
	r.Freeze()
	for _, request := range []engine.Request{refresh("u_1", 10), loadMore("u_1", 10)} {
		_, err := a.Engine.Feed(t.Context(), request)
		require.Error(t, err)
		trip(t, a.clients.breaker.Breaker, "command")
	}
	assert.False(t, a.checks.Check(t.Context())["redis"].Optional, "failing closed, the server is not ready")
	r.Thaw()
	healthy(t, a)
	seen := newOnce()
	seen.add(t, "before", ids(first))
	seen.add(t, "after", ids(ask(t, a, loadMore("u_1", 10))))
}

// cutOff returns services mode with a link to Elasticsearch that can be cut.
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
	clock.Advance(staleFor)
	require.NoError(t, a.stores.sessions.Delete(t.Context(), "u_4"))
	_, err = a.Engine.Feed(t.Context(), refresh("u_4", 10))
	require.ErrorIs(t, err, recall.ErrUnavailable, "too old, and no session: an error")

	es.set(false)
	healthy(t, a)
	answer = ask(t, a, refresh("u_1", 10))
	assert.Nil(t, answer.Degraded)
	seen.add(t, "after", ids(answer))
}

// cacheAll deletes the marks of the ingest and reads every item, so that all contents are cached.
func cacheAll(t *testing.T, a *App) {
	t.Helper()
	forget(t, a, "item")
	var all []string
	for _, it := range madeItems(600) {
		all = append(all, it.ID)
	}
	testenv.WaitFor(t, func() bool {
		// Contents that a recovering Redis does not accept are missing until they are read again.
		_, err := a.Catalog.Docs(t.Context(), all)
		require.NoError(t, err)
		keys, err := a.clients.redis.Keys(t.Context(), a.cfg.Redis.KeyPrefix+"feed:item:*").Result()
		return err == nil && len(keys) == len(all)
	}, "all contents are cached")
}
