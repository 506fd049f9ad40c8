package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
)

// These benchmarks compare two versions of the code with benchstat; they call the engine in
// process. The published figures are measured by the freshet-bench command.

// started is a system with items and a running session store and recorder.
func started(b *testing.B, mode string, n int, change ...func(*configs.Config)) *system {
	b.Helper()
	o := embeddedOptions()
	if mode == Services {
		o = withServices(b)
	}
	run, err := begin(b.Context(), o)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, run.end(b.Context())) })
	var cfg configs.Config
	if mode == Services {
		cfg = run.servicesConfig(filepath.Join(run.dir, "calls"))
		run.meter = &run.services
	} else {
		cfg = run.embeddedConfig(filepath.Join(run.dir, "calls"))
	}
	for _, f := range change {
		f(&cfg)
	}
	s, err := run.serve(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.stop()) })
	items := ungrouped(n)
	if n > sessionItems+page {
		items = makeItems(n, time.Now())
	}
	require.NoError(b, run.put(b.Context(), s, items))
	return s
}

func BenchmarkRefresh(b *testing.B) {
	for _, mode := range []string{Embedded, Services} {
		b.Run(mode, func(b *testing.B) {
			s := started(b, mode, 10_000)
			for i := range readers {
				require.NoError(b, s.Engine.PutProfile(b.Context(), reader(i), profile(i)))
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				call(b, s, refresh(reader(i%readers)))
				i++
			}
		})
	}
}

func BenchmarkLoadMore(b *testing.B) {
	for _, mode := range []string{Embedded, Services} {
		b.Run(mode, func(b *testing.B) {
			s := started(b, mode, sessionItems+page)
			agents, left := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				if left == 0 {
					b.StopTimer()
					agents++
					left = agentPages
					require.NoError(b, s.sessions(b.Context(), []string{pager(agents)}))
					b.StartTimer()
				}
				call(b, s, loadMore(pager(agents)))
				left--
			}
		})
	}
}

func pager(i int) string { return fmt.Sprintf("pager_%d", i) }

func call(b *testing.B, s *system, r engine.Request) {
	answer, err := s.Engine.Feed(b.Context(), r)
	if err != nil || len(answer.Docs) == 0 {
		b.Fatal(len(answer.Docs), err)
	}
}

// BenchmarkWhy compares pages with and without the reasons for their items. The two take turns, and
// "ratio" is the median of the ratios of neighbours.
func BenchmarkWhy(b *testing.B) {
	for _, mode := range []string{Embedded, Services} {
		for _, r := range []engine.Request{refresh(""), loadMore("")} {
			b.Run(fmt.Sprintf("%s/%s", mode, r.Action), func(b *testing.B) { benchmarkWhy(b, mode, r) })
		}
	}
}

func benchmarkWhy(b *testing.B, mode string, r engine.Request) {
	s := started(b, mode, 10_000)
	for i := range readers {
		require.NoError(b, s.Engine.PutProfile(b.Context(), reader(i), profile(i)))
		require.NoError(b, s.sessions(b.Context(), []string{reader(i)}))
	}
	var with, without, ratios []float64
	for i := 0; b.Loop(); i++ {
		var took [2]float64
		for turn := range 2 {
			r.Agent, r.Why = reader(i%readers), (i+turn)%2 == 0
			begun := time.Now()
			call(b, s, r)
			took[(i+turn)%2] = float64(time.Since(begun).Microseconds())
		}
		with, without, ratios = append(with, took[0]), append(without, took[1]), append(ratios, took[0]/took[1])
	}
	for unit, values := range map[string][]float64{"with-us": with, "without-us": without, "ratio": ratios} {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], unit)
	}
}
