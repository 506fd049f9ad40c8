package spool

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
)

// gated is a store that is unavailable until up is set.
type gated struct{ up atomic.Bool }

func (g *gated) Record(_ context.Context, batch []dedup.Impression, _ time.Time) ([]dedup.Impression, error) {
	if !g.up.Load() {
		return batch, dedup.ErrUnavailable
	}
	return nil, nil
}

func (g *gated) ClearPending(context.Context, []dedup.Impression) error { return nil }

// TestSpoolMetrics checks the metrics while impressions are spooled, after a restart, and
// once the store is available.
func TestSpoolMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noon := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
		clock := func() time.Time { return noon.Add(time.Hour) }
		dir, store := t.TempDir(), &gated{}
		recorder, err := dedup.NewRecorder(t.Context(), store, clock, dedup.RecorderConfig{})
		require.NoError(t, err)
		defer recorder.Close(context.Background())
		s, err := Open(t.Context(), dir, recorder.Confirm, clock, Config{})
		require.NoError(t, err)
		synctest.Wait() // the first pass finds nothing to do
		assert.Zero(t, testutil.ToFloat64(spoolBytes))

		require.NoError(t, s.Keep("u_1", []string{"a", "b"}, noon))
		require.NoError(t, s.Keep("u_2", []string{"a"}, noon.Add(time.Minute)))
		size := testutil.ToFloat64(spoolBytes)
		assert.Positive(t, size)
		require.NoError(t, s.Close(t.Context()))

		spoolBytes.Set(0)
		s, err = Open(t.Context(), dir, recorder.Confirm, clock, Config{Every: time.Second})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close(context.Background())) }()
		time.Sleep(time.Minute - time.Millisecond)
		assert.Equal(t, size, testutil.ToFloat64(spoolBytes), "a restart finds them")

		store.up.Store(true)
		time.Sleep(time.Minute)
		assert.Zero(t, testutil.ToFloat64(spoolBytes))
	})
}
