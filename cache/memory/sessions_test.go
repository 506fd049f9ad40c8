package memory

import (
	"context"
	"errors"
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
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// handClock is a clock that a test moves.
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

func inProcess(t testing.TB, clock feed.Clock) dedup.Claimer {
	t.Helper()
	store, err := dedupmemory.Open("", deduptest.DefaultConfig(), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close(context.WithoutCancel(t.Context())) })
	return store
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, claimer := range map[string]func(t *testing.T) dedup.Claimer{
		// The pending set keeps to the suite's own now, whatever the sessions' clock says.
		"claims in process": func(t *testing.T) dedup.Claimer { return inProcess(t, newClock().Now) },
		"claims in Redis": func(t *testing.T) dedup.Claimer {
			client, prefix := testenv.Redis(t)
			store, err := redisbloom.New(client, deduptest.DefaultConfig(), redisbloom.Config{KeyPrefix: prefix})
			require.NoError(t, err)
			return store
		},
	} {
		t.Run(name, func(t *testing.T) {
			cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
				clock, c := newClock(), claimer(t)
				s := New(c, ttl, clock.Now)
				return cachetest.Env{A: s, B: s, Claimer: c, Advance: clock.Advance}
			})
		})
	}
}

func refs(from, to int) []feed.Ref {
	var list []feed.Ref
	for i := from; i < to; i++ {
		id := fmt.Sprintf("doc_%d", i)
		list = append(list, feed.Ref{ID: id, Group: id})
	}
	return list
}

// faulty is a claimer whose calls begin to fail after a while.
type faulty struct {
	dedup.Claimer
	ok  int // calls that still succeed
	err error
}

func (f *faulty) Claim(ctx context.Context, agent string, groups []string, limit int, now time.Time) ([]dedup.Claimed, error) {
	if f.ok--; f.ok < 0 {
		return nil, f.err
	}
	return f.Claimer.Claim(ctx, agent, groups, limit, now)
}

func TestAFailedClaimLeavesTheOldSession(t *testing.T) {
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

	// A pop that fails at its second claim gives the first one back.
	held, err := claimer.Claim(ctx, "u_1", []string{"doc_3"}, 1, clock.Now())
	require.NoError(t, err)
	require.Equal(t, []dedup.Claimed{dedup.Taken}, held)
	broken.ok = 1
	_, err = s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 3, Now: clock.Now()})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	broken.ok, broken.err = 100, errors.New("unused")
	page, err := s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 3, Now: clock.Now()})
	require.NoError(t, err)
	assert.Equal(t, append(refs(2, 3), refs(4, 6)...), page.Refs)
}

// crossed is a claimer that another server asks after it has told what is free.
type crossed struct {
	dedup.Claimer
	between func()
}

func (c *crossed) Claim(ctx context.Context, agent string, groups []string, limit int, now time.Time) ([]dedup.Claimed, error) {
	claimed, err := c.Claimer.Claim(ctx, agent, groups, limit, now)
	if between := c.between; limit == 0 && between != nil {
		c.between = nil
		between()
	}
	return claimed, err
}

// Servers that share a pending set have sessions of their own. What another one claims by
// its group or its id between two steps of a page is not on that page.
func TestTwoServersClaimAStory(t *testing.T) {
	t.Parallel()
	clock := newClock()
	claimer := inProcess(t, clock.Now)
	story := func(group, id int) feed.Ref {
		return feed.Ref{Group: fmt.Sprintf("story_%d", group), ID: fmt.Sprintf("doc_%d", id)}
	}
	list := []feed.Ref{story(0, 0), story(1, 1), story(2, 2), story(3, 3), story(4, 4), story(5, 5), refs(6, 7)[0]}
	pageOf := func(step func(s *Sessions) (cache.Page, error)) cache.Page {
		other, mine := New(claimer, time.Hour, clock.Now), &crossed{Claimer: claimer}
		s := New(mine, time.Hour, clock.Now)
		require.NoError(t, claimer.Forget(t.Context(), "u_1"))
		_, err := s.Replace(t.Context(), cache.Replace{Agent: "u_1", Ranked: list, Now: clock.Now()})
		require.NoError(t, err)
		mine.between = func() {
			shown := []feed.Ref{story(0, 0), story(1, 11), story(22, 2), refs(3, 4)[0]} // the same, by its group, by its id
			page, err := other.Replace(t.Context(), cache.Replace{Agent: "u_1", Ranked: shown, Limit: 4, Now: clock.Now()})
			require.NoError(t, err)
			require.Equal(t, shown, page.Refs)
		}
		page, err := step(s)
		require.NoError(t, err)
		held, err := claimer.Claim(t.Context(), "u_1", []string{"doc_1", "story_2", "story_3"}, 0, clock.Now())
		require.NoError(t, err)
		require.NotContains(t, held, dedup.Held, "the halves are given back")
		return page
	}
	assert.Equal(t, list[4:6], pageOf(func(s *Sessions) (cache.Page, error) {
		return s.Pop(t.Context(), cache.Pop{Agent: "u_1", Limit: 2, Now: clock.Now()})
	}).Refs)
	assert.Equal(t, list[4:], pageOf(func(s *Sessions) (cache.Page, error) {
		return s.Replace(t.Context(), cache.Replace{Agent: "u_1", Ranked: list, Limit: 9, Now: clock.Now()})
	}).Refs)
}

func TestWhatHasExpiredIsSwept(t *testing.T) {
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

func TestNothingIsKeptOfAskingAlone(t *testing.T) {
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

// BenchmarkPop is the session step of a load_more without its claim's journal.
func BenchmarkPop(b *testing.B) {
	clock := newClock()
	s := New(inProcess(b, clock.Now), time.Hour, clock.Now)
	all := refs(0, 20_000)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		agent := "u_" + strings.Repeat("x", n/1000%100)
		if n%1000 == 0 {
			b.StopTimer()
			clock.Advance(8 * 24 * time.Hour) // nothing counts as pending any more
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
