package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// load counts what a system sends to Redis and Elasticsearch.
type load struct{ trips, commands, requests atomic.Int64 }

func (l *load) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (l *load) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		l.trips.Add(1)
		l.commands.Add(1)
		return next(ctx, cmd)
	}
}

func (l *load) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		l.trips.Add(1)
		l.commands.Add(int64(len(cmds)))
		return next(ctx, cmds)
	}
}

// now returns the counts so far: round trips and commands to Redis, requests to
// Elasticsearch.
func (l *load) now() [3]int64 { return [3]int64{l.trips.Load(), l.commands.Load(), l.requests.Load()} }

// countedElastic is an Elasticsearch client whose requests count.
type countedElastic struct {
	esindex.Client
	load *load
}

func (c countedElastic) Perform(req *http.Request) (*http.Response, error) {
	c.load.requests.Add(1)
	return c.Client.Perform(req)
}

// prefetched is how many pages were read ahead so far, or could not be.
func prefetched(b *testing.B) (n float64) {
	b.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(b, err)
	for _, f := range families {
		if f.GetName() == "freshet_prefetch_pages_total" {
			for _, m := range f.GetMetric() {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// BenchmarkPrefetch is the twenty load_mores of a session of a system that reads next
// pages ahead against those of one that does not. The two take turns, and "ratio" is the
// median of the ratios of neighbours. Cached: every content is, and pages follow each
// other at once, beside what is read ahead. Not cached: none is before it is read, and
// the reader takes as long to read a page as the next one needs. The counts are per
// page, of all that the system sends beside, its refreshes included. freshet-bench
// measures a load_more whose contents are cached, and none without prefetch.
func BenchmarkPrefetch(b *testing.B) {
	for name, cached := range map[string]bool{"cached": true, "not cached": false} {
		b.Run(name, func(b *testing.B) { benchmarkPrefetch(b, cached) })
	}
}

const prefetchPages = 20 // of 20, in a session of 480

func benchmarkPrefetch(b *testing.B, cached bool) {
	var systems [2]*App
	var loads [2]load
	var before [2][3]int64
	for i, on := range []bool{true, false} {
		cfg := services(b)
		cfg.Catalog.Prefetch, cfg.Recall.StaleTTL, cfg.Recall.CacheTTL = on, 0, time.Second
		l := &loads[i]
		a := open(b, cfg, WithClock(at(noon).Now), WithRecorder(dedup.RecorderConfig{Linger: time.Hour}), WithHooks(Hooks{
			Redis: l, Elastic: func(c esindex.Client) esindex.Client { return countedElastic{c, l} },
		}))
		put(b, a, madeItems(500)...)
		forget(b, a, "item") // the marks of the ingest
		_, err := a.Catalog.Docs(b.Context(), itemIDs(500))
		require.NoError(b, err)
		systems[i], before[i] = a, l.now()
	}
	var took [2][]float64
	var ratios []float64
	for n := 0; b.Loop(); n++ {
		var pair [2]float64
		for turn := range 2 {
			i := (n + turn) % 2
			if !cached {
				forget(b, systems[i], "item")
			}
			pair[i] = scroll(b, systems[i], fmt.Sprintf("u_%d", n), !cached && i == 0)
			took[i] = append(took[i], pair[i]/prefetchPages)
		}
		ratios = append(ratios, pair[0]/pair[1])
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	for i, name := range []string{"with", "without"} {
		slices.Sort(took[i])
		b.ReportMetric(took[i][len(took[i])/2], name+"-us")
		for k, of := range []string{"redis-trips", "redis-commands", "es-requests"} {
			b.ReportMetric(float64(loads[i].now()[k]-before[i][k])/float64(len(ratios)*prefetchPages), name+"-"+of)
		}
	}
}

// scroll pages through a session and returns the time of its load_mores, µs. patient
// waits after each page until the next one is read ahead.
func scroll(b *testing.B, a *App, agent string, patient bool) (took float64) {
	b.Helper()
	for page := range 1 + prefetchPages {
		r, before := refresh(agent, 20), prefetched(b)
		if page > 0 {
			r = loadMore(agent, 20)
		}
		begun := time.Now()
		answer, err := a.Engine.Feed(b.Context(), r)
		if page > 0 {
			took += float64(time.Since(begun).Microseconds())
		}
		require.NoError(b, err)
		require.Len(b, answer.Docs, 20)
		if patient {
			testenv.WaitFor(b, func() bool { return prefetched(b) > before }, "the next page is read ahead")
		}
	}
	return took
}

func itemIDs(n int) []string {
	out := make([]string, n)
	for i, it := range madeItems(n) {
		out[i] = it.ID
	}
	return out
}
