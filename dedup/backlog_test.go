package dedup

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// held is a writer that fails until it is let go.
type held struct{ free atomic.Bool }

func (h *held) Record(_ context.Context, batch []Impression, _ time.Time) ([]Impression, error) {
	if !h.free.Load() {
		return batch, errors.New("held")
	}
	return nil, nil
}

func (h *held) Settle(context.Context, []Impression) error { return nil }

// TestTheOldestUnrecordedImpressionIsKnown holds a writer up: what was
// delivered first is what the metric tells, until it is recorded.
func TestTheOldestUnrecordedImpressionIsKnown(t *testing.T) {
	var now atomic.Int64
	const first = 1_772_791_200
	now.Store(first)
	w := &held{}
	queued, inFlight := testutil.ToFloat64(recordQueue), testutil.ToFloat64(recordInFlight)
	r, err := NewRecorder(t.Context(), w, func() time.Time { return time.Unix(now.Load(), 0) },
		RecorderConfig{Batch: 2, Workers: 1, Linger: time.Millisecond})
	require.NoError(t, err)
	require.Zero(t, testutil.ToFloat64(recordOldest))

	r.Deliver("u_1", []string{"a", "b"})
	require.Eventually(t, func() bool { return testutil.ToFloat64(recordOldest) == first }, 10*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return testutil.ToFloat64(recordInFlight) == inFlight+2 }, 10*time.Second, time.Millisecond)
	// One batch is written, one waits for the worker, the rest is queued.
	now.Add(60)
	for range 4 {
		r.Deliver("u_2", []string{"a", "b"})
	}
	require.Eventually(t, func() bool { return testutil.ToFloat64(recordQueue) == queued+6 }, 10*time.Second, time.Millisecond)
	assert.EqualValues(t, first, testutil.ToFloat64(recordOldest), "the younger ones change nothing")

	w.free.Store(true)
	require.Eventually(t, func() bool { return r.Totals().Recorded == 10 }, 20*time.Second, time.Millisecond)
	r.Close(context.Background())
	assert.Zero(t, testutil.ToFloat64(recordOldest))
	assert.Equal(t, queued, testutil.ToFloat64(recordQueue))
	assert.Equal(t, inFlight, testutil.ToFloat64(recordInFlight))
}

func TestTheOldestOfSeveralBatchesCounts(t *testing.T) {
	var b backlog
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	two, one, three := b.begin(at(2)), b.begin(at(1)), b.begin(at(3))
	oldest := func() float64 { return testutil.ToFloat64(recordOldest) }
	assert.EqualValues(t, 1, oldest())
	b.end(one)
	assert.EqualValues(t, 2, oldest())
	b.end(three)
	assert.EqualValues(t, 2, oldest())
	b.end(two)
	assert.Zero(t, oldest())
}
