package popularity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/popularity"
)

// ledger is a store that records its calls and can be made to fail.
type ledger struct {
	mu      sync.Mutex
	acts    []popularity.Act
	failing int           // number of calls that fail; negative: all
	held    chan struct{} // if not nil, each call waits for it
	called  chan struct{}
}

func newLedger() *ledger { return &ledger{called: make(chan struct{}, 1000)} }

func (l *ledger) Count(ctx context.Context, acts []popularity.Act) error {
	l.called <- struct{}{}
	if l.held != nil {
		select {
		case <-l.held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failing != 0 {
		l.failing--
		return fmt.Errorf("%w: the disk is away", popularity.ErrUnavailable)
	}
	if slices.ContainsFunc(acts, func(a popularity.Act) bool { return a.Item == "refused" }) {
		return errors.New("it holds the wrong kind of value")
	}
	l.acts = append(l.acts, acts...)
	return nil
}

func (l *ledger) Forget(_ context.Context, agent uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acts = slices.DeleteFunc(l.acts, func(a popularity.Act) bool { return a.Agent == agent })
	return nil
}

func (l *ledger) counted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acts)
}

// on returns clicks on items.
func on(items ...string) (acts []popularity.Act) {
	for _, item := range items {
		acts = append(acts, popularity.Act{Item: item})
	}
	return acts
}

var noon = time.Unix(1_772_798_400, 0)

func TestBuffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		b := popularity.NewBuffer(t.Context(), l, signals.Config{})
		require.True(t, b.Acted("u", on("a", "b"), noon))
		require.True(t, b.Acted("v", on("a"), noon.Add(time.Second)))
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, []popularity.Act{
			{Agent: popularity.Agent("u"), Item: "a", At: noon.Unix()},
			{Agent: popularity.Agent("u"), Item: "b", At: noon.Unix()},
			{Agent: popularity.Agent("v"), Item: "a", At: noon.Unix() + 1},
		}, l.acts)
		require.True(t, b.Acted("w", on("c"), noon))
		b.Close(t.Context())
		assert.Equal(t, 4, l.counted(), "what is queued when it is closed counts")
	})
}

func TestBufferRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.failing = 2
		b := popularity.NewBuffer(t.Context(), l, signals.Config{})
		begin := time.Now()
		require.True(t, b.Acted("u", on("a"), noon))
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, 1, l.counted())
		assert.GreaterOrEqual(t, time.Since(begin), 50*time.Millisecond+75*time.Millisecond, "two pauses, the shortest there are")
		assert.LessOrEqual(t, time.Since(begin), 150*time.Millisecond+225*time.Millisecond, "two pauses, the longest there are")
		b.Close(t.Context())
	})
}

// TestBufferDropsRefused checks that an act that can never be counted does not block the
// others.
func TestBufferDropsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		b := popularity.NewBuffer(t.Context(), l, signals.Config{})
		require.True(t, b.Acted("u", on("a", "b", "refused", "c", "d", "refused", "e"), noon))
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, 5, l.counted())
		b.Close(t.Context())
	})
}

func TestBufferFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.held = make(chan struct{})
		b := popularity.NewBuffer(t.Context(), l, signals.Config{Queue: 1})
		require.True(t, b.Acted("u", on("a"), noon))
		<-l.called
		require.True(t, b.Acted("u", on("b"), noon))
		require.False(t, b.Acted("u", on("c"), noon))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, b.Flush(ctx), context.Canceled)
		close(l.held)
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, 2, l.counted())
		b.Close(t.Context())
	})
}

// TestBufferCloseStoreDown closes the buffer while the store is down.
func TestBufferCloseStoreDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.failing = -1
		b := popularity.NewBuffer(t.Context(), l, signals.Config{})
		require.True(t, b.Acted("u", on("a"), noon))
		<-l.called
		begin := time.Now()
		b.Close(t.Context())
		assert.Zero(t, l.counted())
		assert.Equal(t, time.Second, time.Since(begin), "it bears with the store for a second")
	})
}

// TestBufferErase erases an agent while one of their acts waits for an unavailable store.
func TestBufferErase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.held = make(chan struct{})
		b := popularity.NewBuffer(t.Context(), l, signals.Config{})
		require.True(t, b.Acted("u", on("a"), noon))
		require.True(t, b.Acted("v", on("a"), noon))
		<-l.called
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, b.Forget(ctx, "u"), popularity.ErrUnavailable, "it cannot be said to be forgotten")
		close(l.held)
		require.NoError(t, b.Forget(t.Context(), "u"))
		b.Close(t.Context())
		assert.Equal(t, []popularity.Act{{Agent: popularity.Agent("v"), Item: "a", At: noon.Unix()}}, l.acts)
	})
}
