package trending_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/recall/trending/trendingtest"
)

// clock is a server's clock in a synctest bubble: it advances with the bubble's.
type clock struct{ ahead time.Duration }

// at returns a clock that currently shows t.
func at(t time.Time) clock { return clock{time.Until(t)} }

func (c clock) Now() time.Time { return time.Now().Add(c.ahead) }

// counting counts calls, and blocks them while held is set.
type counting struct {
	index recall.Popular
	asked atomic.Int64
	held  chan struct{} // nil means that calls do not wait
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

// flaky is a store that can be down.
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

func server(c clock, store trending.Store, cfg trending.Config) (*trending.Live, *counting) {
	index, docs := library(made(9, 40, func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(time.Hour))) }, func(r *rand.Rand) int64 { return 1 + r.Int64N(9) }))
	count := &counting{index: index}
	cfg.Clock = c.Now
	return trending.NewLive(store, count, docs, cfg), count
}

func TestComputeOnOneServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, store := at(noon), &trendingtest.Memory{}
		one, askedOne := server(c, store, trending.Config{})
		two, askedTwo := server(c, store, trending.Config{})
		set, _ := one.Set()
		require.Nil(t, set)
		for range 3 {
			require.NoError(t, one.Update(t.Context()))
			require.NoError(t, two.Update(t.Context()))
		}
		first, _ := one.Set()
		require.Len(t, first.Entries, 40)
		other, _ := two.Set()
		assert.Same(t, first, other, "both show what one has computed")
		assert.EqualValues(t, 1, askedOne.asked.Load())
		assert.Zero(t, askedTwo.asked.Load())

		time.Sleep(5*time.Minute - 1)
		require.NoError(t, two.Update(t.Context()))
		assert.Zero(t, askedTwo.asked.Load(), "it is not due")
		time.Sleep(time.Nanosecond)
		require.NoError(t, two.Update(t.Context()))
		require.NoError(t, one.Update(t.Context()))
		assert.EqualValues(t, 1, askedTwo.asked.Load(), "the one that looks first")
		assert.EqualValues(t, 1, askedOne.asked.Load())
		next, _ := one.Set()
		assert.Equal(t, first.At+300, next.At)
	})
}

// TestComputeWithoutStore checks that a server without a store computes the set itself.
func TestComputeWithoutStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, asked := server(at(noon), nil, trending.Config{})
		for n := range 3 {
			require.NoError(t, l.Update(t.Context()))
			require.NoError(t, l.Update(t.Context()))
			set, _ := l.Set()
			require.Len(t, set.Entries, 40)
			assert.Equal(t, noon.Unix()+300*int64(n), set.At)
			assert.EqualValues(t, n+1, asked.asked.Load(), "when it is due")
			time.Sleep(5 * time.Minute)
		}
	})
}

// TestComputeTakenOver kills the server that computes: another takes over when its lease has
// expired.
func TestComputeTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, store := at(noon), &trendingtest.Memory{}
		killed, asked := server(c, store, trending.Config{})
		asked.held = make(chan struct{})
		ctx, kill := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- killed.Update(ctx) }()
		synctest.Wait()
		require.EqualValues(t, 1, asked.asked.Load())
		time.Sleep(5 * time.Second)
		kill()
		require.ErrorIs(t, <-ended, context.Canceled)
		other, _ := server(c, store, trending.Config{})
		time.Sleep(10*time.Second - 1)
		require.NoError(t, other.Update(t.Context()))
		set, _ := other.Set()
		assert.Nil(t, set, "15 seconds after the lease began")
		time.Sleep(time.Nanosecond)
		require.NoError(t, other.Update(t.Context()))
		set, _ = other.Set()
		assert.NotNil(t, set)
	})
}

func TestLastSetKeptStoreDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, store := at(noon), &flaky{Store: &trendingtest.Memory{}}
		l, asked := server(c, store, trending.Config{})
		require.NoError(t, l.Update(t.Context()))
		store.set(trending.ErrUnavailable)
		time.Sleep(time.Hour)
		require.ErrorIs(t, l.Update(t.Context()), trending.ErrUnavailable)
		set, stale := l.Set()
		require.Len(t, set.Entries, 40)
		assert.False(t, stale, "an hour old")
		time.Sleep(time.Nanosecond)
		_, stale = l.Set()
		assert.True(t, stale, "older than an hour")
		assert.EqualValues(t, 1, asked.asked.Load(), "nothing is computed that the others could not see")
		store.set(nil)
		require.NoError(t, l.Update(t.Context()))
		_, stale = l.Set()
		assert.False(t, stale)
	})
}

// TestSetFromFuture: a server with a wrong clock has stored a set from the future.
func TestSetFromFuture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &trendingtest.Memory{}
		wrong, _ := server(at(noon.Add(time.Hour)), store, trending.Config{})
		require.NoError(t, wrong.Update(t.Context()))
		right, _ := server(at(noon), store, trending.Config{})
		require.NoError(t, right.Update(t.Context()))
		set, stale := right.Set()
		assert.Equal(t, noon.Unix(), set.At)
		assert.False(t, stale)
	})
}

// TestRunPolls checks the store every five seconds; the store is down at first.
func TestRunPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, store := at(noon), &flaky{Store: &trendingtest.Memory{}}
		store.set(errors.New("not now"))
		var log bytes.Buffer
		l, _ := server(c, store, trending.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go l.Run(ctx)
		after := func(d time.Duration) *trending.Set {
			time.Sleep(d)
			synctest.Wait()
			set, _ := l.Set()
			return set
		}
		require.Nil(t, after(6*time.Second))
		assert.Equal(t, 1, strings.Count(log.String(), "the trending set cannot be updated"), "it is logged once")
		store.set(nil)
		require.Nil(t, after(4*time.Second-1))
		require.Equal(t, noon.Unix()+10, after(1).At)
		assert.Equal(t, 1, strings.Count(log.String(), "the trending set is updated again"))
		require.Equal(t, noon.Unix()+10, after(5*time.Minute-1).At)
		require.Equal(t, noon.Unix()+310, after(1).At)
	})
}
