package oldtokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// erasures is a store of erased agents.
type erasures struct {
	mu    sync.Mutex
	list  []social.ErasedAgent
	calls int
	err   error
}

func (e *erasures) ErasedAgents(_ context.Context, since int64, after string, n int) (list []social.ErasedAgent, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	for _, a := range e.list {
		if cmp.Or(cmp.Compare(a.At, since), cmp.Compare(a.ID, after)) > 0 && len(list) < n {
			list = append(list, a)
		}
	}
	return list, e.err
}

func (e *erasures) erase(agent string, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, social.ErasedAgent{ID: agent, At: at.UnixMicro()})
	slices.SortFunc(e.list, func(a, b social.ErasedAgent) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
}

func (e *erasures) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// TestFollows: erasures of other servers are known after a second, also those that are committed late, and whose stamps
// are ahead of the clock or behind it. While the store is down, those that are known stay.
func TestFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		store := &erasures{}
		store.erase("before", time.Now().Add(-time.Hour))
		l := New(store, time.Now, slog.New(slog.NewTextHandler(&log, nil)))
		require.Zero(t, l.Erased("before"))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { l.Run(ctx); close(ended) }()
		known := func(agent string, want bool) {
			t.Helper()
			time.Sleep(Every)
			synctest.Wait()
			require.Equal(t, want, l.Erased(agent) > 0, agent)
		}
		known("before", true)
		known("nobody", false)
		store.erase("ahead", time.Now().Add(20*time.Hour))
		known("ahead", true)
		store.erase("now", time.Now())
		known("now", true)
		store.erase("late", time.Now().Add(-overlap/2))
		known("late", true)

		store.fail(errors.New("no connection"))
		store.erase("down", time.Now())
		known("down", false)
		known("now", true)
		store.fail(nil)
		known("down", true)
		require.Equal(t, 1, strings.Count(log.String(), "it cannot be read who was erased"))
		require.Contains(t, log.String(), "it is read again who was erased")

		again := time.Now()
		store.erase("before", again)
		known("before", true)
		require.Equal(t, again.UnixMicro(), l.Erased("before"), "the last erasure")
		stop()
		<-ended
	})
}

// TestPages reads more erasures than a page has, and then only the latest.
func TestPages(t *testing.T) {
	t.Parallel()
	store, now := &erasures{}, time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	for i := range 2*most + 1 {
		at := now.Add(-24 * time.Hour)
		if i < most/2 {
			at = now.Add(-time.Second)
		}
		store.list = append(store.list, social.ErasedAgent{ID: fmt.Sprintf("a%05d", i), At: at.UnixMicro()})
	}
	slices.SortFunc(store.list, func(a, b social.ErasedAgent) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
	l := New(store, func() time.Time { return now }, nil)
	require.NoError(t, l.Refresh(t.Context()))
	require.Equal(t, 3, store.calls)
	for _, a := range store.list {
		require.Equal(t, a.At, l.Erased(a.ID))
	}
	require.NoError(t, l.Refresh(t.Context()))
	require.Equal(t, 4, store.calls)
}
