package engine_test

import (
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// ahead is a catalog with sessions. It records the prefetched items, and blocks reads until held is
// closed.
type ahead struct {
	catalog.Catalog
	cache.Sessions
	mu    sync.Mutex
	read  []string
	calls int
	now   int // running reads
	most  int // the most at once
	held  chan struct{}
	err   error
}

func (a *ahead) counts() [2]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return [2]int{a.calls, a.now}
}

// Next returns n entries with an id made of the agent and the feed.
func (a *ahead) Next(_ context.Context, agent string, name feed.Name, n int) (refs []feed.Ref, err error) {
	for range n {
		refs = append(refs, feed.Ref{ID: agent + string(name), Group: agent})
	}
	return refs, a.err
}

func (a *ahead) Prefetch(ctx context.Context, ids []string) error {
	a.mu.Lock()
	a.calls++
	a.now++
	a.most = max(a.most, a.now)
	a.mu.Unlock()
	var err error
	if a.held != nil {
		select {
		case <-a.held:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now--
	if err == nil {
		a.read = append(a.read, strings.Join(ids, " "))
	}
	return err
}

func (a *ahead) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(slices.Values(a.read))
}

// The number of workers and of waiting pages of a prefetcher.
const workers, room = 4, 1024

func prefetcher(t *testing.T, a *ahead) *engine.Prefetcher {
	t.Helper()
	return engine.NewPrefetcher(t.Context(), a, a, time.Hour, slog.New(slog.DiscardHandler))
}

// TestPrefetchBounded blocks reads: callers do not wait, excess pages are dropped, and at most
// one page per session waits.
func TestPrefetchBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &ahead{held: make(chan struct{})}
		p := prefetcher(t, a)
		want := []string{"a", "afor_you afor_you afor_you", "ahome"}
		for i := range workers { // keeps all workers busy
			agent := string(rune('a' + i))
			p.After(agent, feed.ForYou, 1, nil)
			if i > 0 {
				want = append(want, agent)
			}
		}
		synctest.Wait()
		p.After("a", feed.ForYou, 1, nil) // its first page is being read, this is another one
		p.After("a", feed.ForYou, 3, nil)
		p.After("a", feed.ForYou, 2, nil)
		p.After("a", feed.HomeFeed, 1, nil)
		for i := range room - 2 {
			agent := fmt.Sprintf("u_%d", i)
			p.After(agent, feed.ForYou, 1, nil)
			want = append(want, agent)
		}
		for range 10 {
			p.After("e", feed.ForYou, 1, nil) // the queue is full
		}
		close(a.held)
		synctest.Wait()
		slices.Sort(want)
		assert.Equal(t, want, normal(a.all()))
		assert.Equal(t, workers, a.most, "at once")
		p.After("e", feed.ForYou, 1, nil)
		synctest.Wait()
		assert.Len(t, a.all(), len(want)+1, "it goes on")
		p.Close()
	})
}

// normal removes the feed's name from single entries of for-you.
func normal(list []string) []string {
	for i, s := range list {
		if !strings.Contains(s, " ") {
			list[i] = strings.TrimSuffix(s, string(feed.ForYou))
		}
	}
	slices.Sort(list)
	return list
}

// TestPrefetchClose checks that Close cancels running reads and discards waiting pages.
func TestPrefetchClose(t *testing.T) {
	t.Parallel()
	a := &ahead{held: make(chan struct{})}
	p := prefetcher(t, a)
	for i := range 2 * workers {
		p.After(fmt.Sprint("u_", i), feed.ForYou, 1, nil)
	}
	p.Close()
	p.After("d", feed.ForYou, 1, nil)
	p.Close()
	assert.Empty(t, a.all())
	assert.Zero(t, a.now)

	var none *engine.Prefetcher
	none.After("a", feed.ForYou, 1, nil)
	none.Close()
}

// TestPrefetchAfterPages checks that there is a read after every page that has more after it, and
// after no other.
func TestPrefetchAfterPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &ahead{}
		p := prefetcher(t, a)
		defer p.Close()
		r := newRig(t, 25, func(s *engine.Stores, _ *engine.Config) { s.Prefetch = p })
		reads := func(n int) {
			t.Helper()
			synctest.Wait()
			require.Len(t, a.all(), n)
		}
		r.ask(t, silent(10))
		reads(0)
		r.ask(t, refresh(10))
		reads(1)
		r.ask(t, loadMore(10))
		reads(2)
		r.ask(t, loadMore(10)) // the last
		reads(2)
	})
}

// TestPrefetchKnown: items that the page step has listed are not looked up in the session, unless a
// later call does not know them.
func TestPrefetchKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &ahead{held: make(chan struct{})}
		p := prefetcher(t, a)
		defer p.Close()
		for i := range workers { // keeps all workers busy
			p.After(fmt.Sprint("u_", i), feed.ForYou, 1, []feed.Ref{{ID: "x", Group: "g"}})
		}
		synctest.Wait()
		p.After("a", feed.ForYou, 2, []feed.Ref{{ID: "old", Group: "old"}})
		p.After("a", feed.ForYou, 2, []feed.Ref{{ID: "i", Group: "g"}, {ID: "k", Group: "k"}})
		p.After("b", feed.ForYou, 1, []feed.Ref{{ID: "old", Group: "old"}})
		p.After("b", feed.ForYou, 1, nil)
		close(a.held)
		synctest.Wait()
		assert.Equal(t, []string{"bfor_you", "i k", "x", "x", "x", "x"}, a.all())
	})
}

// TestPrefetchTimeout checks that a read ends at the time limit, which is that of a
// request.
func TestPrefetchTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &ahead{held: make(chan struct{})}
		p := prefetcher(t, a)
		defer p.Close()
		for i := range workers + 1 {
			p.After(fmt.Sprint("u_", i), feed.ForYou, 1, nil)
		}
		time.Sleep(time.Hour - time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, [2]int{workers, workers}, a.counts(), "the first ones are waited for")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, [2]int{workers + 1, 1}, a.counts(), "the last one's time has begun")
		assert.Empty(t, a.all())
	})
}

func TestPrefetchFailure(t *testing.T) {
	t.Parallel()
	a := &ahead{err: errors.New("away")}
	p := prefetcher(t, a)
	defer p.Close()
	r := newRig(t, 30, func(s *engine.Stores, _ *engine.Config) { s.Prefetch = p })
	r.wants(t, refresh(10), run(0, 10), true)
	r.wants(t, loadMore(10), run(10, 20), true)
}
