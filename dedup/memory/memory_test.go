package memory

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func TestMain(m *testing.M) {
	// The package ants, which the recorder uses, has a global pool.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).purgeStaleWorkers"),
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).ticktock"))
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func atStart() time.Time { return deduptest.Start }

// opener opens a store in RAM or in a temporary directory.
func opener(onDisk bool) func(t *testing.T, cfg dedup.Config) deduptest.Store {
	return func(t *testing.T, cfg dedup.Config) deduptest.Store {
		dir := ""
		if onDisk {
			dir = t.TempDir()
		}
		s, err := Open(dir, cfg, atStart, WithLogger(quiet()))
		require.NoError(t, err)
		// The test's context is already canceled when cleanups run.
		t.Cleanup(func() { require.NoError(t, s.Close(cleanupContext())) })
		return s
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	t.Run("in RAM", func(t *testing.T) { deduptest.Run(t, opener(false)) })
	t.Run("on disk", func(t *testing.T) { deduptest.Run(t, opener(true)) })
}

// TestHold checks that a held group is pending regardless of its earlier state, and that releasing
// a claim does not end the hold.
func TestHold(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{true, false} {
		cfg := deduptest.DefaultConfig()
		cfg.Served, cfg.PendingTTL = served, 30*time.Minute
		s := opener(true)(t, cfg).(*Store)
		ctx, start := t.Context(), deduptest.Start
		held := func(at time.Time, groups ...string) []bool {
			t.Helper()
			held, err := s.Pending(ctx, "u_1", groups, at)
			require.NoError(t, err)
			return held
		}
		require.NoError(t, s.Claim(ctx, "u_1", []string{"claimed", "both"}, start))
		require.NoError(t, s.Claim(ctx, "u_2", []string{"claimed"}, start))
		for range 2 {
			require.NoError(t, s.AddShown(ctx, "u_1", []string{"both", "held"}, start.Add(-time.Minute)))
		}
		require.NoError(t, s.AddShown(ctx, "u_1", nil, start))
		require.Equal(t, []bool{true, true, true, false}, held(start, "claimed", "both", "held", "new"))
		for range 2 {
			require.NoError(t, s.Release(ctx, "u_1", []string{"claimed", "both", "held", "new"}))
			require.Equal(t, []bool{false, true, true, false}, held(start, "claimed", "both", "held", "new"))
		}
		// The later of two times counts.
		last := start.Add(cfg.PendingTTL)
		require.Equal(t, []bool{true, false}, held(last, "both", "held"))
		require.NoError(t, s.AddShown(ctx, "u_1", []string{"held"}, start.Add(time.Minute)))
		require.Equal(t, []bool{true}, held(last.Add(time.Minute), "held"))

		require.NoError(t, s.ClearPending(ctx, []dedup.Impression{{Agent: "u_1", Group: "both"}}))
		require.Equal(t, []bool{false, true}, held(start, "both", "held"))
		require.NoError(t, s.Forget(ctx, "u_1"))
		require.Equal(t, []bool{false}, held(start, "held"))
		other, err := s.Pending(ctx, "u_2", []string{"claimed"}, start)
		require.NoError(t, err)
		require.Equal(t, []bool{true}, other, "another agent's claim stands")
	}
}

func TestFalsePositives(t *testing.T) {
	testenv.WithoutRace(t)
	deduptest.FalsePositives(t, opener(false))
}

func groupNames(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("doc_%d", i)
	}
	return list
}

// BenchmarkCheck checks the 500 candidates of a refresh against seven full filters.
func BenchmarkCheck(b *testing.B) {
	cfg := deduptest.DefaultConfig()
	s, err := Open("", cfg, atStart)
	require.NoError(b, err)
	fillWindow(b, s, cfg)
	groups := groupNames(500)
	agents := make([]string, 1024)
	for i := range agents {
		agents[i] = fmt.Sprintf("reader_%d", i)
	}
	now := deduptest.Start.AddDate(0, 0, cfg.WindowDays-1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := s.Check(b.Context(), agents[i%len(agents)], groups, now); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// fillWindow fills every day of the window to its capacity.
func fillWindow(tb testing.TB, s *Store, cfg dedup.Config) {
	batch := make([]dedup.Impression, 10_000)
	for day := range cfg.WindowDays {
		for n := 0; n < cfg.DailyCapacity; n += len(batch) {
			for i := range batch {
				batch[i] = dedup.Impression{Agent: "u_10086", Group: fmt.Sprintf("doc_%d_%d", day, n+i)}
			}
			_, err := s.Record(tb.Context(), batch, deduptest.Start.AddDate(0, 0, day))
			require.NoError(tb, err)
		}
	}
}

func BenchmarkClaim(b *testing.B) {
	for _, dir := range []string{"", b.TempDir()} {
		name := "disk"
		if dir == "" {
			name = "ram"
		}
		b.Run(name, func(b *testing.B) {
			s, err := Open(dir, deduptest.DefaultConfig(), atStart, WithLogger(quiet()))
			require.NoError(b, err)
			defer func() { _ = s.Close(cleanupContext()) }()
			groups := groupNames(20)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Claim(b.Context(), "u_10086", groups, deduptest.Start); err != nil {
					b.Fatal(err)
				}
				if err := s.Release(b.Context(), "u_10086", groups); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecord(b *testing.B) {
	s, err := Open("", deduptest.DefaultConfig(), atStart, WithLogger(quiet()))
	require.NoError(b, err)
	batch := make([]dedup.Impression, 1_000)
	for i := range batch {
		batch[i] = dedup.Impression{Agent: fmt.Sprintf("u_%d", i/20), Group: fmt.Sprintf("doc_%d", i)}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Record(b.Context(), batch, deduptest.Start); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBytesPerImpression checks the documented size per impression at the default rate.
func TestBytesPerImpression(t *testing.T) {
	t.Parallel()
	cfg := deduptest.DefaultConfig()
	f := newFilter(feed.DayOf(deduptest.Start), uint64(cfg.DailyCapacity), cfg.FilterRate())
	bytes := float64(f.bytes()) / float64(cfg.DailyCapacity)
	t.Logf("%.2f bytes an impression", bytes)
	require.LessOrEqual(t, bytes, 2.0)
}
