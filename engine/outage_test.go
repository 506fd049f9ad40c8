package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/recall"
)

// A reader has been given a page. Then one store fails, and each kind of request is made.
func TestOneStoreDown(t *testing.T) {
	for name, c := range map[string]struct {
		down   func(*rig)
		open   map[string]string // degraded parts, or the error
		closed map[string]string
	}{
		"recall": {
			func(r *rig) { r.recall.down(recall.ErrUnavailable) },
			map[string]string{"refresh": "recall", "load_more": "", "silent": "recall", "newcomer": "recall is unavailable"},
			map[string]string{"refresh": "recall", "load_more": "", "silent": "recall", "newcomer": "recall is unavailable"},
		},
		"dedup": {
			func(r *rig) { r.seen.down(dedup.ErrUnavailable) },
			map[string]string{"refresh": "dedup session", "load_more": "", "silent": "dedup", "newcomer": "dedup session"},
			map[string]string{"refresh": "recall", "load_more": "", "silent": "dedup store is unavailable", "newcomer": "dedup store is unavailable"},
		},
		"sessions": {
			func(r *rig) { r.sessions.down(cache.ErrUnavailable) },
			map[string]string{"refresh": "session", "load_more": "session", "silent": "dedup session", "newcomer": "session"},
			map[string]string{
				"refresh": "session store is unavailable", "load_more": "session store is unavailable",
				"silent": "session store is unavailable", "newcomer": "session store is unavailable",
			},
		},
		"dedup and sessions": {
			func(r *rig) { r.seen.down(dedup.ErrUnavailable); r.sessions.down(cache.ErrUnavailable) },
			map[string]string{"refresh": "dedup session", "load_more": "dedup session", "silent": "dedup session", "newcomer": "dedup session"},
			map[string]string{
				"refresh": "dedup store is unavailable", "load_more": "session store is unavailable",
				"silent": "session store is unavailable", "newcomer": "dedup store is unavailable",
			},
		},
		"catalog": {
			func(r *rig) { r.catalog.down(catalog.ErrUnavailable) },
			map[string]string{"refresh": "recall catalog", "load_more": "catalog", "silent": "catalog is unavailable", "newcomer": "catalog is unavailable"},
			map[string]string{"refresh": "recall catalog", "load_more": "catalog", "silent": "catalog is unavailable", "newcomer": "catalog is unavailable"},
		},
		"a deadline of its own": {
			func(r *rig) { r.sessions.down(context.DeadlineExceeded) },
			map[string]string{"refresh": "session", "load_more": "session"},
			map[string]string{"refresh": "context deadline exceeded", "load_more": "context deadline exceeded"},
		},
		"another error": {
			func(r *rig) { r.seen.down(errors.New("WRONGTYPE")); r.sessions.down(errors.New("WRONGTYPE")) },
			map[string]string{"refresh": "WRONGTYPE", "load_more": "WRONGTYPE", "silent": "WRONGTYPE"},
			map[string]string{"refresh": "WRONGTYPE", "load_more": "WRONGTYPE", "silent": "WRONGTYPE"},
		},
	} {
		for mode, want := range map[string]map[string]string{"open": c.open, "closed": c.closed} {
			for action, says := range want {
				t.Run(fmt.Sprintf("%s/%s/%s", name, mode, action), func(t *testing.T) {
					r := newRig(t, 30, map[string]func(*engine.Stores, *engine.Config){"closed": closed}[mode])
					r.wants(t, refresh(5), run(0, 5), true)
					r.catalog.cached = run(0, 8) // two items of the next page of five are missing
					c.down(r)
					q := map[string]engine.Request{
						"refresh": refresh(5), "load_more": loadMore(5), "silent": silent(5), "newcomer": refresh(5),
					}[action]
					if action == "newcomer" {
						q.Agent = "u_2"
					}
					a, err := r.Feed(t.Context(), q)
					if err != nil {
						assert.Contains(t, err.Error(), says)
						assert.NotEmpty(t, says)
						return
					}
					assert.Equal(t, says, strings.Join(a.Degraded, " "))
					for _, id := range docIDs(a) {
						if action != "newcomer" {
							assert.NotContains(t, run(0, 5), id, "nothing comes twice")
						}
					}
					if action != "silent" {
						assert.NotEmpty(t, a.Docs)
						assert.True(t, a.HasMore)
					}
				})
			}
		}
	}
}

// A stale recall is reported only by answers that depend on it.
func TestStaleRecallReported(t *testing.T) {
	r := newRig(t, 10, nil)
	r.recall.stale = true
	assert.Equal(t, []string{"recall"}, r.ask(t, refresh(5)).Degraded)
}

// A stale recall has the same list for all readers: the rest of the session comes before it, as
// far as it can be read.
func TestStaleRecallAfterSession(t *testing.T) {
	r := newRig(t, 40, func(_ *engine.Stores, c *engine.Config) { c.N = 10 })
	r.wants(t, refresh(4), run(0, 4), true)
	r.recall.stale = true
	a := r.ask(t, refresh(4))
	assert.Equal(t, run(4, 8), docIDs(a))
	assert.Equal(t, []string{"recall"}, a.Degraded)
	assert.True(t, a.HasMore)
	assert.Equal(t, 1, r.sessions.count("Replace"), "the session is the one of before")

	r.catalog.cached = run(12, 16)
	r.catalog.down(catalog.ErrUnavailable, "Docs", "Hydrate") // the profile is cached
	a = r.ask(t, refresh(4))
	assert.Subset(t, run(12, 16), docIDs(a), "nothing of the session can be read, of the list some can")
	assert.NotEmpty(t, a.Docs)
	assert.Contains(t, a.Degraded, "recall")
	r.catalog.up()
	r.recall.stale = false
	rest := r.ask(t, refresh(40))
	assert.ElementsMatch(t, slices.DeleteFunc(run(8, 40), func(id string) bool { return slices.Contains(docIDs(a), id) }), docIDs(rest), "nothing is lost, nor comes twice")
}

// When a further round of recall fails, the result of the first is a page.
func TestFurtherRoundFailure(t *testing.T) {
	r := newRig(t, 40, func(_ *engine.Stores, c *engine.Config) { c.N = 10 })
	r.recall.set(rule{err: recall.ErrUnavailable, skip: 1})
	a := r.ask(t, refresh(20))
	assert.Equal(t, run(0, 10), docIDs(a))
	assert.Equal(t, []string{"recall"}, a.Degraded)
	_, err := r.Feed(t.Context(), refresh(20))
	require.ErrorIs(t, err, recall.ErrUnavailable, "a first round that fails brings nothing")
	r.recall.up()
	r.wants(t, refresh(20), run(10, 30), true)
}

// When neither of two concurrent equal calls can read content, all items return to the session.
func TestEqualCallsContentUnreadable(t *testing.T) {
	r := newRig(t, 40, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.catalog.down(catalog.ErrUnavailable, "Hydrate")
	var second error
	asked := false
	r.catalog.before(func(method string) { // the first call has its page and now reads the content
		if method == "Hydrate" && !asked {
			asked = true
			_, second = r.Feed(t.Context(), named(loadMore(5), "twice"))
		}
	})
	_, err := r.Feed(t.Context(), named(loadMore(5), "twice"))
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	require.ErrorIs(t, second, catalog.ErrUnavailable)
	r.catalog.up()
	r.wants(t, loadMore(40), run(5, 40), false)
}

// Pages are delivered while both stores are down. No item is repeated then or afterwards, and the
// impressions are on disk.
func TestPagesStoresDown(t *testing.T) {
	r := newRig(t, 40, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.seen.down(dedup.ErrUnavailable)
	r.sessions.down(cache.ErrUnavailable)
	for i, q := range []engine.Request{refresh(5), loadMore(5), refresh(5)} {
		a := r.ask(t, q)
		assert.Equal(t, run(5+5*i, 10+5*i), docIDs(a))
		assert.Equal(t, []string{"dedup", "session"}, a.Degraded)
	}
	assert.Equal(t, run(5, 20), r.disk.kept)
	assert.Equal(t, run(0, 5), r.recorder.groups(), "the others are recorded when the disk is drained")
	assert.Equal(t, run(0, 20), r.tally.delivered)

	r.seen.up()
	r.sessions.up()
	r.wants(t, loadMore(5), run(20, 25), true) // the session still contained the items delivered meanwhile
	r.wants(t, refresh(5), run(25, 30), true)
}

// A server that does not record deliveries forgets an item when it is no longer pending, except
// items that only this server knows to be delivered.
func TestPagesStoresDownSeenMode(t *testing.T) {
	r := newRig(t, 40, func(_ *engine.Stores, c *engine.Config) { c.RecordServed = false })
	r.wants(t, refresh(5), run(0, 5), true)
	require.NoError(t, r.seen.Release(t.Context(), "u_1", run(0, 5)))
	r.wants(t, refresh(5), run(0, 5), true)
	require.NoError(t, r.seen.Release(t.Context(), "u_1", run(0, 5)))
	r.seen.down(dedup.ErrUnavailable)
	r.sessions.down(cache.ErrUnavailable)
	assert.Equal(t, run(5, 10), docIDs(r.ask(t, refresh(5))), "while nobody can be asked all it remembers counts")
	r.seen.up()
	r.sessions.up()
	r.wants(t, refresh(10), append(run(0, 5), run(10, 15)...), true)
}

// A retry on this server gets the page stored under its request id, while the stores are down and
// afterwards.
func TestRetryStoresDown(t *testing.T) {
	r := newRig(t, 40, nil)
	r.wants(t, named(refresh(5), "before"), run(0, 5), true)
	r.seen.down(dedup.ErrUnavailable)
	r.sessions.down(cache.ErrUnavailable)
	assert.Equal(t, run(0, 5), docIDs(r.ask(t, named(refresh(5), "before"))), "the store had it")
	for range 2 {
		assert.Equal(t, run(5, 9), docIDs(r.ask(t, named(loadMore(4), "meanwhile"))))
	}
	assert.Equal(t, run(0, 9), r.tally.delivered, "counted once")
	for _, q := range []engine.Request{named(refresh(4), "meanwhile"), named(loadMore(5), "meanwhile"), named(loadMore(5), "before")} {
		_, err := r.Feed(t.Context(), q)
		require.ErrorIs(t, err, cache.ErrConflict)
	}
	r.seen.up()
	r.sessions.up()
	a := r.ask(t, named(loadMore(4), "meanwhile"))
	assert.Equal(t, run(5, 9), docIDs(a))
	assert.Equal(t, []string{"session"}, a.Degraded[1:])
	r.advance(cache.RetryTTL)
	assert.Equal(t, run(9, 13), docIDs(r.ask(t, named(loadMore(4), "meanwhile"))), "a minute later it is another call")
}

// No page is stored for a call without a request id, or when failing closed.
func TestFailClosedStoresNoPage(t *testing.T) {
	r := newRig(t, 40, closed)
	r.wants(t, named(refresh(5), "r1"), run(0, 5), true)
	r.sessions.down(cache.ErrUnavailable)
	_, err := r.Feed(t.Context(), named(refresh(5), "r1"))
	require.ErrorIs(t, err, cache.ErrUnavailable)
}

// Items of a page without a session may come again when their content could not be read.
func TestPagesStoresDownContentUnreadable(t *testing.T) {
	r := newRig(t, 40, nil)
	r.sessions.down(cache.ErrUnavailable)
	r.catalog.set(rule{err: catalog.ErrUnavailable, only: []string{"Hydrate"}})
	_, err := r.Feed(t.Context(), refresh(5))
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	assert.Empty(t, r.disk.kept)
	r.catalog.up()
	assert.Equal(t, run(0, 5), docIDs(r.ask(t, refresh(5))))
}

// A canceled request is not answered without the store, which may well be up.
func TestCanceledRequestNotAnswered(t *testing.T) {
	r := newRig(t, 40, nil)
	ctx, cancel := context.WithCancel(t.Context())
	r.seen.down(dedup.ErrUnavailable)
	r.seen.before(func(string) { cancel() })
	_, err := r.Feed(ctx, refresh(5))
	require.ErrorIs(t, err, dedup.ErrUnavailable)
	assert.Empty(t, r.disk.kept)
}

func TestDiskFullFailsNoCall(t *testing.T) {
	r := newRig(t, 40, nil)
	r.disk.err = errors.New("no space left")
	r.sessions.down(cache.ErrUnavailable)
	assert.Equal(t, run(0, 5), docIDs(r.ask(t, refresh(5))))
}

// This process does not repeat delivered items when a failover has reset a store to an older
// state.
func TestFailoverRepeatsNothing(t *testing.T) {
	for name, change := range map[string]func(*engine.Stores, *engine.Config){
		"failing open": nil,
		"told so":      func(s *engine.Stores, c *engine.Config) { s.Fallback, c.Remember = nil, true },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 40, change)
			r.wants(t, refresh(5), run(0, 5), true)
			r.forget(t, run(0, 5)...)
			r.wants(t, loadMore(5), run(5, 10), true)
			r.wants(t, refresh(5), run(10, 15), true)
			r.forget(t, run(10, 15)...)
			r.wants(t, loadMore(5), run(15, 20), true)
		})
	}
	r := newRig(t, 40, func(s *engine.Stores, c *engine.Config) {
		closed(s, c)
		s.Recorder = lost{s.Recorder} // the filters are reset, too
	})
	r.wants(t, refresh(5), run(0, 5), true)
	r.forget(t, run(0, 5)...)
	r.wants(t, refresh(5), run(0, 5), true) // it has no reason to remember anything
}

// lost is a recorder whose impressions never reach a filter.
type lost struct{ engine.Recorder }

func (lost) Deliver(string, []string) {}

// forget makes the stores lose the delivery of items to u_1, as a failover to a lagging replica
// does: the items are back in the session and not pending.
func (r *rig) forget(t *testing.T, groups ...string) {
	t.Helper()
	require.NoError(t, r.seen.Release(t.Context(), "u_1", groups))
	require.NoError(t, r.stores.Sessions.Restore(t.Context(), "u_1", refsOf(groups...), cache.Call{}))
}

// While the stores recover, a page is checked against the filters again.
func TestPageRecheckedDuringRecovery(t *testing.T) {
	r := newRig(t, 40, nil)
	story := aged("i011", "story", time.Hour+11*time.Minute)
	r.put(t, story)
	r.wants(t, refresh(5), run(0, 5), true)
	r.recovery.recorded = []string{"i006", "story"}
	r.wants(t, loadMore(3), run(5, 8), true) // no store was down

	r.recovery.recovering, r.recovery.recorded = true, []string{"i009", "i011"}
	assert.Equal(t, []string{"dedup"}, r.ask(t, silent(5)).Degraded)
	a := r.ask(t, named(loadMore(4), "r1"))
	assert.Equal(t, []string{"i008", "i010", "i012", "i013"}, docIDs(a))
	assert.Equal(t, []string{"dedup"}, a.Degraded)
	assert.Equal(t, []string{"i008", "i010", "i012", "i013"}, docIDs(r.ask(t, named(loadMore(4), "r1"))), "a retry leaves the same out")
	assert.Equal(t, dedup.Pending, r.verdicts(t, "i009")[0], "what was shown stays pending")
	assert.NotContains(t, r.tally.delivered, "i009")

	r.recovery.err = dedup.ErrUnavailable
	a = r.ask(t, loadMore(2))
	assert.Equal(t, run(14, 16), docIDs(a), "if the filters are unavailable the page is returned as it is")
	assert.Equal(t, []string{"dedup"}, a.Degraded)
}

// When a session has nothing left but items that were shown, load_more refreshes.
func TestLoadMoreRefreshesShownSession(t *testing.T) {
	r := newRig(t, 8, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.recovery.recovering, r.recovery.recorded = true, run(5, 8)
	r.put(t, aged("new", "", time.Minute))
	assert.Equal(t, []string{"new"}, docIDs(r.ask(t, loadMore(5))))
}
