package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func at(t time.Time) *clock { return &clock{now: t} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// mode is one column of the table of backends.
type mode struct {
	name   string
	config func(t testing.TB) configs.Config
}

var modes = []mode{{"embedded", embedded}, {"services", services}}

func embedded(t testing.TB) configs.Config {
	cfg := configs.Default()
	cfg.DataDir, cfg.Server.Drain = t.TempDir(), 0
	// While other processes write much, one fsync may take many seconds, and a close that waits for
	// it does not hang.
	cfg.Server.ShutdownTimeout = time.Minute
	var err error
	cfg.Ranking, err = cfg.Ranking.With("curves=single,explore.share=0") // independent of the defaults, because tests compare orders
	require.NoError(t, err)
	return cfg
}

func services(t testing.TB) configs.Config {
	_, prefix := testenv.Redis(t)
	redisURL, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	address, index := testenv.ReusedElastic(t, "")
	cfg := servicesAt(t, redisURL.Host, address)
	cfg.Redis.KeyPrefix, cfg.Elasticsearch.Index = prefix, index
	return cfg
}

// servicesAt returns the configuration of services at these addresses, whether they exist or not.
func servicesAt(t testing.TB, redisAddr, elastic string) configs.Config {
	cfg := embedded(t)
	// A call to Redis may take a share of the request timeout. On a busy machine a healthy Redis
	// must not count as down.
	cfg.Server.RequestTimeout = 20 * time.Second
	cfg.Redis.URL = "redis://" + redisAddr
	cfg.Elasticsearch.Addresses = []string{elastic}
	return cfg
}

// ownIndices gives a system indices that do not exist yet and that the test may create.
func ownIndices(t testing.TB, cfg *configs.Config) { _, cfg.Elasticsearch.Index = testenv.Elastic(t) }

// brief sets short timeouts for tests in which a service fails. Each unanswered call takes a share
// of the request timeout, so that must be short, but long enough for the healthy services on a busy
// machine. During the grace period answers report that Redis was down.
func brief(cfg *configs.Config) {
	cfg.Server.RequestTimeout = 6 * time.Second
}

// open starts a system that is closed when the test ends.
func open(t testing.TB, cfg configs.Config, options ...Option) *App {
	t.Helper()
	require.NoError(t, cfg.Validate())
	options = append([]Option{
		WithLogger(testenv.Logger(t)),
		WithRecallCache(0, staleFor), // tests expect to see changes of the catalog at once
	}, options...)
	a, err := Open(t.Context(), cfg, options...)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cfg.Server.ShutdownTimeout)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return a
}

// put stores items and makes them recallable. On a busy machine Elasticsearch may not have answered
// when the system was opened.
func put(t testing.TB, a *App, items ...feed.Item) {
	t.Helper()
	if e := a.clients.index; e != nil {
		testenv.WaitFor(t, func() bool { return e.Waiting() == nil }, "Elasticsearch to answer a search")
	}
	for batch := range slices.Chunk(items, 1000) {
		var errs []error
		// On a busy machine a service may miss its deadline; the put is idempotent and is retried.
		testenv.WaitFor(t, func() bool {
			var err error
			if errs, err = a.Catalog.Put(t.Context(), batch); errors.Is(err, catalog.ErrUnavailable) {
				return false
			}
			require.NoError(t, err)
			return true
		}, "the catalog to take items")
		for _, err := range errs {
			require.NoError(t, err)
		}
	}
	refreshIndex(t, a)
}

// refreshIndex makes writes to Elasticsearch searchable.
func refreshIndex(t testing.TB, a *App) {
	t.Helper()
	if !a.cfg.UsesElasticsearch() {
		return
	}
	res, err := http.Post(a.cfg.Elasticsearch.Addresses[0]+"/"+a.cfg.Elasticsearch.Index+"/_refresh", "application/json", nil)
	require.NoError(t, err)
	_ = res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
}

// recorded waits until all deliveries are in a filter.
func recorded(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		totals := a.Totals()
		return totals.Recorded == totals.Delivered
	}, "everything delivered to be recorded")
}

func refresh(agent string, limit int) engine.Request {
	return engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: limit}
}

func loadMore(agent string, limit int) engine.Request {
	return engine.Request{Agent: agent, Action: engine.ActionLoadMore, Limit: limit}
}

func ask(t *testing.T, a *App, r engine.Request) engine.Answer {
	t.Helper()
	answer, err := a.Engine.Feed(t.Context(), r)
	require.NoError(t, err)
	return answer
}

func ids(answer engine.Answer) []string {
	out := make([]string, len(answer.Docs))
	for i, d := range answer.Docs {
		out[i] = d.ID
	}
	return out
}

func items(t *testing.T, answer engine.Answer) []feed.Item {
	t.Helper()
	out := make([]feed.Item, len(answer.Docs))
	for i, d := range answer.Docs {
		require.NoError(t, json.Unmarshal(d.JSON, &out[i]))
	}
	return out
}

type once struct {
	mu   sync.Mutex
	seen map[string]string
}

func newOnce() *once { return &once{seen: map[string]string{}} }

func (o *once) add(t *testing.T, where string, ids []string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		if first, again := o.seen[id]; again {
			t.Errorf("%s was delivered twice: in %s and in %s", id, first, where)
		}
		o.seen[id] = where
	}
}

func (o *once) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.seen)
}

// unvaried orders pages by score only.
var unvaried = feed.Diversity{Author: feed.Spread{Decay: 1}, Site: feed.Spread{Decay: 1}, Tag: feed.Spread{Decay: 1}}
