package bench

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestWatchOverlappingCalls has two overlapping calls, a later one, and one of another context.
func TestWatchOverlappingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch()
		ctx := watched(t.Context())
		before := w.now()
		first := w.time(ctx, &w.redis)
		time.Sleep(2 * time.Second)
		second := w.time(ctx, &w.elastic)
		other := w.time(context.WithoutCancel(t.Context()), &w.redis)
		w.onWire(time.Now().Add(-time.Second))
		time.Sleep(time.Second)
		first()
		time.Sleep(time.Second)
		second()
		time.Sleep(time.Second) // spent in our own code
		third := w.time(ctx, &w.redis)
		time.Sleep(time.Second)
		third()
		other()
		w.onWire(time.Now().Add(-time.Second)) // outside any watched call
		got := w.since(before, 6*time.Second)
		assert.Equal(t, spent{
			total: 6 * time.Second, busy: 5 * time.Second, redis: 4 * time.Second, elastic: 2 * time.Second, wire: time.Second,
		}, got)
		assert.InDelta(t, 1.0/6, got.own(), 1e-9)
	})
}
