package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// Delivered items are recorded and counted once, and are pending until then.
func TestPageRecordedAndCounted(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.wants(t, loadMore(3), run(5, 8), true)
	r.wants(t, refresh(2), run(8, 10), true)
	assert.Equal(t, run(0, 10), r.recorder.groups())
	assert.Equal(t, run(0, 10), r.tally.delivered)
	assert.Empty(t, r.disk.kept)
	r.settled(t)
	for _, v := range r.verdicts(t, run(0, 10)...) {
		assert.Equal(t, dedup.SeenDaysAgo(0), v)
	}
	r.wants(t, loadMore(30), run(10, 30), false)
	r.wants(t, loadMore(30), []string{}, false)
}

func TestSeenModeRecordsReported(t *testing.T) {
	r := newRig(t, 30, func(_ *engine.Stores, c *engine.Config) { c.RecordServed = false })
	r.wants(t, refresh(5), run(0, 5), true)
	assert.Empty(t, r.recorder.groups())
	assert.Equal(t, run(0, 5), r.tally.delivered)
	require.NoError(t, r.Seen(t.Context(), "u_1", []string{"i001"}))
	assert.Equal(t, []string{"i001"}, r.recorder.groups())
}

// An item named twice in one report counts as one impression, and so do two items of one group.
func TestReportDuplicateImpressions(t *testing.T) {
	r := newRig(t, 0, nil)
	r.put(t, aged("a", "story", time.Hour), aged("b", "story", time.Hour))
	require.NoError(t, r.Seen(t.Context(), "u_1", []string{"a", "b", "a", "x", "x"}))
	assert.ElementsMatch(t, []string{"story", "a", "b", "x"}, r.recorder.groups())
}

// Impressions that have been pending for too long are recorded by the next refresh: the server
// that delivered them failed to.
func TestStaleImpressionsRecorded(t *testing.T) {
	r := newRig(t, 10, nil)
	err := r.seen.Claim(t.Context(), "u_1", []string{"i000", "i001"}, rankedAt)
	require.NoError(t, err)
	r.wants(t, refresh(2), run(2, 4), true)
	assert.Equal(t, run(2, 4), r.recorder.groups(), "young ones are left to the server that served them")
	r.advance(dedup.StaleAfter + time.Second)
	r.wants(t, refresh(2), run(4, 6), true)
	assert.ElementsMatch(t, run(0, 6), unique(r.recorder.groups()))
}

func unique(ids []string) []string {
	met := map[string]bool{}
	var out []string
	for _, id := range ids {
		if !met[id] {
			out, met[id] = append(out, id), true
		}
	}
	return out
}

// When another call takes the candidates between the check and the page, a refresh reads deeper
// instead of answering that there is nothing.
func TestCandidatesClaimedConcurrently(t *testing.T) {
	for _, id := range []string{"", "r1"} {
		r := newRig(t, 20, func(_ *engine.Stores, c *engine.Config) { c.N = 5 })
		thefts := 1
		r.sessions.before(func(method string) {
			if method == "Replace" && thefts > 0 {
				thefts--
				err := r.seen.Claim(t.Context(), "u_1", run(0, 5), rankedAt)
				require.NoError(t, err)
			}
		})
		r.wants(t, named(refresh(5), id), run(5, 10), true)
	}
}

func TestCandidatesClaimedRepeatedly(t *testing.T) {
	r := newRig(t, 5, nil)
	next := 0
	r.sessions.before(func(method string) {
		if method == "Replace" {
			err := r.seen.Claim(t.Context(), "u_1", run(next, next+5), rankedAt)
			require.NoError(t, err)
			next += 5
			r.put(t, items(next + 5)[next:]...)
		}
	})
	r.wants(t, refresh(5), []string{}, false)
	assert.Equal(t, 4, r.sessions.count("Replace"))
}

func TestRetryGetsSamePage(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, named(refresh(5), "r1"), run(0, 5), true)
	r.wants(t, named(refresh(5), "r1"), run(0, 5), true)
	assert.Equal(t, 1, r.recall.count("Recall"), "a page that is known is not chosen again")
	r.wants(t, named(loadMore(5), "r2"), run(5, 10), true)
	r.wants(t, named(loadMore(5), "r2"), run(5, 10), true)
	assert.Equal(t, run(0, 10), r.tally.delivered, "counted once")
	assert.Equal(t, run(0, 10), unique(r.recorder.groups()))
	for _, other := range []engine.Request{named(refresh(6), "r1"), named(loadMore(5), "r1"), named(refresh(5), "r2")} {
		_, err := r.Feed(t.Context(), other)
		require.ErrorIs(t, err, cache.ErrConflict)
	}
	r.remove(t, "i006", "i008")
	r.wants(t, named(loadMore(5), "r2"), []string{"i005", "i007", "i009", "i010", "i011"}, true)
	r.advance(cache.RetryTTL + time.Second)
	r.wants(t, named(refresh(5), "r1"), run(12, 17), true)
}

// The answer to a retry also omits the items that the first answer left out of its page.
func TestRetryOmitsSameItems(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(1), run(0, 1), true)
	r.remove(t, "i001", "i003")
	r.wants(t, named(loadMore(4), "r1"), []string{"i002", "i004", "i005", "i006"}, true)
	r.put(t, items(4)...)
	r.wants(t, named(loadMore(4), "r1"), []string{"i002", "i004", "i005", "i006"}, true)
	r.wants(t, refresh(3), []string{"i001", "i003", "i007"}, true) // they were not shown
}

// overtaken has sessions that answer their first pop only after another action.
type overtaken struct {
	cache.Sessions
	meanwhile func()
}

func (o *overtaken) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	page, err := o.Sessions.Pop(ctx, p)
	if do := o.meanwhile; do != nil {
		o.meanwhile = nil
		do()
	}
	return page, err
}

// Of two concurrent equal calls, the one that builds the page may be answered last. That the other
// call was answered with the same items must not make it omit them.
func TestEqualCallsGetSamePage(t *testing.T) {
	for name, change := range map[string]func(*engine.Stores, *engine.Config){
		"failing open":   func(*engine.Stores, *engine.Config) {},
		"failing closed": func(s *engine.Stores, c *engine.Config) { s.Fallback, c.Remember = nil, true },
		"after an outage": func(s *engine.Stores, _ *engine.Config) {
			s.Recovery = &recovery{recovering: true, recorded: run(10, 20)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sessions := &overtaken{}
			r := newRig(t, 60, func(s *engine.Stores, c *engine.Config) {
				sessions.Sessions, s.Sessions = s.Sessions, sessions
				change(s, c)
			})
			r.ask(t, refresh(10))
			call := named(loadMore(10), "r")
			var second engine.Answer
			sessions.meanwhile = func() { second = r.ask(t, call) }
			first := r.ask(t, call)
			assert.Equal(t, run(10, 20), docIDs(second))
			assert.Equal(t, run(10, 20), docIDs(first))
			assert.Equal(t, run(10, 20), docIDs(r.ask(t, call)))
			assert.Equal(t, run(0, 20), r.tally.delivered, "counted once")
		})
	}
}

// Two concurrent equal calls top up their page from one record, also when the second call lacks
// more items than the first: no page exceeds the limit.
func TestEqualCallsTopUpToLimit(t *testing.T) {
	r := newRig(t, 60, nil)
	r.wants(t, refresh(10), run(0, 10), true)
	r.removeBehind(t, "i010", "i011")
	call, steps := named(loadMore(10), "r"), 0
	var second engine.Answer
	r.sessions.before(func(method string) {
		if method == "Pop" {
			steps++
		}
		if steps == 2 && method == "Pop" { // the first call tops up its page
			r.removeBehind(t, "i012")
			second = r.ask(t, call)
		}
	})
	first := r.ask(t, call)
	assert.Equal(t, run(13, 23), docIDs(second))
	assert.Equal(t, run(12, 22), docIDs(first), "it was read before the item was deleted")
	assert.Equal(t, run(13, 23), docIDs(r.ask(t, call)))
}

// Recall may continue to propose deleted items, a whole round of them and more. An empty page must
// mean that there is nothing.
func TestPageFilledPastDeletedItems(t *testing.T) {
	for name, c := range map[string]struct {
		request engine.Request
		gone    int
	}{
		"less than a round":     {refresh(1), 3},
		"a round":               {refresh(1), 5},
		"more than a round":     {refresh(1), 9},
		"a session's load_more": {loadMore(2), 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 60, func(_ *engine.Stores, cfg *engine.Config) { cfg.N = 5 })
			first := 0
			if c.request.Action == engine.ActionLoadMore {
				r.wants(t, refresh(2), run(0, 2), true)
				first = 2
			}
			r.removeBehind(t, run(first, first+c.gone)...)
			from := first + c.gone
			assert.Equal(t, run(from, from+c.request.Limit), docIDs(r.ask(t, c.request)))
			r.removeBehind(t, run(from, 60)...)
			assert.Empty(t, docIDs(r.ask(t, loadMore(5))))
			assert.Empty(t, docIDs(r.ask(t, refresh(5))))
		})
	}
}

// A page that loses some items is topped up at most twice. A page that loses all its items reads
// on to the end of the session, and then refreshes.
func TestTopUp(t *testing.T) {
	for name, c := range map[string]struct {
		gone  []string
		want  []string
		more  bool
		pops  int
		again int // refreshes
	}{
		"nothing is gone":          {want: run(1, 5), more: true, pops: 1},
		"one is gone":              {gone: run(2, 3), want: []string{"i001", "i003", "i004", "i005"}, more: true, pops: 2},
		"of a top-up too":          {gone: run(4, 6), want: []string{"i001", "i002", "i003", "i006"}, more: true, pops: 3},
		"of both top-ups":          {gone: run(4, 7), want: run(1, 4), more: true, pops: 3},
		"all of several pages":     {gone: run(1, 14), want: run(14, 17), more: true, pops: 4},
		"all but the end":          {gone: run(1, 19), want: run(19, 20), pops: 5},
		"all of the session":       {gone: run(1, 20), want: []string{}, pops: 5, again: 1},
		"all but something new":    {gone: run(1, 20), want: []string{"new"}, pops: 5, again: 1},
		"the last of the session":  {gone: run(18, 20), want: run(1, 5), more: true, pops: 1},
		"one at the end of a page": {gone: run(4, 5), want: []string{"i001", "i002", "i003", "i005"}, more: true, pops: 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 20, nil)
			r.wants(t, refresh(1), run(0, 1), true)
			r.remove(t, c.gone...)
			if len(c.want) > 0 && c.want[0] == "new" {
				r.put(t, aged("new", "", time.Hour))
			}
			r.wants(t, loadMore(4), c.want, c.more)
			assert.Equal(t, c.pops, r.sessions.count("Pop"))
			assert.Equal(t, 1+c.again, r.sessions.count("Replace"))
			for _, v := range r.verdicts(t, c.gone...) {
				assert.Equal(t, dedup.Unseen, v, "what was not shown is not pending")
			}
			if len(c.want) == 0 {
				r.wants(t, named(loadMore(4), "r1"), []string{}, false)
				r.put(t, aged("new", "", time.Hour))
				r.wants(t, named(loadMore(4), "r1"), []string{}, false)
			}
		})
	}
}

// An item that has changed since it was ranked is not shown in its old place.
func TestChangedItemNotShown(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"deleted":           func(r *rig) { r.removeBehind(t, "i001") },
		"in another group":  func(r *rig) { r.put(t, aged("i001", "story", time.Hour)) },
		"dated later":       func(r *rig) { r.put(t, aged("i001", "", -time.Hour)) },
		"its author muted":  func(r *rig) { r.profile(t, feed.Profile{MutedAuthors: []string{"ann"}}, "ann") },
		"hidden":            func(r *rig) { r.profile(t, feed.Profile{MutedItems: []string{"i001"}}, "") },
		"in other language": func(r *rig) { r.profile(t, feed.Profile{Langs: []string{"de"}}, "") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 10, nil)
			r.wants(t, refresh(1), run(0, 1), true)
			change(r)
			r.wants(t, loadMore(3), run(2, 5), true)
			assert.NotContains(t, r.recorder.groups(), "i001")
			assert.NotContains(t, r.tally.delivered, "i001")
			assert.Equal(t, []dedup.Verdict{dedup.Unseen}, r.verdicts(t, "i001"))
		})
	}
}

// profile changes u_1's profile without the engine, which would end the session, and gives i001 an
// author and a language.
func (r *rig) profile(t *testing.T, p feed.Profile, author string) {
	t.Helper()
	it := items(2)[1]
	it.AuthorID, it.Lang = author, "fr"
	r.put(t, it)
	require.NoError(t, catalogtest.PutProfile(t.Context(), r.stores.Catalog, "u_1", p))
}

// A shown item is still recognized by its id after it has moved to another group, also when only a
// filter has it.
func TestShownItemInAnotherGroup(t *testing.T) {
	r := newRig(t, 5, closed)
	r.wants(t, refresh(2), run(0, 2), true)
	r.settled(t)
	r.put(t, aged("i000", "story", time.Hour), aged("i003", "i001", 3*time.Hour))
	r.wants(t, refresh(5), []string{"i002", "i004"}, false)
}

// A page with unreadable content returns to the head of the session, and is the next page.
func TestUnreadablePageReturned(t *testing.T) {
	for _, id := range []string{"", "r1"} {
		r := newRig(t, 30, nil)
		r.wants(t, refresh(5), run(0, 5), true)
		r.catalog.down(catalog.ErrUnavailable)
		_, err := r.Feed(t.Context(), named(loadMore(5), id))
		require.ErrorIs(t, err, catalog.ErrUnavailable)
		assert.Equal(t, run(0, 5), r.recorder.groups())
		assert.Equal(t, run(0, 5), r.tally.delivered)

		r.catalog.cached = []string{"i006", "i008"}
		a := r.ask(t, named(loadMore(5), id))
		assert.Equal(t, []string{"i006", "i008"}, docIDs(a), "what is cached is worth an answer")
		assert.Equal(t, []string{"catalog"}, a.Degraded)
		assert.True(t, a.HasMore)
		r.catalog.up()
		r.wants(t, loadMore(4), []string{"i005", "i007", "i009", "i010"}, true)
	}
}

// Unreadable items at the head of the session do not block the readable ones after them.
func TestLoadMorePastUnreadableItems(t *testing.T) {
	for _, id := range []string{"", "r1"} {
		r := newRig(t, 30, nil)
		r.wants(t, refresh(5), run(0, 5), true)
		r.catalog.down(catalog.ErrUnavailable)
		r.catalog.cached = []string{"i016", "i018"}
		a := r.ask(t, named(loadMore(5), id))
		assert.Equal(t, []string{"i016", "i018"}, docIDs(a))
		assert.Equal(t, []string{"catalog"}, a.Degraded)
		assert.True(t, a.HasMore)
		if id != "" {
			assert.Equal(t, docIDs(a), docIDs(r.ask(t, named(loadMore(5), id))), "a retry")
		}
		assert.Equal(t, append(run(0, 5), "i016", "i018"), r.recorder.groups()[:7])
		r.catalog.up()
		r.wants(t, loadMore(5), run(5, 10), true)
		r.wants(t, loadMore(9), []string{"i010", "i011", "i012", "i013", "i014", "i015", "i017", "i019", "i020"}, true)
	}
}

// A refresh does the same in the session it has just created.
func TestRefreshPastUnreadableItems(t *testing.T) {
	r := newRig(t, 30, nil)
	r.catalog.down(catalog.ErrUnavailable, "Docs", "Hydrate")
	r.catalog.cached = []string{"i007"}
	a := r.ask(t, refresh(3))
	assert.Equal(t, []string{"i007"}, docIDs(a))
	r.catalog.up()
	r.wants(t, loadMore(8), []string{"i000", "i001", "i002", "i003", "i004", "i005", "i006", "i008"}, true)
}

// A page is returned to the session even if the request has ended.
func TestUnreadablePageReturnedAfterRequest(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	ctx, cancel := context.WithCancel(t.Context())
	r.catalog.before(func(string) { cancel() })
	_, err := r.Feed(ctx, loadMore(5))
	require.ErrorIs(t, err, context.Canceled)
	r.catalog.before(nil)
	r.wants(t, loadMore(5), run(5, 10), true)
}

// A failed top-up does not fail the page, which reports what it lacks.
func TestTopUpFailure(t *testing.T) {
	pop := func(r *rig) { r.sessions.set(rule{err: cache.ErrUnavailable, only: []string{"Pop"}, skip: 1}) }
	content := func(err error) func(*rig) {
		return func(r *rig) { r.catalog.set(rule{err: err, skip: 1}) }
	}
	for name, c := range map[string]struct {
		fail    func(r *rig)
		missing string
	}{
		"at its pop":                            {pop, "session"},
		"at its content":                        {content(errors.New("broken")), "catalog"},
		"at its content, which is out of reach": {content(catalog.ErrUnavailable), "catalog"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30, nil)
			r.wants(t, refresh(1), run(0, 1), true)
			r.remove(t, "i001", "i003")
			c.fail(r)
			a := r.ask(t, loadMore(4))
			assert.Equal(t, []string{"i002", "i004"}, docIDs(a))
			assert.True(t, a.HasMore)
			assert.Equal(t, []string{c.missing}, a.Degraded)
			r.sessions.up()
			r.catalog.up()
			r.wants(t, loadMore(2), run(5, 7), true)
		})
	}
}

// When no item of the page is left and the session cannot be read further, the session counts as
// ended.
func TestTopUpFailureEndsSession(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(1), run(0, 1), true)
	r.remove(t, run(1, 5)...)
	r.sessions.set(rule{err: cache.ErrUnavailable, only: []string{"Pop"}, skip: 1})
	r.wants(t, loadMore(4), run(5, 9), true)
}

// holdFirstRecall blocks the first call of recall until the returned channel is closed.
func (r *rig) holdFirstRecall() (go_ chan struct{}) {
	go_ = make(chan struct{})
	var once sync.Once
	r.recall.before(func(string) { once.Do(func() { <-go_ }) })
	return go_
}

// A refresh that waits for another one of its agent pages from the session that one has built, if
// it is recent enough.
func TestRefreshCoalesced(t *testing.T) {
	for name, c := range map[string]struct {
		coalesce time.Duration
		recalls  int
	}{"young": {time.Second, 1}, "off": {0, 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 30, func(_ *engine.Stores, cfg *engine.Config) { cfg.Coalesce = c.coalesce })
				go_ := r.holdFirstRecall()
				var wg sync.WaitGroup
				wg.Go(func() { r.wants(t, refresh(5), run(0, 5), true) })
				synctest.Wait()
				wg.Go(func() { r.wants(t, refresh(5), run(5, 10), true) })
				synctest.Wait()
				assert.Equal(t, 1, r.recall.count("Recall"), "the second one waits for its turn")
				close(go_)
				wg.Wait()
				assert.Equal(t, c.recalls, r.recall.count("Recall"))
			})
		})
	}
}

// A refresh that waited for one that found nothing or failed does its own refresh.
func TestRefreshCoalescedOnlyWithSession(t *testing.T) {
	for name, c := range map[string]struct {
		n     int
		fault error
	}{"no session is left": {n: 5}, "it failed": {n: 30, fault: errors.New("broken")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.n, func(_ *engine.Stores, cfg *engine.Config) { cfg.Coalesce = time.Second })
				r.recall.set(rule{err: c.fault, times: 1})
				go_ := r.holdFirstRecall()
				var wg sync.WaitGroup
				wg.Go(func() {
					_, err := r.Feed(t.Context(), refresh(5))
					assert.ErrorIs(t, err, c.fault)
				})
				synctest.Wait()
				var second engine.Answer
				wg.Go(func() { second = r.ask(t, refresh(5)) })
				synctest.Wait()
				assert.Equal(t, 1, r.recall.count("Recall"), "the second one waits for its turn")
				close(go_)
				wg.Wait()
				assert.Equal(t, 2, r.recall.count("Recall"))
				if c.fault != nil {
					assert.Equal(t, run(0, 5), docIDs(second))
				} else {
					assert.Empty(t, second.Docs)
				}
			})
		})
	}
}

func TestRefusedRequests(t *testing.T) {
	r := newRig(t, 1, nil)
	for _, q := range []struct {
		change func(*engine.Request)
		err    error
	}{
		{func(q *engine.Request) { q.Agent = "u:1" }, feed.ErrBadID},
		{func(q *engine.Request) { q.RequestID = "a b" }, feed.ErrBadID},
		{func(q *engine.Request) { q.Action = "reload" }, feed.ErrBadAction},
		{func(q *engine.Request) { q.Action, q.Silent = engine.ActionLoadMore, true }, feed.ErrBadAction},
		{func(q *engine.Request) { q.Limit = 0 }, feed.ErrBadLimit},
		{func(q *engine.Request) { q.Limit = 101 }, feed.ErrBadLimit},
	} {
		bad := refresh(5)
		q.change(&bad)
		_, err := r.Feed(t.Context(), bad)
		require.ErrorIs(t, err, q.err)
	}
}
