package learning_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/learning"
)

// memory is a learning store that can be made to fail.
type memory struct {
	mu      sync.Mutex
	of      map[string]*feed.Learning
	failing error
	fails   int           // number of calls that fail; negative: all
	held    chan struct{} // if not nil, each call waits for it
	called  chan struct{}
}

func newMemory() *memory {
	return &memory{of: map[string]*feed.Learning{}, called: make(chan struct{}, 1000)}
}

func (m *memory) Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error {
	m.called <- struct{}{}
	if m.held != nil {
		select {
		case <-m.held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != 0 {
		m.fails--
		return m.failing
	}
	if m.of[agent] == nil {
		m.of[agent] = &feed.Learning{}
	}
	change(m.of[agent])
	return nil
}

func (m *memory) acts(agent string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[agent] == nil {
		return 0
	}
	return len(m.of[agent].Acts)
}

var noon = time.Unix(1_772_798_400, 0)

func act(id string) []learning.Act {
	doc := fmt.Sprintf(`{"id":%q,"title":"About golang","update_time":1772791200}`, id)
	return []learning.Act{{Kind: feed.Clicked, Group: id, Doc: feed.Doc{ID: id, JSON: []byte(doc)}}}
}

func TestBuffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		b := learning.NewBuffer(t.Context(), m, learning.Config{})
		for i := range 300 {
			require.True(t, b.Acted(fmt.Sprint("u", i%3), time.Hour, act(fmt.Sprint("i", i/2)), noon))
		}
		require.NoError(t, b.Flush(t.Context()))
		for _, agent := range []string{"u0", "u1", "u2"} {
			assert.Equal(t, 100, m.acts(agent))
			assert.Equal(t, 100, m.of[agent].Features[0].Clicks)
		}
		require.True(t, b.Acted("late", 0, append(act("a"), learning.Act{Kind: feed.Liked, Group: "gone", Doc: feed.Doc{ID: "gone"}}), noon))
		b.Close(t.Context())
		assert.Equal(t, 1, m.acts("late"), "what is queued when it is closed is learned; of what cannot be read nothing is")
	})
}

func TestBufferRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.failing, m.fails = catalog.ErrUnavailable, 2
		b := learning.NewBuffer(t.Context(), m, learning.Config{})
		begin := time.Now()
		require.True(t, b.Acted("u", 0, act("a"), noon))
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, 1, m.acts("u"))
		assert.GreaterOrEqual(t, time.Since(begin), 50*time.Millisecond+75*time.Millisecond, "two pauses, the shortest there are")
		assert.LessOrEqual(t, time.Since(begin), 150*time.Millisecond+225*time.Millisecond, "two pauses, the longest there are")

		m.mu.Lock()
		m.failing, m.fails = errors.New("it is refused"), 1
		m.mu.Unlock()
		begin = time.Now()
		require.True(t, b.Acted("u", 0, act("b"), noon))
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, 1, m.acts("u"), "what is refused is not tried again")
		assert.Zero(t, time.Since(begin))
		b.Close(t.Context())
	})
}

func TestBufferFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.held = make(chan struct{})
		b := learning.NewBuffer(t.Context(), m, learning.Config{Config: signals.Config{Queue: 1}})
		require.True(t, b.Acted("u", 0, act("a"), noon))
		<-m.called
		require.True(t, b.Acted("u", 0, act("b"), noon))
		require.False(t, b.Acted("u", 0, act("c"), noon))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, b.Flush(ctx), context.Canceled)
		close(m.held)
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, 2, m.acts("u"))
		b.Close(t.Context())
	})
}

// TestBufferBounded adds acts on large items while the store is blocked: waiting acts take no
// more than the configured bytes, except that a single call larger than that is accepted when
// nothing else waits.
func TestBufferBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.held = make(chan struct{})
		b := learning.NewBuffer(t.Context(), m, learning.Config{Bytes: 100_000})
		large := func(id string, size int) []learning.Act {
			acts := act(id)
			acts[0].Doc.JSON = fmt.Appendf(nil, `{"id":%q,"title":"About golang","update_time":1772791200,"body":%q}`, id, strings.Repeat("x", size))
			return acts
		}
		require.True(t, b.Acted("u", 0, large("first", 200_000), noon))
		<-m.called
		require.False(t, b.Acted("u", 0, act("more"), noon), "what is being learned takes room, too")
		m.held <- struct{}{}
		require.NoError(t, b.Flush(t.Context()))
		taken := 0
		for ; b.Acted("u", 0, large(fmt.Sprint("i", taken), 10_000), noon); taken++ {
			require.Less(t, taken, 100)
		}
		assert.Equal(t, 9, taken)
		close(m.held)
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, 10, m.acts("u"))
		require.True(t, b.Acted("u", 0, act("more"), noon), "there is room again")
		b.Close(t.Context())
		assert.Equal(t, 11, m.acts("u"))
	})
}

// TestBufferErase erases an agent while one of their acts is being retried: it must not
// count, but their later acts must.
func TestBufferErase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.failing, m.fails = catalog.ErrUnavailable, 1
		b := learning.NewBuffer(t.Context(), m, learning.Config{Clock: func() time.Time { return noon.Add(time.Hour) }})
		require.True(t, b.Acted("u", 0, act("a"), noon))
		<-m.called
		m.mu.Lock()
		m.of["u"] = &feed.Learning{}
		m.of["u"].Erase(noon.Add(time.Second))
		m.mu.Unlock()
		require.NoError(t, b.Flush(t.Context()))
		assert.Zero(t, m.acts("u"))
		require.True(t, b.Acted("u", 0, act("a"), noon.Add(2*time.Second)))
		b.Close(t.Context())
		assert.Equal(t, 1, m.acts("u"))
	})
}

// TestBufferCloseStoreDown closes the buffer while the store is down.
func TestBufferCloseStoreDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.failing, m.fails = catalog.ErrUnavailable, -1
		b := learning.NewBuffer(t.Context(), m, learning.Config{})
		require.True(t, b.Acted("u", 0, act("a"), noon))
		<-m.called
		begin := time.Now()
		b.Close(t.Context())
		assert.Zero(t, m.acts("u"))
		assert.Equal(t, time.Second, time.Since(begin), "it bears with the store for a second")
	})
}
