package trending_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/trending"
	"github.com/freshet/freshet/trending/memory"
)

// clock is a clock that tests set.
type clock struct{ now atomic.Int64 }

func at(t time.Time) *clock {
	c := &clock{}
	c.now.Store(t.Unix())
	return c
}

func (c *clock) Now() time.Time { return time.Unix(c.now.Load(), 0) }

func (c *clock) Advance(d time.Duration) { c.now.Add(int64(d / time.Second)) }

// counting counts how often it is asked, and waits where it is told to.
type counting struct {
	index recall.Popular
	asked atomic.Int64
	held  chan struct{} // nil: it does not wait
}

func (c *counting) Popular(ctx context.Context, spans []recall.Span, n int) ([][]recall.PopularItem, error) {
	c.asked.Add(1)
	if c.held != nil {
		select {
		case <-c.held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c.index.Popular(ctx, spans, n)
}

// flaky is a store that may be down.
type flaky struct {
	trending.Store
	mu   sync.Mutex
	down error
}

func (f *flaky) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

func (f *flaky) Read(ctx context.Context, known string) (*trending.Set, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	return f.Store.Read(ctx, known)
}

func server(c *clock, store trending.Store, name string, cfg trending.Config) (*trending.Live, *counting) {
	index, docs := library(made(9, 40, func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(time.Hour))) }, func(r *rand.Rand) int64 { return 1 + r.Int64N(9) }))
	count := &counting{index: index}
	cfg.Clock, cfg.Server = c.Now, name
	return trending.NewLive(store, count, docs, cfg), count
}

func TestOneServerComputes(t *testing.T) {
	t.Parallel()
	c, store := at(noon), &memory.Store{}
	one, askedOne := server(c, store, "one", trending.Config{})
	two, askedTwo := server(c, store, "two", trending.Config{})
	set, _ := one.Set()
	require.Nil(t, set)
	for range 3 {
		require.NoError(t, one.Look(t.Context()))
		require.NoError(t, two.Look(t.Context()))
	}
	first, _ := one.Set()
	require.Len(t, first.Entries, 40)
	other, _ := two.Set()
	assert.Same(t, first, other, "both show what one has computed")
	assert.EqualValues(t, 1, askedOne.asked.Load())
	assert.Zero(t, askedTwo.asked.Load())

	c.Advance(5*time.Minute - time.Second)
	require.NoError(t, two.Look(t.Context()))
	assert.Zero(t, askedTwo.asked.Load(), "it is not due")
	c.Advance(time.Second)
	require.NoError(t, two.Look(t.Context()))
	require.NoError(t, one.Look(t.Context()))
	assert.EqualValues(t, 1, askedTwo.asked.Load(), "the one that looks first")
	assert.EqualValues(t, 1, askedOne.asked.Load())
	next, _ := one.Set()
	assert.Equal(t, first.At+300, next.At)
}

// TestAnotherTakesOver kills the server that computes.
func TestAnotherTakesOver(t *testing.T) {
	t.Parallel()
	c, store := at(noon), &memory.Store{}
	killed, asked := server(c, store, "killed", trending.Config{Lease: 200 * time.Millisecond})
	asked.held = make(chan struct{})
	ctx, kill := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- killed.Look(ctx) }()
	require.Eventually(t, func() bool { return asked.asked.Load() == 1 }, 30*time.Second, time.Millisecond)
	kill()
	require.ErrorIs(t, <-ended, context.Canceled)
	other, _ := server(c, store, "other", trending.Config{})
	require.Eventually(t, func() bool {
		set, _ := other.Set()
		return assert.NoError(t, other.Look(t.Context())) && set != nil
	}, 30*time.Second, time.Millisecond, "nobody takes over")
}

func TestTheLastSetStays(t *testing.T) {
	t.Parallel()
	c, store := at(noon), &flaky{Store: &memory.Store{}}
	l, asked := server(c, store, "one", trending.Config{})
	require.NoError(t, l.Look(t.Context()))
	store.set(trending.ErrUnavailable)
	c.Advance(time.Hour)
	require.ErrorIs(t, l.Look(t.Context()), trending.ErrUnavailable)
	set, stale := l.Set()
	require.Len(t, set.Entries, 40)
	assert.False(t, stale, "an hour old")
	c.Advance(time.Second)
	_, stale = l.Set()
	assert.True(t, stale, "older than an hour")
	assert.EqualValues(t, 1, asked.asked.Load(), "nothing is computed that the others could not see")
	store.set(nil)
	require.NoError(t, l.Look(t.Context()))
	_, stale = l.Set()
	assert.False(t, stale)
}

// TestASetFromTheFuture is what a server has left whose clock was wrong.
func TestASetFromTheFuture(t *testing.T) {
	t.Parallel()
	c, store := at(noon.Add(time.Hour)), &memory.Store{}
	wrong, _ := server(c, store, "wrong", trending.Config{})
	require.NoError(t, wrong.Look(t.Context()))
	c.Advance(-time.Hour)
	right, _ := server(c, store, "right", trending.Config{})
	require.NoError(t, right.Look(t.Context()))
	set, stale := right.Set()
	assert.Equal(t, noon.Unix(), set.At)
	assert.False(t, stale)
}

func TestRunLooks(t *testing.T) {
	t.Parallel()
	c, store := at(noon), &flaky{Store: &memory.Store{}}
	store.set(errors.New("not now"))
	l, _ := server(c, store, "one", trending.Config{Look: time.Millisecond})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	store.set(nil)
	require.Eventually(t, func() bool { set, _ := l.Set(); return set != nil }, 30*time.Second, time.Millisecond)
	c.Advance(5 * time.Minute)
	require.Eventually(t, func() bool { set, _ := l.Set(); return set.At == c.Now().Unix() }, 30*time.Second, time.Millisecond)
	stop()
	<-ended
}
