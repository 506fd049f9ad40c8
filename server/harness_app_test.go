package server

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/jobs"
)

// parallelTests is the number of tests that run in parallel. Most of the time they wait: for a
// service to fail, to recover, or to be queried again.
const parallelTests = "4"

// TestMain fails the package if closed systems have left goroutines behind. It ignores idle
// connections, which end on their own, and goroutines that exist before the tests, namely a pool
// created by a library.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallelTests); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(testenv.Reuse(m),
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// clock is a clock that stands still until it is advanced.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

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

// at returns a clock that shows t.
func at(t time.Time) *clock { return &clock{now: t} }

// mode is one column of the table of backends.
type mode struct {
	name   string
	config func(t testing.TB) configs.Config
}

var modes = []mode{{"embedded", embedded}, {"services", services}}

// networks are the modes with posts, follows and timelines.
var networks = []mode{{"embedded", embedded}, {"services", withPostgres}}

// embedded returns the configuration of a system without services.
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

// services returns the configuration of a system with Redis and Elasticsearch, with names that no
// concurrent test uses.
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

// fewConns limits the connections of a system, because many concurrent systems share the server.
const fewConns = "&pool_max_conns=8"

// withPostgres returns services mode with a schema that no concurrent test uses.
func withPostgres(t testing.TB) configs.Config {
	cfg := services(t)
	cfg.Postgres.URL = testenv.ReusedPostgres(t) + fewConns
	return cfg
}

// withoutElastic is withPostgres with a separate catalog for each server: the data of timelines is
// in Redis and PostgreSQL.
func withoutElastic(t testing.TB) configs.Config {
	_, prefix := testenv.Redis(t)
	cfg := embedded(t)
	cfg.Server.RequestTimeout = 20 * time.Second // as in services
	cfg.Redis.URL, cfg.Redis.KeyPrefix = testenv.RedisURL(t), prefix
	cfg.Postgres.URL = testenv.Postgres(t) + fewConns
	return cfg
}

// ownIndices gives a system indices that do not exist yet and that the test may create.
func ownIndices(t testing.TB, cfg *configs.Config) { _, cfg.Elasticsearch.Index = testenv.Elastic(t) }

// shortTimeouts sets short timeouts for tests in which a service fails. Each unanswered call takes
// a share of the request timeout, so that must be short, but long enough for the healthy services
// on a busy machine. During the grace period answers report that Redis was down.
func shortTimeouts(cfg *configs.Config) {
	cfg.Server.RequestTimeout = 10 * time.Second
}

// onRedis has impressions and sessions in Redis and everything else in process.
func onRedis(t *testing.T, prefix string, addrs ...string) configs.Config {
	cfg := embedded(t)
	cfg.Server.RequestTimeout = 20 * time.Second // as in servicesAt
	cfg.Dedup.Shards = 16
	cfg.Dedup.OnFailure = configs.FailClosed
	cfg.Redis.URL = testenv.RedisAt(addrs)
	cfg.Redis.KeyPrefix = prefix
	return cfg
}

// noDiversity orders pages by score only.
var noDiversity = feed.Diversity{Author: feed.Spread{Decay: 1}, Site: feed.Spread{Decay: 1}, Tag: feed.Spread{Decay: 1}}

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

// closeApp closes a system as a SIGTERM does, including the drain.
func closeApp(t *testing.T, a *App) {
	t.Helper()
	require.NoError(t, a.Close(t.Context()))
}

// servers opens one embedded system, or two that share their services.
func servers(t *testing.T, m mode, change func(*configs.Config), options ...Option) []*App {
	t.Helper()
	cfg := m.config(t)
	if change != nil {
		change(&cfg)
	}
	options = append(options, WithClock(at(noon).Now))
	all := []*App{open(t, cfg, options...)}
	if m.name == "services" {
		other := cfg
		other.DataDir = t.TempDir()
		all = append(all, open(t, other, options...))
	}
	return all
}

// twoServers opens two servers that share Redis; each has the same catalog of n items.
func twoServers(t *testing.T, cfg configs.Config, n int) []*App {
	t.Helper()
	apps := make([]*App, 2)
	for i := range apps {
		cfg.DataDir = t.TempDir()
		apps[i] = open(t, cfg, WithClock(at(noon).Now))
		put(t, apps[i], madeItems(n)...)
	}
	return apps
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

// refreshIndex makes writes to Elasticsearch searchable, and copies them if the system recalls from a
// copy.
func refreshIndex(t testing.TB, a *App) {
	t.Helper()
	if !a.cfg.UsesElasticsearch() {
		return
	}
	res, err := http.Post(a.cfg.Elasticsearch.Addresses[0]+"/"+a.cfg.Elasticsearch.Index+"/_refresh", "application/json", nil)
	require.NoError(t, err)
	_ = res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	if a.stores.copied != nil {
		require.NoError(t, a.stores.copied.Update(t.Context()))
	}
}

// waitRecorded waits until all deliveries are in a filter.
func waitRecorded(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		totals := a.Totals()
		return totals.Recorded == totals.Delivered
	}, "everything delivered to be recorded")
}

// waitSettled waits until no job is due or running, and the lists are in use and complete.
func waitSettled(t testing.TB, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		retryFailed(t, a)
		stats, err := a.network.store.Stats(t.Context())
		if err != nil {
			return false
		}
		for _, row := range stats.Rows {
			if row.Kind != jobs.Count && row.State != jobs.Completed { // counts are gathered for a while
				return false
			}
		}
		// A slow Redis can make lists late at any time, and a slow machine keeps jobs waiting.
		return !a.network.completeness.Incomplete() && !a.network.completeness.QueueBehind()
	}, "the queue is empty, and the lists are answered from")
}

// retryFailed retries at once the jobs that failed because a service was slow or down: the clock
// that they wait for stands still in tests.
func retryFailed(t testing.TB, a *App) {
	failed, _ := a.network.store.List(t.Context(), jobs.Filter{State: jobs.Failed})
	for _, j := range failed {
		_ = a.network.store.Retry(t.Context(), j.ID)
	}
}
