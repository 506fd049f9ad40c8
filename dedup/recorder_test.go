package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
)

// flaky is a writer that can be blocked and made to fail.
type flaky struct {
	mu       sync.Mutex
	recorded map[dedup.Impression]int
	settled  map[dedup.Impression]bool
	batches  int
	fail     func(batch []dedup.Impression) ([]dedup.Impression, error)
	gate     chan struct{} // if set, Record waits for it
}

func newFlaky() *flaky {
	return &flaky{recorded: map[dedup.Impression]int{}, settled: map[dedup.Impression]bool{}}
}

func (f *flaky) Record(ctx context.Context, batch []dedup.Impression, _ time.Time) ([]dedup.Impression, error) {
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return batch, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batches++
	var unconfirmed []dedup.Impression
	var err error
	if f.fail != nil {
		unconfirmed, err = f.fail(batch)
	}
	failed := map[dedup.Impression]bool{}
	for _, i := range unconfirmed {
		failed[i] = true
	}
	for _, i := range batch {
		if !failed[i] {
			f.recorded[i]++
		}
	}
	return unconfirmed, err
}

func (f *flaky) ClearPending(_ context.Context, batch []dedup.Impression) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range batch {
		f.settled[i] = true
	}
	return nil
}

func (f *flaky) counts() (recorded, settled, batches int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.recorded), len(f.settled), f.batches
}

func start(t *testing.T, w dedup.Writer, cfg dedup.RecorderConfig) *dedup.Recorder {
	t.Helper()
	r, err := dedup.NewRecorder(t.Context(), w, time.Now, cfg)
	require.NoError(t, err)
	return r
}

func TestRecorderBatchesOverAgents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		r := start(t, f, dedup.RecorderConfig{Batch: 100, Linger: time.Second, Workers: 1, Grace: time.Hour})
		begin := time.Now()
		for a := range 50 {
			r.Deliver(fmt.Sprintf("u_%d", a), []string{"a", "b", "c", "d"})
		}
		totals := r.Close(t.Context())
		recorded, settled, batches := f.counts()
		assert.Equal(t, dedup.Totals{Delivered: 200, Recorded: 200}, totals)
		assert.Equal(t, 200, recorded)
		assert.Equal(t, 2, batches, "50 deliveries of 4 fill two batches of 100")
		assert.Zero(t, settled, "nothing is settled before the grace")
		assert.Zero(t, time.Since(begin), "a full batch waits for nothing, and Close for no grace")
	})
}

// TestRecorderLingers delivers less than a batch and checks that it is written when the oldest
// delivery has waited for the linger time.
func TestRecorderLingers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		r := start(t, f, dedup.RecorderConfig{Linger: 100 * time.Millisecond})
		defer r.Close(t.Context())
		time.Sleep(time.Minute) // time spent idle does not count toward the linger
		r.Deliver("u_1", []string{"a"})
		time.Sleep(60 * time.Millisecond)
		r.Deliver("u_2", []string{"b", "c"})
		time.Sleep(40*time.Millisecond - 1)
		synctest.Wait()
		_, _, batches := f.counts()
		assert.Zero(t, batches)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		recorded, _, batches := f.counts()
		assert.Equal(t, 3, recorded)
		assert.Equal(t, 1, batches)
	})
}

func TestRecorderRetriesUnconfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		tries := 0
		f.fail = func(batch []dedup.Impression) ([]dedup.Impression, error) {
			if tries++; tries == 1 {
				return batch[1:], errors.New("one shard is down")
			}
			return nil, nil
		}
		r := start(t, f, dedup.RecorderConfig{})
		defer r.Close(t.Context())
		begin := time.Now()
		require.NoError(t, r.Confirm(t.Context(), "u_1", []string{"a", "b", "c"}))
		assert.InDelta(t, 500*time.Millisecond, time.Since(begin)-5*time.Millisecond, float64(250*time.Millisecond), "after the first pause, give or take its half")
		assert.Equal(t, map[dedup.Impression]int{{Agent: "u_1", Group: "a"}: 1, {Agent: "u_1", Group: "b"}: 1, {Agent: "u_1", Group: "c"}: 1}, f.recorded)
	})
}

// TestRecorderDefersFailedBatch checks that a batch is deferred after failing for half a minute,
// and that later ones are written.
func TestRecorderDefersFailedBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		f.fail = func(batch []dedup.Impression) ([]dedup.Impression, error) { return batch, errors.New("down") }
		r := start(t, f, dedup.RecorderConfig{})
		defer r.Close(t.Context())
		begin := time.Now()
		require.ErrorIs(t, r.Confirm(t.Context(), "u_1", []string{"a"}), dedup.ErrUnavailable)
		took := time.Since(begin) - 5*time.Millisecond
		assert.LessOrEqual(t, took, 30*time.Second)
		assert.Greater(t, took, 10*time.Second, "it ends where the next pause would end too late")
		f.fail = nil
		require.NoError(t, r.Confirm(t.Context(), "u_1", []string{"b"}))
		assert.Equal(t, dedup.Totals{Delivered: 2, Recorded: 1, Deferred: 1}, r.Totals())
	})
}

func TestRecorderNeverBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		f.gate = make(chan struct{})
		r := start(t, f, dedup.RecorderConfig{Batch: 1, Workers: 1, Queue: 4})
		begin := time.Now()
		for range 2 { // the first is being written, the second waits for a worker
			r.Deliver("u_1", []string{"a"})
			synctest.Wait()
		}
		for range 998 { // returns although no write succeeds
			r.Deliver("u_1", []string{"a"})
		}
		assert.Equal(t, dedup.Totals{Delivered: 1000, Deferred: 1000 - 4 - 2}, r.Totals(), "all but the queue and what is in flight is deferred")
		assert.ErrorIs(t, r.Confirm(t.Context(), "u_1", []string{"b"}), dedup.ErrUnavailable)
		assert.Zero(t, time.Since(begin))
		close(f.gate)
		assert.Equal(t, dedup.Totals{Delivered: 1001, Recorded: 6, Deferred: 995}, r.Close(t.Context()))
	})
}

func TestRecorderCloseDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		f.fail = func(batch []dedup.Impression) ([]dedup.Impression, error) { return batch, errors.New("down") }
		r := start(t, f, dedup.RecorderConfig{GiveUp: time.Hour})
		r.Deliver("u_1", []string{"a", "b"})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		begin := time.Now()
		assert.Equal(t, dedup.Totals{Delivered: 2, Deferred: 2}, r.Close(ctx))
		assert.Equal(t, 50*time.Millisecond, time.Since(begin))
		r.Deliver("u_1", []string{"c"})
		assert.Equal(t, dedup.Totals{Delivered: 3, Deferred: 3}, r.Totals(), "after Close everything is deferred")
		assert.Equal(t, r.Totals(), r.Close(t.Context()), "closing twice is harmless")
	})
}

func TestRecorderPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		f.fail = func([]dedup.Impression) ([]dedup.Impression, error) { panic("boom") }
		r := start(t, f, dedup.RecorderConfig{})
		assert.ErrorIs(t, r.Confirm(t.Context(), "u_1", []string{"a"}), dedup.ErrUnavailable)
		totals := r.Close(t.Context())
		assert.Equal(t, dedup.Totals{Delivered: 1, Deferred: 1}, totals)
	})
}

func TestRecorderConcurrentDeliverAndClose(t *testing.T) {
	t.Parallel()
	f := newFlaky()
	r := start(t, f, dedup.RecorderConfig{Queue: 64})
	var wg sync.WaitGroup
	for a := range 16 {
		wg.Go(func() {
			for i := range 200 {
				r.Deliver(fmt.Sprintf("u_%d", a), []string{fmt.Sprint(i)})
			}
		})
	}
	r.Close(t.Context())
	wg.Wait()
	totals := r.Totals()
	assert.Equal(t, uint64(3200), totals.Delivered)
	assert.Equal(t, totals.Delivered, totals.Recorded+totals.Deferred)
}

func TestSizing(t *testing.T) {
	t.Parallel()
	cfg := deduptest.DefaultConfig()
	require.NoError(t, cfg.Validate())
	assert.InDelta(t, 0.001435, cfg.FilterRate(), 1e-6)
	assert.Equal(t, 62500, dedup.Config{DailyCapacity: 1_000_000}.ShardCapacity(16))
	assert.Equal(t, 4, dedup.Config{DailyCapacity: 10}.ShardCapacity(3))
	for name, bad := range map[string]func(*dedup.Config){
		"window":   func(c *dedup.Config) { c.WindowDays = 0 },
		"rate":     func(c *dedup.Config) { c.FalsePositiveRate = 1 },
		"capacity": func(c *dedup.Config) { c.DailyCapacity = 0 },
		"shards":   func(c *dedup.Config) { c.Shards = 0 },
		"ttl":      func(c *dedup.Config) { c.PendingTTL = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			c := deduptest.DefaultConfig()
			bad(&c)
			assert.Error(t, c.Validate())
		})
	}
}
