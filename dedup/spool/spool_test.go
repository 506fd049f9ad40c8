package spool_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/dedup/spool"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// every is the time between two passes of a spool in these tests.
const every = time.Second

// pass waits for n more passes of a spool that was opened a whole number of passes ago.
func pass(n int) {
	time.Sleep(time.Duration(n) * every)
	synctest.Wait()
}

// store is a real store that can be switched off.
type store struct {
	*dedupmemory.Store
	mu   sync.Mutex
	down bool
}

func newStore(t *testing.T) *store {
	t.Helper()
	m, err := dedupmemory.Open("", deduptest.DefaultConfig(), func() time.Time { return noon })
	require.NoError(t, err)
	return &store{Store: m}
}

func (s *store) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *store) Record(ctx context.Context, batch []dedup.Impression, now time.Time) ([]dedup.Impression, error) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return batch, fmt.Errorf("%w: switched off", dedup.ErrUnavailable)
	}
	return s.Store.Record(ctx, batch, now)
}

func (s *store) seen(t *testing.T, agent, group string) bool {
	t.Helper()
	out, err := s.Check(t.Context(), agent, []string{group}, noon)
	require.NoError(t, err)
	return out.Verdicts[0] != dedup.Unseen
}

// confirm returns the Confirm of a separate recorder.
func confirm(t *testing.T, w dedup.Writer, grace time.Duration) spool.Confirm {
	t.Helper()
	r, err := dedup.NewRecorder(t.Context(), w, func() time.Time { return noon }, dedup.RecorderConfig{Grace: cmp.Or(grace, 100*time.Millisecond)})
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(context.Background()) })
	return r.Confirm
}

// open opens a spool and waits for its first pass.
func open(t *testing.T, dir string, s *store, now time.Time, cfg spool.Config) *spool.Spool {
	t.Helper()
	cfg.Every = cmp.Or(cfg.Every, every)
	sp, err := spool.Open(t.Context(), dir, confirm(t, s, cfg.Grace), func() time.Time { return now }, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = sp.Close(context.Background()) })
	synctest.Wait()
	return sp
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.spool"))
	require.NoError(t, err)
	return files
}

func TestRecordedAfterStoreOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, dir := newStore(t), t.TempDir()
		s.set(true)
		sp := open(t, dir, s, noon, spool.Config{})
		for i := range 50 {
			require.NoError(t, sp.Keep("u_1", []string{fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)}, noon))
		}
		pass(10)
		assert.False(t, s.seen(t, "u_1", "a0"))
		assert.Len(t, segments(t, dir), 1)
		s.set(false)
		pass(30)
		for i := range 50 {
			assert.True(t, s.seen(t, "u_1", fmt.Sprintf("a%d", i)))
			assert.True(t, s.seen(t, "u_1", fmt.Sprintf("b%d", i)))
		}
		assert.Empty(t, segments(t, dir))
	})
}

// TestSpoolSurvivesKill opens a copy of the files of a spool that was not closed.
func TestSpoolSurvivesKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, dir := newStore(t), t.TempDir()
		s.set(true)
		sp := open(t, dir, s, noon, spool.Config{SegmentBytes: 200})
		for i := range 40 {
			require.NoError(t, sp.Keep("u_1", []string{fmt.Sprintf("a%d", i)}, noon))
		}
		left := t.TempDir()
		for _, file := range segments(t, dir) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(left, filepath.Base(file)), data, 0o600))
		}
		require.Greater(t, len(segments(t, left)), 3)

		next := newStore(t)
		next.set(true)
		sp = open(t, left, next, noon, spool.Config{})
		require.NoError(t, sp.Keep("u_2", []string{"late"}, noon))
		next.set(false)
		pass(30)
		for i := range 40 {
			assert.True(t, next.seen(t, "u_1", fmt.Sprintf("a%d", i)))
		}
		assert.True(t, next.seen(t, "u_2", "late"))
		assert.Empty(t, segments(t, left))
	})
}

func TestSpoolFullDropsOldest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, dir := newStore(t), t.TempDir()
		s.set(true)
		var log bytes.Buffer
		sp := open(t, dir, s, noon, spool.Config{
			MaxBytes: 4000, SegmentBytes: 500, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		for i := range 1000 {
			require.NoError(t, sp.Keep("u_1", []string{fmt.Sprintf("a%d", i)}, noon))
		}
		size := int64(0)
		for _, file := range segments(t, dir) {
			info, err := os.Stat(file)
			require.NoError(t, err)
			size += info.Size()
		}
		assert.LessOrEqual(t, size, int64(5000))
		require.NoError(t, sp.Close(t.Context()))
		assert.Contains(t, log.String(), "impressions dropped")

		s.set(false)
		open(t, dir, s, noon, spool.Config{})
		pass(2)
		assert.True(t, s.seen(t, "u_1", "a999"), "the newest are kept")
		assert.False(t, s.seen(t, "u_1", "a0"), "the oldest are dropped")
		assert.Empty(t, segments(t, dir))
	})
}

func TestSpoolDropsExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, dir := newStore(t), t.TempDir()
		s.set(true)
		sp := open(t, dir, s, noon, spool.Config{})
		require.NoError(t, sp.Keep("u_1", []string{"old"}, noon.Add(-8*24*time.Hour)))
		require.NoError(t, sp.Keep("u_1", []string{"new"}, noon))
		require.NoError(t, sp.Close(t.Context()))
		s.set(false)
		open(t, dir, s, noon, spool.Config{})
		pass(2)
		assert.True(t, s.seen(t, "u_1", "new"))
		assert.False(t, s.seen(t, "u_1", "old"))
		assert.Empty(t, segments(t, dir))
	})
}

func TestDirLockedByOneProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, dir := newStore(t), t.TempDir()
		sp := open(t, dir, s, noon, spool.Config{})
		_, err := spool.Open(t.Context(), dir, nil, func() time.Time { return noon }, spool.Config{})
		require.ErrorContains(t, err, "in use by another process")
		require.NoError(t, sp.Close(t.Context()))
		require.ErrorContains(t, sp.Keep("u_1", []string{"a"}, noon), "closed")
		require.NoError(t, sp.Close(t.Context()), "closing twice is harmless")
	})
}
