package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	cachememory "github.com/freshet/freshet/cache/memory"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

// TestEqualCallsRandom has one reader repeat calls to three servers, up to three equal ones at
// once, while some contents and profiles cannot be read, items are deleted and requests end early.
// No item is delivered under two request ids, and in the end all items have been delivered.
func TestEqualCallsRandom(t *testing.T) {
	t.Parallel()
	seeds := uint64(40)
	if testenv.InFull("models") {
		seeds = 400
	}
	for name, mode := range map[string]equalMode{
		"unreadable contents": {}, "deletions": {deletes: true}, "requests that end": {ends: true}, "refreshes": {refreshes: true},
		"everything": {deletes: true, ends: true},
	} {
		for seed := range seeds {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &equalCalls{equalMode: mode, rand: &dice{r: rand.New(rand.NewPCG(seed, 7))}}
					w.play(t)
				})
			})
		}
	}
}

const (
	equalItems = 60
	tick       = time.Millisecond // the unit of the pauses between steps
)

type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

func (d *dice) pause(most int) { time.Sleep(time.Duration(d.n(most)) * tick) }

// percent returns true with a probability of p percent.
func (d *dice) percent(p int) bool { return d.n(100) < p }

// slowSessions pauses before and after each step.
type slowSessions struct {
	cache.Sessions
	*dice
}

func (s slowSessions) Replace(ctx context.Context, r cache.Replace) (cache.Page, error) {
	s.pause(6)
	defer s.pause(6)
	return s.Sessions.Replace(ctx, r)
}

func (s slowSessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	s.pause(6)
	defer s.pause(6)
	return s.Sessions.Pop(ctx, p)
}

func (s slowSessions) Replay(ctx context.Context, agent string, c cache.Call) (cache.Page, bool, error) {
	s.pause(6)
	defer s.pause(6)
	return s.Sessions.Replay(ctx, agent, c)
}

func (s slowSessions) Restore(ctx context.Context, agent string, refs []feed.Ref, c cache.Call) error {
	s.pause(6)
	return s.Sessions.Restore(ctx, agent, refs, c)
}

func (s slowSessions) Discard(ctx context.Context, agent string, refs []feed.Ref, c cache.Call) error {
	s.pause(6)
	return s.Sessions.Discard(ctx, agent, refs, c)
}

// patchy is a catalog with randomly unreadable items.
type patchy struct {
	catalog.Catalog
	*dice
	unreadable *int // percent
}

func (c patchy) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	c.pause(8)
	docs, profile, err := c.Catalog.Hydrate(ctx, agent, ids)
	c.pause(8)
	for i := range docs {
		if c.percent(*c.unreadable) {
			docs[i], err = feed.Doc{ID: docs[i].ID}, fmt.Errorf("%w: of this one", catalog.ErrUnavailable)
		}
	}
	return docs, profile, err
}

func (c patchy) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	c.pause(12)
	if err := ctx.Err(); err != nil {
		return feed.Profile{}, err
	}
	if c.percent(*c.unreadable / 2) {
		return feed.Profile{}, catalog.ErrUnavailable
	}
	return c.Catalog.Profile(ctx, agent)
}

// equalMode selects the faults in addition to unreadable contents.
type equalMode struct{ deletes, ends, refreshes bool }

// equalCalls is the state of one run.
type equalCalls struct {
	equalMode
	rand *dice

	engines    []*engine.Engine
	unreadable []int // percentage, for the catalog of each server
	shelf      *shelf
	index      *recallmemory.Source

	mu        sync.Mutex
	delivered map[string]map[string]bool // set of ids by request id
	deleted   map[string]bool
}

func (w *equalCalls) play(t *testing.T) {
	w.delivered, w.deleted, w.unreadable = map[string]map[string]bool{}, map[string]bool{}, make([]int, 3)
	w.open(t)
	_, err := w.ask(t.Context(), 0, named(refresh(3), "first"))
	require.NoError(t, err)
	for r := range 10 {
		for i := range w.unreadable {
			w.unreadable[i] = []int{0, 0, 30, 60, 100}[w.rand.n(5)]
		}
		var round sync.WaitGroup
		for c := range 1 + w.rand.n(2) {
			round.Go(func() { w.client(t.Context(), fmt.Sprintf("r%d-%d", r, c)) })
		}
		for w.deletes && w.rand.percent(60) {
			round.Go(w.remove)
		}
		round.Wait()
	}
	clear(w.unreadable)
	w.drain(t)
	by := map[string]string{}
	for request, ids := range w.delivered {
		for id := range ids {
			require.Empty(t, by[id], "%s was delivered under %s, too", id, request)
			by[id] = request
		}
	}
	for _, it := range items(equalItems) {
		require.True(t, w.deleted[it.ID] || by[it.ID] != "", "%s is lost", it.ID)
	}
}

func (w *equalCalls) open(t *testing.T) {
	begun := time.Now()
	clock := feed.Clock(func() time.Time { return rankedAt.Add(time.Since(begun)) })
	cfg := deduptest.DefaultConfig()
	cfg.FalsePositiveRate, cfg.DailyCapacity = 1e-9, 10_000
	seen, err := dedupmemory.Open("", cfg, clock)
	require.NoError(t, err)
	recorder, err := dedup.NewRecorder(t.Context(), seen, clock, dedup.RecorderConfig{Workers: 1})
	require.NoError(t, err)
	w.shelf, w.index = newShelf(), recallmemory.New()
	_, err = w.shelf.Put(t.Context(), items(equalItems))
	require.NoError(t, err)
	w.index.Upsert(items(equalItems))
	sessions := slowSessions{cachememory.New(seen, 30*time.Minute, clock), w.rand}
	for i := range w.unreadable {
		e, err := engine.New(engine.Stores{
			Recall: w.index, Seen: seen, Recorder: recorder, Sessions: sessions,
			Catalog: patchy{w.shelf, w.rand, &w.unreadable[i]},
		}, engine.Config{Clock: clock, N: 500, RoundsFor: time.Hour, RecordServed: true, Remember: true, Rankings: &feed.Live{Ranking: dayLong()}})
		require.NoError(t, err)
		w.engines = append(w.engines, e)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, e := range w.engines {
			e.Close()
		}
		recorder.Close(ctx)
		require.NoError(t, seen.Close(ctx))
	})
}

func (w *equalCalls) ask(ctx context.Context, server int, r engine.Request) (some bool, err error) {
	a, err := w.engines[server].Feed(ctx, r)
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.delivered[r.RequestID] == nil {
		w.delivered[r.RequestID] = map[string]bool{}
	}
	for _, id := range docIDs(a) {
		w.delivered[r.RequestID][id] = true
	}
	return len(a.Docs) > 0, nil
}

// client repeats a call until it is answered or the client gives up. It never gives up a call with
// a possibly lost answer, because the page of that call is left to the retry.
func (w *equalCalls) client(ctx context.Context, id string) {
	r := named(loadMore(2+w.rand.n(4)), id)
	if w.refreshes || w.rand.percent(25) {
		r.Action = engine.ActionRefresh
	}
	for try := 0; ; try++ {
		var mu sync.Mutex
		var calls sync.WaitGroup
		answered, ended := false, false
		for range 1 + w.rand.n(3) {
			server, ends := w.rand.n(3), w.ends && try < 12 && w.rand.percent(30)
			calls.Go(func() {
				w.rand.pause(20)
				ctx, cancel := context.WithCancel(ctx)
				if ends {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(w.rand.n(40))*tick)
				}
				defer cancel()
				_, err := w.ask(ctx, server, r)
				mu.Lock()
				defer mu.Unlock()
				answered, ended = answered || err == nil, ended || errors.Is(err, context.DeadlineExceeded)
			})
		}
		calls.Wait()
		if answered || !ended && (try > 12 || try > 0 && w.rand.percent(40)) {
			return
		}
	}
}

func (w *equalCalls) remove() {
	id := items(equalItems)[w.rand.n(equalItems)].ID
	w.rand.pause(40)
	w.mu.Lock()
	w.deleted[id] = true
	w.mu.Unlock()
	w.index.Delete(id)
	_ = w.shelf.Remove(context.Background(), id)
}

func (w *equalCalls) drain(t *testing.T) {
	for i, empty := 0, 0; empty < 2; i++ {
		require.Less(t, i, 2*equalItems, "%v", slices.Sorted(maps.Keys(w.delivered)))
		r := named(loadMore(7), fmt.Sprint("drain", i))
		if empty > 0 {
			r.Action = engine.ActionRefresh
		}
		some, err := w.ask(t.Context(), i%3, r)
		require.NoError(t, err)
		if empty++; some {
			empty = 0
		}
	}
}
