package memory

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/cache/cachetest"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/feed"
)

// handClock is a clock that the test sets.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *handClock { return &handClock{now: cachetest.Start} }

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func inProcess(t testing.TB, clock feed.Clock) *dedupmemory.Store {
	t.Helper()
	store, err := dedupmemory.Open("", deduptest.DefaultConfig(), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close(context.WithoutCancel(t.Context())) })
	return store
}

func TestConformance(t *testing.T) {
	t.Parallel()
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		clock := newClock()
		// The pending set uses the suite's fixed time, independent of the sessions' clock.
		seen := inProcess(t, newClock().Now)
		s := New(seen, ttl, clock.Now)
		return cachetest.Env{A: s, B: s, Seen: seen, Advance: clock.Advance}
	})
}

func refs(from, to int) []feed.Ref {
	var list []feed.Ref
	for i := from; i < to; i++ {
		id := fmt.Sprintf("doc_%d", i)
		list = append(list, feed.Ref{ID: id, Group: id})
	}
	return list
}

// faulty is a claimer whose calls fail after the first ok calls.
type faulty struct {
	dedup.Claimer
	ok  int // number of calls that still succeed
	err error
}

func (f *faulty) fails() error {
	if f.ok--; f.ok < 0 {
		return f.err
	}
	return nil
}

func (f *faulty) Pending(ctx context.Context, agent string, groups []string, now time.Time) ([]bool, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Claimer.Pending(ctx, agent, groups, now)
}

func (f *faulty) Claim(ctx context.Context, agent string, groups []string, now time.Time) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Claimer.Claim(ctx, agent, groups, now)
}

func TestReplaceClaimFailureKeepsSession(t *testing.T) {
	t.Parallel()
	clock := newClock()
	claimer := inProcess(t, clock.Now)
	broken := &faulty{Claimer: claimer, ok: 100, err: fmt.Errorf("%w: gone", dedup.ErrUnavailable)}
	s := New(broken, time.Hour, clock.Now)
	ctx := t.Context()
	_, err := s.Replace(ctx, cache.Replace{Agent: "u_1", Ranked: refs(0, 20), Limit: 2, Now: clock.Now()})
	require.NoError(t, err)
	retry := cache.Call{RequestID: "r1", Action: "refresh", Limit: 2}
	for calls := range 2 {
		broken.ok = calls
		_, err = s.Replace(ctx, cache.Replace{Agent: "u_1", Ranked: refs(50, 60), Limit: 2, Now: clock.Now(), Call: retry})
		require.ErrorIs(t, err, cache.ErrUnavailable)
		require.ErrorIs(t, err, dedup.ErrUnavailable)
	}
	_, ok, err := s.Replay(ctx, "u_1", retry)
	require.NoError(t, err)
	assert.False(t, ok)

	// A pop that reads the session twice, because something is pending, and fails at any of its
	// calls.
	require.NoError(t, claimer.Claim(ctx, "u_1", []string{"doc_3"}, clock.Now()))
	for calls := range 3 {
		broken.ok = calls
		_, err = s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 3, Now: clock.Now()})
		require.ErrorIs(t, err, cache.ErrUnavailable)
	}
	broken.ok = 100
	page, err := s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 3, Now: clock.Now()})
	require.NoError(t, err)
	assert.Equal(t, append(refs(2, 3), refs(4, 6)...), page.Refs)
}

func TestExpiredSessionsSwept(t *testing.T) {
	t.Parallel()
	clock := newClock()
	s := New(inProcess(t, clock.Now), 30*time.Minute, clock.Now)
	ctx := t.Context()
	visit := func(from, to int) {
		for i := from; i < to; i++ {
			agent := fmt.Sprintf("u_%d", i)
			_, err := s.Replace(ctx, cache.Replace{
				Agent: agent, Ranked: refs(0, 3), Limit: 1, Now: clock.Now(),
				Call: cache.Call{RequestID: "r", Action: "refresh", Limit: 1},
			})
			require.NoError(t, err)
		}
	}
	count := func() (agents, sessions, records int) {
		for i := range s.agents.shards {
			for _, a := range s.agents.shards[i].byAgent {
				agents++
				records += len(a.forYou.records)
				if a.forYou.refs != nil {
					sessions++
				}
			}
		}
		return agents, sessions, records
	}
	visit(0, 1000)
	agents, sessions, records := count()
	assert.Equal(t, []int{1000, 1000, 1000}, []int{agents, sessions, records})

	clock.Advance(31 * time.Minute)
	visit(1000, 2000)
	agents, sessions, records = count()
	assert.Equal(t, []int{2000, 1000, 1000}, []int{agents, sessions, records}, "the time of the last refresh stays for eight days")

	clock.Advance(refreshedFor)
	visit(2000, 3000)
	agents, sessions, records = count()
	assert.Equal(t, []int{1000, 1000, 1000}, []int{agents, sessions, records})
}

func TestReadsStoreNothing(t *testing.T) {
	t.Parallel()
	clock := newClock()
	s := New(inProcess(t, clock.Now), time.Hour, clock.Now)
	for i := range 100 {
		agent := fmt.Sprintf("u_%d", i)
		_, err := s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 5, Now: clock.Now()})
		require.NoError(t, err)
		_, err = s.Refreshed(t.Context(), agent, feed.ForYou)
		require.NoError(t, err)
		require.NoError(t, s.Delete(t.Context(), agent))
	}
	for i := range s.agents.shards {
		assert.Empty(t, s.agents.shards[i].byAgent)
	}
}

// BenchmarkPop measures the session step of a load_more without the claim's journal.
func BenchmarkPop(b *testing.B) {
	clock := newClock()
	s := New(inProcess(b, clock.Now), time.Hour, clock.Now)
	all := refs(0, 20_000)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		agent := "u_" + strings.Repeat("x", n/1000%100)
		if n%1000 == 0 {
			b.StopTimer()
			clock.Advance(8 * 24 * time.Hour) // nothing is pending anymore
			_, err := s.Replace(b.Context(), cache.Replace{Agent: agent, Ranked: all, Limit: 0, Now: clock.Now()})
			require.NoError(b, err)
			b.StartTimer()
		}
		page, err := s.Pop(b.Context(), cache.Pop{Agent: agent, Limit: 20, Now: clock.Now()})
		if err != nil || len(page.Refs) != 20 {
			b.Fatal(len(page.Refs), err)
		}
	}
}
