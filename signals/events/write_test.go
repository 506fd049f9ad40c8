package events_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/events"
)

// TestBufferStoreDown keeps counting while the store is down; a batch that was counted although
// its answer was lost must not count twice.
func TestBufferStoreDown(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("answer lost ", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlaky()
				f.fail(fmt.Errorf("%w: no connection", events.ErrUnavailable), lost)
				b := start(t, f, events.BufferConfig{})
				for i := range 50 {
					b.CountPage(events.Delivery{Run: "control", Agent: fmt.Sprint("u_", i), Docs: page(3, 0)}, noon)
					require.True(t, b.CountActs(events.Acts{Run: "control", Other: []events.Event{{Hash: uint64(i), Field: "click"}}}, noon))
					time.Sleep(time.Second / 2) // spans several writes
				}
				f.fail(nil, false)
				begin := time.Now()
				flush(t, b)
				assert.LessOrEqual(t, time.Since(begin), longestWait)
				got := f.at("control 20260306")
				assert.EqualValues(t, 150, got.Counts["impressions"])
				assert.EqualValues(t, 50, got.Counts["click"])
				assert.Len(t, f.agents, 50)
				b.Close(t.Context())
			})
		})
	}
}

// longestWait is the longest wait between two tries, including jitter.
const longestWait = 5 * time.Second * 3 / 2

// TestBufferSplitsLargeBatches checks that the parts stay in order while some of them fail.
func TestBufferSplitsLargeBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		b := start(t, f, events.BufferConfig{Every: time.Hour, Config: signals.Config{Queue: 30_000}})
		var acts []events.Event
		for i := range 23_456 {
			acts = append(acts, events.Event{Hash: uint64(i), Field: string(events.Kinds[i%2])})
		}
		require.True(t, b.CountActs(events.Acts{Run: "control", Other: acts}, noon))
		for i := range 12_000 {
			b.CountPage(events.Delivery{Run: "control", Agent: fmt.Sprint("u_", i), Docs: page(1, 0)}, noon)
		}
		f.fail(events.ErrUnavailable, false)
		time.AfterFunc(time.Second, func() { f.fail(nil, false) })
		begin := time.Now()
		flush(t, b)
		assert.Greater(t, time.Since(begin), time.Second)
		got := f.at("control 20260306")
		assert.EqualValues(t, 12_000, got.Counts["impressions"])
		assert.EqualValues(t, 23_456, got.Counts["click"]+got.Counts["like"])
		assert.Len(t, f.agents, 12_000)
		b.Close(t.Context())
	})
}

// TestBufferBounded closes a buffer while the store is down: the store receives nothing, and
// everything that was accepted is counted as dropped.
func TestBufferBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		f.fail(events.ErrUnavailable, false)
		impressions, acts, members := dropped(t, "impressions"), dropped(t, "acts"), dropped(t, "members")
		b := start(t, f, events.BufferConfig{Config: signals.Config{Queue: 4}, Members: 10})
		b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(1, 0)}, noon)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Positive(t, f.tries)
		taken := 0
		for i := range 2000 {
			b.CountPage(events.Delivery{Run: "control", Agent: fmt.Sprint("u_", i), Docs: page(1, 0)}, noon)
			if b.CountActs(events.Acts{Run: "control", Other: []events.Event{{Hash: uint64(i), Field: "click"}}}, noon) {
				taken++
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		b.Close(ctx)
		assert.Zero(t, time.Since(begin))
		assert.Equal(t, impressions+2001, dropped(t, "impressions"))
		assert.Equal(t, acts+float64(taken), dropped(t, "acts"))
		assert.Greater(t, dropped(t, "members"), members)
		assert.Zero(t, f.at("control 20260306").Counts["impressions"])
	})
}

// TestCloseStoreFails: a full disk stays full. Close retries for one second,
// or until its context ends.
func TestCloseStoreFails(t *testing.T) {
	for _, most := range []time.Duration{time.Second, 300 * time.Millisecond} {
		t.Run(most.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlaky()
				f.fail(events.ErrUnavailable, false)
				before := dropped(t, "impressions")
				b := start(t, f, events.BufferConfig{Every: time.Hour})
				b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(3, 0)}, noon)
				ctx := t.Context()
				if most < time.Second {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, most)
					defer cancel()
				}
				begin := time.Now()
				b.Close(ctx)
				assert.Equal(t, most, time.Since(begin))
				assert.Equal(t, before+3, dropped(t, "impressions"))
			})
		})
	}
}

// TestCloseShortFailure covers for example a Redis failover, whether it has just begun
// or began earlier.
func TestCloseShortFailure(t *testing.T) {
	for _, since := range []time.Duration{0, time.Minute} {
		t.Run(since.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlaky()
				f.fail(events.ErrUnavailable, false)
				before := dropped(t, "impressions")
				b := start(t, f, events.BufferConfig{})
				b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(3, 0)}, noon)
				time.Sleep(since)
				b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(4, 0)}, noon)
				time.AfterFunc(100*time.Millisecond, func() { f.fail(nil, false) })
				begin := time.Now()
				b.Close(t.Context())
				assert.Less(t, time.Since(begin), time.Second)
				assert.EqualValues(t, 7, f.at("control 20260306").Counts["impressions"])
				assert.Equal(t, before, dropped(t, "impressions"))
			})
		})
	}
}

// TestBufferDropsUncountable checks that an entry that can never be counted does not
// delay the rest.
func TestBufferDropsUncountable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		before := dropped(t, "impressions")
		f.fail(fmt.Errorf("wrong type"), false)
		b := start(t, f, events.BufferConfig{Every: time.Hour})
		begin := time.Now()
		b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(7, 0)}, noon)
		flush(t, b)
		assert.Equal(t, before+7, dropped(t, "impressions"))
		f.fail(nil, false)
		b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(2, 0)}, noon)
		flush(t, b)
		assert.Zero(t, time.Since(begin))
		assert.EqualValues(t, 2, f.at("control 20260306").Counts["impressions"])
		b.Close(t.Context())
	})
}
