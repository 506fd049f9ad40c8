package dedup

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// held is a writer that fails until it is released.
type held struct{ free atomic.Bool }

func (h *held) Record(_ context.Context, batch []Impression, _ time.Time) ([]Impression, error) {
	if !h.free.Load() {
		return batch, errors.New("held")
	}
	return nil, nil
}

func (h *held) ClearPending(context.Context, []Impression) error { return nil }

// TestOldestUnrecordedMetric blocks a writer and checks that the metric reports the
// time of the oldest delivery until it is recorded.
func TestOldestUnrecordedMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &held{}
		r, err := NewRecorder(t.Context(), w, time.Now, RecorderConfig{Batch: 2, Workers: 1, Linger: time.Millisecond, GiveUp: time.Hour})
		require.NoError(t, err)
		require.Zero(t, testutil.ToFloat64(recordOldest))

		first := time.Now().Unix()
		r.Deliver("u_1", []string{"a", "b"})
		synctest.Wait()
		assert.EqualValues(t, first, testutil.ToFloat64(recordOldest))
		// One batch is written, one waits for the worker, the rest is queued.
		time.Sleep(time.Minute)
		for range 4 {
			r.Deliver("u_2", []string{"a", "b"})
		}
		synctest.Wait()
		assert.EqualValues(t, first, testutil.ToFloat64(recordOldest), "the younger ones change nothing")

		w.free.Store(true)
		time.Sleep(longestPause)
		synctest.Wait()
		assert.EqualValues(t, 10, r.Totals().Recorded)
		assert.Zero(t, testutil.ToFloat64(recordOldest))
		r.Close(t.Context())
	})
}

// longestPause is the maximum pause between two retries, including jitter.
const longestPause = 3 * backoff.DefaultMaxInterval / 2

func TestOldestUnrecordedOfSeveralBatches(t *testing.T) {
	var b backlog
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, s := range []int64{2, 1, 3} {
		b.begin(at(s))
	}
	oldest := func() float64 { return testutil.ToFloat64(recordOldest) }
	assert.EqualValues(t, 1, oldest())
	b.end(at(1))
	assert.EqualValues(t, 2, oldest())
	b.end(at(3))
	assert.EqualValues(t, 2, oldest())
	b.end(at(2))
	assert.Zero(t, oldest())
}
