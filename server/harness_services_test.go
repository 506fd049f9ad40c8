package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/itemindex"
	"github.com/freshet/freshet/social"
)

// This file has the services of tests that make one fail: a Redis or PostgreSQL of the test's own
// that is killed or frozen, and network links that are cut.

// ownRedis returns services mode with a Redis for this test only.
func ownRedis(t *testing.T) (configs.Config, *testenv.OwnRedis) {
	t.Helper()
	r := testenv.StartRedis(t)
	cfg := services(t)
	cfg.Redis.URL = "redis://" + r.Addr
	shortTimeouts(&cfg)
	return cfg, r
}

// redisAlone returns embedded mode with filters, pending sets and sessions in a Redis for this test
// only. Each server has its own catalog.
func redisAlone(t *testing.T) (configs.Config, *testenv.OwnRedis) {
	t.Helper()
	r := testenv.StartRedis(t)
	cfg := embedded(t)
	cfg.Redis.URL = "redis://" + r.Addr
	shortTimeouts(&cfg)
	return cfg, r
}

// redisAddrs returns the address of the Redis that tests share, as a list.
func redisAddrs(t *testing.T) []string {
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	return []string{u.Host}
}

// ownPostgres returns a system in services mode with a PostgreSQL for this test only.
func ownPostgres(t *testing.T) (*testenv.OwnPostgres, *httpSystem) {
	t.Helper()
	cfg := services(t)
	p := testenv.StartPostgres(t)
	cfg.Postgres.URL = p.URL
	shortTimeouts(&cfg)
	return p, &httpSystem{t, open(t, cfg)}
}

// waitCached waits until the cards of these posts are cached.
func (s *httpSystem) waitCached(want ...string) {
	s.Helper()
	testenv.WaitFor(s, func() bool {
		cards, err := s.a.network.kept.Cached(s.Context(), want)
		require.NoError(s, err)
		return !slices.ContainsFunc(cards, func(c social.Card) bool { return !c.Visible })
	}, "%v to be kept", want)
}

// shortPauses shortens the pauses of background work. Calls of one reader must not overlap, because
// recorded impressions stay pending for less time than a request may take.
func shortPauses(s *settings) {
	s.pauses = pauses{
		settle: 50 * time.Millisecond, notes: 20 * time.Millisecond, spool: 20 * time.Millisecond, watch: 20 * time.Millisecond,
		index: itemindex.Pauses{WarmUp: 20 * time.Millisecond, Fallback: time.Minute, Mapping: time.Minute},
	}
}

// openBreaker opens a breaker as calls that time out do.
func openBreaker(t *testing.T, b *breaker.Breaker, kind string) {
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

// elasticsearchLink returns services mode with a link to Elasticsearch that can be cut.
func elasticsearchLink(t *testing.T) (configs.Config, *link) {
	t.Helper()
	cfg := services(t)
	u, err := url.Parse(cfg.Elasticsearch.Addresses[0])
	require.NoError(t, err)
	k := newLink(t, u.Host)
	cfg.Elasticsearch.Addresses = []string{"http://" + k.l.Addr().String()}
	return cfg, k
}

// setRedis stops or starts the Redis of a system.
func setRedis(t *testing.T, a *App, r *testenv.OwnRedis, up bool) {
	t.Helper()
	if !up {
		r.Kill()
		return
	}
	r.Start()
	testenv.WaitFor(t, func() bool { return a.clients.redis.Ping(t.Context()).Err() == nil }, "Redis is asked again")
}

// waitHealthy waits until a refresh of a probe agent is answered completely.
func waitHealthy(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), refresh("u_probe", 1))
		// While the half-open breaker lets a few calls through, it refuses concurrent ones.
		closed := a.clients.redis == nil || a.clients.breaker.State() == gobreaker.StateClosed
		return err == nil && answer.Degraded == nil && closed
	}, "the system recovers")
}

// waitRedisUsed waits until the server sends all calls to Redis again. Answers may still report the
// outage during the grace period (see waitHealthy).
func waitRedisUsed(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), refresh("u_probe", 1))
		// While the half-open breaker lets a few calls through, it refuses concurrent ones.
		return err == nil && !sessionless(answer) && a.clients.breaker.State() == gobreaker.StateClosed
	}, "Redis to be asked")
}

// waitAccounted waits until groups of u_1 are in a filter, or pending.
func waitAccounted(t *testing.T, a *App, groups []string) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		out, err := a.stores.dedup.Check(t.Context(), "u_1", groups, a.clock())
		return err == nil && !slices.Contains(out.Verdicts, dedup.Unseen)
	}, "what was handed out is in a filter, or pending")
}

// waitInFilters waits until groups of u_1 are in a filter and no longer pending.
func waitInFilters(t *testing.T, a *App, groups []string) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		out, err := a.stores.dedup.Check(t.Context(), "u_1", groups, a.clock())
		return err == nil && !slices.Contains(out.Verdicts, dedup.Unseen) && !slices.Contains(out.Verdicts, dedup.Pending)
	}, "what was handed out is in a filter, and settled")
}

// readSession reads six more pages of the session that Redis had retained.
func readSession(t *testing.T, a *App, seen *once) {
	t.Helper()
	for range 6 {
		answer := ask(t, a, loadMore("u_1", 10))
		assert.Len(t, answer.Docs, 10)
		seen.add(t, "the old session", ids(answer))
	}
}

func keysOf(a *App) rediskeys.Keys { return rediskeys.For(a.clients.redis, a.cfg.Redis.KeyPrefix) }

// clearCache removes all contents from the cache, and the marks of their ingest.
func clearCache(t testing.TB, a *App, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		keys, err := a.clients.redis.Keys(t.Context(), a.cfg.Redis.KeyPrefix+"feed:"+kind+":*").Result()
		require.NoError(t, err)
		if len(keys) > 0 {
			require.NoError(t, a.clients.redis.Del(t.Context(), keys...).Err())
		}
	}
}

// cacheAllItems deletes the marks of the ingest and reads every item, so that all contents are
// cached.
func cacheAllItems(t *testing.T, a *App) {
	t.Helper()
	clearCache(t, a, "item")
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

// trips records every command or pipeline that is sent.
type trips struct {
	mu   sync.Mutex
	sent []string
}

func (h *trips) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, what)
}

func (h *trips) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	sent := h.sent
	h.sent = nil
	return sent
}

// elasticsearchSender returns a function that sends requests to the Elasticsearch of a
// configuration.
func elasticsearchSender(t *testing.T, cfg configs.Config) func(method, path, body string) {
	t.Helper()
	return func(method, path, body string) {
		t.Helper()
		status, answer := callElasticsearch(t, cfg, method, path, body)
		require.Less(t, status, 300, "%s: %s", path, answer)
	}
}

func callElasticsearch(t *testing.T, cfg configs.Config, method, path, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, cfg.Elasticsearch.Addresses[0]+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header["Idempotency-Key"] = nil // allows a retry if a kept-alive connection has closed
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(data)
}

const externalMapping = `{"mappings":{"properties":{"id":{"type":"keyword"},"title":{"type":"text"},"published":{"type":"date"},"votes":{"type":"integer"},"freshet_popularity":{"type":"alias","path":"votes"}}}}`

// externalIndex returns a configuration over an external index, with a name that is an alias of one
// index, and a function that sends requests to that Elasticsearch.
func externalIndex(t *testing.T) (configs.Config, func(method, path, body string)) {
	t.Helper()
	cfg := services(t)
	ownIndices(t, &cfg)
	cfg.Elasticsearch.ManageIndex = false
	cfg.Elasticsearch.Fields = configs.Fields{ID: "id", Title: "title", UpdateTime: "published"}
	cfg.Ranking.PopularityWeight = 1
	send := elasticsearchSender(t, cfg)
	index := cfg.Elasticsearch.Index
	send(http.MethodPut, "/"+index+"-1", externalMapping)
	send(http.MethodPut, "/"+index+"-1/_alias/"+index, "")
	return cfg, send
}

// document adds a document to the index; rest has its other fields.
func document(send func(method, path, body string), index, id, rest string) {
	send(http.MethodPut, "/"+index+"/_doc/"+id+"?refresh=true", fmt.Sprintf(`{"title":%q,"published":%d%s}`, "About "+id, noon.UnixMilli(), rest))
}
