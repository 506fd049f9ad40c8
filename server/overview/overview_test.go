package overview

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
)

// process has the metrics of a server.
type process struct {
	registry *prometheus.Registry
	answers  *prometheus.CounterVec
	marked   *prometheus.CounterVec
	items    prometheus.Counter
	acts     *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	delay    prometheus.Gauge
	streams  prometheus.Gauge
	up       *prometheus.GaugeVec
	lacked   *prometheus.CounterVec
	failed   *prometheus.CounterVec
	fill     *prometheus.GaugeVec
}

func newProcess() *process {
	r := prometheus.NewRegistry()
	with := promauto.With(r)
	return &process{
		registry: r,
		answers:  with.NewCounterVec(prometheus.CounterOpts{Name: "freshet_feed_answers_total"}, []string{"action", "result"}),
		marked:   with.NewCounterVec(prometheus.CounterOpts{Name: "freshet_feed_marked_total"}, []string{"mark"}),
		items:    with.NewCounter(prometheus.CounterOpts{Name: "freshet_feed_items_total"}),
		acts:     with.NewCounterVec(prometheus.CounterOpts{Name: "freshet_acts_total"}, []string{"kind"}),
		seconds:  with.NewHistogramVec(prometheus.HistogramOpts{Name: "freshet_http_request_seconds", Buckets: Bounds}, []string{"route"}),
		delay:    with.NewGauge(prometheus.GaugeOpts{Name: "freshet_jobs_oldest_seconds"}),
		streams:  with.NewGauge(prometheus.GaugeOpts{Name: "freshet_streams_open"}),
		up:       with.NewGaugeVec(prometheus.GaugeOpts{Name: "freshet_dependency_up"}, []string{"dependency"}),
		lacked:   with.NewCounterVec(prometheus.CounterOpts{Name: "freshet_degraded_total"}, []string{"part"}),
		failed:   with.NewCounterVec(prometheus.CounterOpts{Name: "freshet_dependency_errors_total"}, []string{"dependency", "reason"}),
		fill:     with.NewGaugeVec(prometheus.GaugeOpts{Name: "freshet_dedup_filter_fill_ratio"}, []string{"days_ago"}),
	}
}

// serve counts n refreshes of 20 items in 3 ms.
func (p *process) serve(n int) {
	p.answers.WithLabelValues("refresh", "ok").Add(float64(n))
	p.items.Add(20 * float64(n))
	for range n {
		p.seconds.WithLabelValues("POST /v1/feed").Observe(.003)
	}
}

func keeper(t *testing.T, p *process, s Store) *Keeper {
	t.Helper()
	k, err := NewKeeper(s, p.registry, time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return k
}

func file(t *testing.T) *File {
	t.Helper()
	f, err := OpenFile(filepath.Join(t.TempDir(), FileName))
	require.NoError(t, err)
	return f
}

func TestOverview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(37 * time.Second) // not at the beginning of a minute
		p, store := newProcess(), file(t)
		p.serve(1000) // before the start
		k := keeper(t, p, store)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go k.Run(ctx)
		p.serve(46)
		p.answers.WithLabelValues("load_more", "ok").Add(22)
		p.answers.WithLabelValues("load_more", "error").Add(1)
		p.answers.WithLabelValues("silent", "ok").Add(100)
		p.marked.WithLabelValues("short").Add(3)
		p.marked.WithLabelValues("degraded").Add(6)
		p.acts.WithLabelValues("click").Add(92)
		p.acts.WithLabelValues("like").Add(5)
		p.seconds.WithLabelValues("GET /v1/stream").Observe(500)
		p.delay.Set(4)
		p.streams.Set(10)
		p.up.WithLabelValues("redis").Set(0)
		p.up.WithLabelValues("postgres").Set(1)
		time.Sleep(23*time.Second + time.Millisecond) // the first minute ends
		p.serve(60)
		time.Sleep(time.Minute)

		got, err := k.Overview(ctx)
		require.NoError(t, err)
		require.Len(t, got.Minutes, 2)
		first, second := got.Minutes[0], got.Minutes[1]
		assert.InDelta(t, 23, first.Seconds, 0)
		assert.InDelta(t, 2, first.Refreshes, 1e-9, "46 in 23 seconds")
		assert.InDelta(t, 1, first.LoadMores, 1e-9)
		assert.InDelta(t, 1.0/69, *first.Errors, 1e-9)
		assert.InDelta(t, 3.0/69, *first.Short, 1e-9)
		assert.InDelta(t, 6.0/69, *first.Degraded, 1e-9)
		assert.EqualValues(t, 920, first.Shown)
		assert.EqualValues(t, 92, first.Clicks)
		assert.InDelta(t, 0.1, *first.ClickRate, 1e-9)
		assert.InDelta(t, .0035, *first.P50, 1e-9, "the middle of the bucket from 2 to 5 ms")
		assert.InDelta(t, 4, first.QueueDelay, 0)
		assert.InDelta(t, 10, first.Streams, 0)
		assert.InDelta(t, 1, second.Refreshes, 1e-9)
		assert.Zero(t, second.LoadMores)
		assert.EqualValues(t, 60, second.Begin.Sub(first.Begin).Seconds())

		require.Len(t, got.Hours, 1)
		assert.InDelta(t, 83, got.Hours[0].Seconds, 0)
		assert.InDelta(t, 106.0/83, got.Hours[0].Refreshes, 1e-9)
		assert.InDelta(t, 10, got.Hours[0].Streams, 1e-9)
		require.Len(t, got.Servers, 1)
		assert.Equal(t, []string{"redis"}, got.Servers[0].Down)

		// After a restart both parts of the hour are there; a stopped server is not listed.
		stop()
		synctest.Wait()
		time.Sleep(10 * time.Minute)
		again, err := OpenFile(store.path)
		require.NoError(t, err)
		next := newProcess()
		k = keeper(t, next, again)
		next.serve(60)
		time.Sleep(time.Minute)
		require.NoError(t, k.Sample(t.Context()))
		got, err = k.Overview(t.Context())
		require.NoError(t, err)
		assert.Len(t, got.Servers, 1)
		assert.Equal(t, 2, got.Hours[0].Servers)
		assert.InDelta(t, 166, got.Hours[0].Refreshes*got.Hours[0].Seconds, 1e-6)
		assert.Zero(t, got.Minutes[5].Servers, "nothing ran")
		assert.Nil(t, got.Minutes[5].P99)
	})
}

// TestOverviewKeepsAWeek runs for ten days.
func TestOverviewKeepsAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newProcess(), file(t)
		k := keeper(t, p, store)
		for range 10 * 24 * 6 {
			time.Sleep(10 * time.Minute)
			p.serve(3)
			require.NoError(t, k.Sample(t.Context()))
		}
		got, err := k.Overview(t.Context())
		require.NoError(t, err)
		assert.Len(t, got.Hours, 7*24)
		assert.LessOrEqual(t, len(store.slots), 7*24+2+61)
		assert.LessOrEqual(t, len(k.current), 2)
		info, err := os.Stat(store.path)
		require.NoError(t, err)
		assert.Less(t, info.Size(), int64(90_000))
	})
}

// failing is a store that fails while err is set.
type failing struct {
	Store
	err error
}

func (f *failing) Put(ctx context.Context, server string, samples map[Slot]Sample) error {
	if f.err != nil {
		return f.err
	}
	return f.Store.Put(ctx, server, samples)
}

// TestOverviewStoreDown checks that what was counted while the store was down is stored later, and
// that no more than an hour of it waits.
func TestOverviewStoreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newProcess(), &failing{Store: file(t), err: errors.New("down")}
		k := keeper(t, p, store)
		for range 90 {
			p.serve(6)
			time.Sleep(time.Minute)
			require.Error(t, k.Sample(t.Context()))
		}
		assert.Len(t, k.waiting, mostWaiting)
		store.err = nil
		time.Sleep(time.Minute)
		require.NoError(t, k.Sample(t.Context()))
		assert.Empty(t, k.waiting)
		got, err := k.Overview(t.Context())
		require.NoError(t, err)
		counted := 0
		for _, m := range got.Minutes {
			counted += int(m.Refreshes*m.Seconds + .5)
		}
		assert.GreaterOrEqual(t, counted, 59*6)
	})
}

func TestOverviewFileUnreadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	require.NoError(t, os.WriteFile(path, []byte(`[{"span":60,`), 0o600))
	f, err := OpenFile(path)
	require.ErrorContains(t, err, path)
	require.NoError(t, f.Put(t.Context(), "a", map[Slot]Sample{{Minute, 60}: {To: 120}}), "it begins anew")
	again, err := OpenFile(path)
	require.NoError(t, err)
	assert.Equal(t, f.slots, again.slots)
}

// TestOverviewRedis has two servers over one Redis.
func TestOverviewRedis(t *testing.T) {
	client, prefix := testenv.Redis(t)
	now := time.Now()
	var keepers []*Keeper
	for i := range 2 {
		p := newProcess()
		k := keeper(t, p, NewRedis(client, prefix))
		k.clock = func() time.Time { return now.Add(time.Minute) }
		p.serve(30 * (i + 1))
		require.NoError(t, k.Sample(t.Context()))
		require.NoError(t, k.store.Put(t.Context(), k.id, k.current), "repeating it does no harm")
		keepers = append(keepers, k)
	}
	for _, k := range keepers {
		got, err := k.Overview(t.Context())
		require.NoError(t, err)
		require.Len(t, got.Minutes, 1)
		assert.Equal(t, 2, got.Minutes[0].Servers)
		assert.InDelta(t, 90, got.Minutes[0].Refreshes*got.Minutes[0].Seconds, 1e-6)
		assert.Len(t, got.Servers, 2)
	}
	for slot := range keepers[0].current {
		ttl, err := client.TTL(t.Context(), keepers[0].store.(*Redis).key(slot)).Result()
		require.NoError(t, err)
		assert.Positive(t, ttl, fmt.Sprint(slot))
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	assert.Nil(t, quantile(.5, nil, Bounds))
	assert.Nil(t, quantile(.5, make([]float64, len(Bounds)+1), Bounds))
	took := make([]float64, len(Bounds)+1)
	took[0], took[3] = 50, 50
	assert.InDelta(t, .0002, *quantile(.5, took, Bounds), 1e-9)
	assert.InDelta(t, .00198, *quantile(.99, took, Bounds), 1e-9)
	took[len(Bounds)] = 100
	assert.InDelta(t, 600, *quantile(.99, took, Bounds), 0, "above the last bound")
}

// BenchmarkSample measures the work of a server once a minute.
func BenchmarkSample(b *testing.B) {
	f, err := OpenFile(filepath.Join(b.TempDir(), FileName))
	require.NoError(b, err)
	k, err := NewKeeper(f, prometheus.DefaultGatherer, time.Now, slog.New(slog.DiscardHandler))
	require.NoError(b, err)
	for b.Loop() {
		require.NoError(b, k.Sample(b.Context()))
	}
}

// TestIncidents has two servers: minutes that follow one another are one incident, with what was wrong
// on both, and trouble that no reader has noticed is none.
func TestIncidents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(57*time.Minute + 30*time.Second) // an incident goes on into the next hour
		store := file(t)
		one, two := newProcess(), newProcess()
		one.lacked.WithLabelValues("why").Add(9) // before the start
		a, b := keeper(t, one, store), keeper(t, two, store)
		minute := func() {
			time.Sleep(time.Minute)
			require.NoError(t, a.Sample(t.Context()))
			require.NoError(t, b.Sample(t.Context()))
		}
		begin := time.Now().Truncate(time.Minute).Add(time.Minute)
		one.fill.WithLabelValues("0").Set(.25)
		one.fill.WithLabelValues("1").Set(.9)
		one.serve(10)
		minute() // well; its middle is the first second of the next minute
		one.lacked.WithLabelValues("recall").Add(2)
		one.failed.WithLabelValues("elasticsearch", "unreachable").Add(1)
		minute()
		two.lacked.WithLabelValues("dedup").Add(1)
		two.up.WithLabelValues("redis").Set(0)
		minute()
		minute() // Redis is down, and nobody reads
		two.up.WithLabelValues("redis").Set(1)
		two.answers.WithLabelValues("refresh", "error").Add(1)
		minute()
		got, err := a.Overview(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []api.OverviewIncident{
			{Begin: begin.Add(4 * time.Minute).UTC(), Minutes: 1, Failed: true, Lacked: []string{}, Down: []string{}},
			{Begin: begin.Add(time.Minute).UTC(), Minutes: 2, Lacked: []string{"dedup", "recall"}, Down: []string{"elasticsearch", "redis"}},
		}, got.Incidents)
		assert.InDelta(t, .25, got.Minutes[0].FilterFill, 0)
	})
}

func TestReadProcess(t *testing.T) {
	p := newProcess()
	calls := promauto.With(p.registry).NewHistogramVec(prometheus.HistogramOpts{Name: "freshet_dependency_call_seconds", Buckets: []float64{.001, .01, .1}}, []string{"dependency", "call"})
	for range 100 {
		calls.WithLabelValues("redis", "pipeline").Observe(.005)
	}
	calls.WithLabelValues("elasticsearch", "search")
	p.failed.WithLabelValues("redis", "unreachable").Add(2)
	p.failed.WithLabelValues("redis", "refused").Add(40)
	promauto.With(p.registry).NewGauge(prometheus.GaugeOpts{Name: "freshet_spool_bytes"}).Set(48)
	promauto.With(p.registry).NewGauge(prometheus.GaugeOpts{Name: "freshet_record_oldest_timestamp_seconds"}).Set(7)
	got, err := ReadProcess(p.registry)
	require.NoError(t, err)
	require.Len(t, got.Dependencies, 2)
	assert.Equal(t, api.CalledDependency{Name: "elasticsearch", Calls: []api.CallDuration{{Call: "search"}}}, got.Dependencies[0])
	redis := got.Dependencies[1]
	assert.Equal(t, []int64{2, 40, 100}, []int64{redis.Failed, redis.Refused, redis.Calls[0].Count})
	assert.InDelta(t, .0055, *redis.Calls[0].P50, 1e-9)
	assert.Equal(t, api.Recording{SpoolBytes: 48}, got.Recording)
	assert.InDelta(t, 7, got.OldestAt, 0)
}
