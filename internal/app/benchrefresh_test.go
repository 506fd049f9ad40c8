package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// BenchmarkRefreshServices times every call of the client libraries during
// refreshes one after the other, each of a reader with a profile of its own.
// What is left is Freshet's. Beside it stands the time the libraries were
// blocked on their connections: the rest of theirs is encoding, decoding and
// pools.
func BenchmarkRefreshServices(b *testing.B) {
	cfg := services(b)
	cfg.Impressions.Linger, cfg.Impressions.Batch = 10*time.Second, 100_000 // the recorder's calls are not a refresh's
	cfg.Recall.CacheTTL = 0
	a, _ := running(b, cfg)
	items := benchItems(20_000, time.Now())
	put(b, a, items...)
	client, _ := testenv.Redis(b)
	marks, err := client.Keys(b.Context(), cfg.Redis.KeyPrefix+"feed:item:*").Result()
	require.NoError(b, err)
	require.NoError(b, client.Del(b.Context(), marks...).Err())
	fillWindow(b, a, time.Now())
	watch := newWatch(b, a)
	for i := range 100 { // warm
		watch.refresh(b, a, i)
	}
	var sum spent
	var shares []float64
	for i := 100; b.Loop(); i++ {
		one := watch.refresh(b, a, i)
		sum.total += one.total
		sum.elastic += one.elastic
		sum.redis += one.redis
		sum.blocked += one.blocked
		shares = append(shares, one.own())
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(each(sum.total), "µs-total")
	b.ReportMetric(each(sum.elastic), "µs-elastic")
	b.ReportMetric(each(sum.redis), "µs-redis")
	b.ReportMetric(each(sum.blocked), "µs-redis-blocked")
	b.ReportMetric(sum.own(), "own-share")
	b.ReportMetric(quantile(shares, 0.5), "own-share-p50")
	b.ReportMetric(quantile(shares, 0.95), "own-share-p95")
}

// spent is what became of a refresh's time.
type spent struct{ total, elastic, redis, blocked time.Duration }

// own is Freshet's share.
func (s spent) own() float64 { return float64(s.total-s.elastic-s.redis) / float64(s.total) }

// refresh refreshes for the i-th reader.
func (w *watch) refresh(b *testing.B, a *App, i int) spent {
	b.Helper()
	agent := fmt.Sprintf("reader_%d", i)
	require.NoError(b, a.Engine.PutProfile(b.Context(), agent, benchProfile(i)))
	before := w.now()
	start := time.Now()
	answer, err := a.Engine.Feed(b.Context(), refresh(agent, benchPage))
	took := time.Since(start)
	require.NoError(b, err)
	require.Len(b, answer.Docs, benchPage)
	after := w.now()
	return spent{took, after.elastic - before.elastic, after.redis - before.redis, after.blocked - before.blocked}
}

// benchProfile is the profile of the i-th reader; no two are equal, so no two
// recalls are shared.
func benchProfile(i int) feed.Profile {
	topics := []string{"go", "open-source", "science", "music", "football", "travel", "cooking", "cycling"}
	p := feed.Profile{Interests: map[string]float64{}}
	for k := range 4 {
		p.Interests[topics[(i+3*k)%len(topics)]] = 1 + float64(k) + float64(i)/1e6
	}
	if i%3 == 0 {
		p.Keywords = []string{"database", "report"}
	}
	return p
}

// watch adds up the time spent in the client libraries.
type watch struct{ elastic, redis, wire atomic.Int64 }

func (w *watch) now() spent {
	return spent{
		elastic: time.Duration(w.elastic.Load()), redis: time.Duration(w.redis.Load()), blocked: time.Duration(w.wire.Load()),
	}
}

func newWatch(b *testing.B, a *App) *watch {
	w := &watch{}
	// Connections made before the hook are not timed: they are taken out of the
	// pool and kept.
	pool, ok := a.clients.redis.(*redis.Client)
	require.True(b, ok, "this benchmark is for one Redis server")
	for range pool.PoolStats().IdleConns {
		conn := pool.Conn()
		require.NoError(b, conn.Ping(b.Context()).Err())
		b.Cleanup(func() { _ = conn.Close() })
	}
	a.clients.redis.AddHook(redisWatch{w})
	a.clients.elastic.Transport = elasticWatch{a.clients.elastic.Transport, w}
	return w
}

func add(to *atomic.Int64, since time.Time) { to.Add(int64(time.Since(since))) }

// redisWatch is a hook around whole commands and pipelines.
type redisWatch struct{ *watch }

func (w redisWatch) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		return timedConn{conn, w.watch}, err
	}
}

func (w redisWatch) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		defer add(&w.redis, time.Now())
		return next(ctx, cmd)
	}
}

func (w redisWatch) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		defer add(&w.redis, time.Now())
		return next(ctx, cmds)
	}
}

type timedConn struct {
	net.Conn
	w *watch
}

func (c timedConn) Read(p []byte) (int, error) {
	defer add(&c.w.wire, time.Now())
	return c.Conn.Read(p)
}

func (c timedConn) Write(p []byte) (int, error) {
	defer add(&c.w.wire, time.Now())
	return c.Conn.Write(p)
}

// elasticWatch times a request until its answer has been read.
type elasticWatch struct {
	next elastictransport.Interface
	w    *watch
}

func (e elasticWatch) Perform(req *http.Request) (*http.Response, error) {
	defer add(&e.w.elastic, time.Now())
	res, err := e.next.Perform(req)
	if err == nil {
		res.Body = timedBody{res.Body, e.w}
	}
	return res, err
}

type timedBody struct {
	io.ReadCloser
	w *watch
}

func (t timedBody) Read(p []byte) (int, error) {
	defer add(&t.w.elastic, time.Now())
	return t.ReadCloser.Read(p)
}

// BenchmarkRefreshEmbedded refreshes in process for readers of every kind, all
// seven filters holding impressions.
func BenchmarkRefreshEmbedded(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchRefreshEmbedded(b, n) })
	}
}

func benchRefreshEmbedded(b *testing.B, n int) {
	cfg := configs.Default()
	cfg.DataDir = b.TempDir()
	cfg.Recall.CacheTTL = 0 // every recall is a recall
	a, _ := running(b, cfg)
	now := time.Now()
	put(b, a, benchItems(n, now)...)
	fillWindow(b, a, now)
	const readers = 1000
	for i := range readers {
		if i%4 != 0 { // a quarter has no profile
			require.NoError(b, a.Engine.PutProfile(b.Context(), fmt.Sprintf("reader_%d", i), benchProfile(i)))
		}
	}
	var took []float64
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		_, err := a.Engine.Feed(b.Context(), refresh(fmt.Sprintf("reader_%d", i%readers), benchPage))
		took = append(took, float64(time.Since(start).Microseconds()))
		require.NoError(b, err)
	}
	slices.Sort(took)
	b.ReportMetric(quantile(took, 0.5), "µs-p50")
	b.ReportMetric(quantile(took, 0.99), "µs-p99")
}

// fillWindow puts impressions of many readers into each filter of the window.
func fillWindow(b *testing.B, a *App, now time.Time) {
	b.Helper()
	for ago := range 7 {
		batch := make([]dedup.Impression, 100_000)
		for i := range batch {
			batch[i] = dedup.Impression{Agent: fmt.Sprintf("reader_%d", i%1000), Group: fmt.Sprintf("doc_%d", ago*100_000+i)}
		}
		_, err := a.stores.dedup.Record(b.Context(), batch, now.AddDate(0, 0, ago-6))
		require.NoError(b, err)
	}
}

// BenchmarkDedupMemory is what an impression costs in Redis, in a Bloom filter
// that is full to its capacity and in a SET.
func BenchmarkDedupMemory(b *testing.B) {
	const capacity = 200_000
	cfg := services(b)
	cfg.Dedup.DailyCapacity = capacity
	a, _ := running(b, cfg)
	client, prefix := testenv.Redis(b)
	now := time.Now()
	var bloom, set float64
	for b.Loop() {
		for from := 0; from < capacity; from += 1000 {
			batch, members := make([]dedup.Impression, 1000), make([]any, 1000)
			for i := range batch {
				agent, group := fmt.Sprintf("u_%d", (from+i)/20), fmt.Sprintf("doc_%d", from+i)
				batch[i], members[i] = dedup.Impression{Agent: agent, Group: group}, agent+":"+group
			}
			_, err := a.stores.dedup.Record(b.Context(), batch, now)
			require.NoError(b, err)
			require.NoError(b, client.SAdd(b.Context(), prefix+"set", members...).Err())
		}
		key := cfg.Redis.KeyPrefix + "bf:global:" + feed.DayOf(now).String()
		bloom = float64(client.MemoryUsage(b.Context(), key).Val()) / capacity
		set = float64(client.MemoryUsage(b.Context(), prefix+"set", 0).Val()) / capacity
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(bloom, "filter-B/impression")
	b.ReportMetric(set, "set-B/impression")
}

// BenchmarkStartEmbedded opens a data directory with 100,000 items in it,
// until requests could be answered.
func BenchmarkStartEmbedded(b *testing.B) {
	cfg := configs.Default()
	cfg.DataDir = b.TempDir()
	quiet := WithLogger(slog.New(slog.DiscardHandler))
	ctx := context.WithoutCancel(b.Context())
	first, err := Open(ctx, cfg, quiet)
	require.NoError(b, err)
	put(b, first, benchItems(100_000, time.Now())...)
	require.NoError(b, first.Close(ctx))
	for b.Loop() {
		a, err := Open(ctx, cfg, quiet)
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, a.Close(ctx))
		b.StartTimer()
	}
}
