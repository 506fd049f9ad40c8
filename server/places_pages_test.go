package server

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// TestAnAuthorsPageIsNotRepeated reads an author's posts over HTTP: no feed repeats a post shown
// there, and acts on it count. For readers who are not signed in nothing is recorded.
func TestAnAuthorsPageIsNotRepeated(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	fillHome(t, a)
	s := &keptSystem{t, a}
	read := func(reader string) []string {
		answer := s.call(reader, "GET", "/v1/authors/ann/posts?limit=10", "")
		require.Equal(t, 200, answer.status, answer.body)
		require.Empty(t, answer.Data.Degraded)
		require.Len(t, answer.ids(), 10)
		return answer.ids()
	}
	ask(t, a, refresh("u", 1))
	page := read("u")
	recorded(t, a)
	var feeds []string
	for _, name := range []feed.Name{feed.ForYou, feed.HomeFeed} {
		for more := true; more; {
			answer := ask(t, a, engine.Request{Agent: "u", Feed: name, Action: engine.ActionLoadMore, Limit: 50})
			feeds, more = append(feeds, ids(answer)...), len(answer.Docs) > 0
		}
	}
	assert.Greater(t, len(feeds), 50)
	assert.False(t, slices.ContainsFunc(feeds, func(id string) bool { return slices.Contains(page[1:], id) }), "%v in %v", page, feeds)
	require.Equal(t, api.EventsTaken{Accepted: 1}, react(t, a, "u", act(events.Click, page[5])))

	public := read("")
	require.Equal(t, api.EventsTaken{NotShown: 1}, react(t, a, "nobody", act(events.Click, public[5])))
}

// TestAFailoverLeavesNoOldSession has a new master with a session from before the last pages. The
// server that delivered those pages removes their items, so that no other server delivers them
// again when they are no longer pending.
func TestAFailoverLeavesNoOldSession(t *testing.T) {
	cfg := services(t)
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	cfg.DataDir = t.TempDir()
	other := open(t, cfg, WithClock(clock.Now))
	put(t, a, madeItems(60)...)
	ask(t, a, refresh("u_1", 5))
	lost := ids(ask(t, a, loadMore("u_1", 10)))
	recorded(t, a)

	// The state of the new master: the session without the last pop, and none of its items pending.
	var batch []dedup.Impression
	refs := make([]feed.Ref, len(lost))
	for i, id := range lost {
		batch = append(batch, dedup.Impression{Agent: "u_1", Group: id})
		refs[i] = feed.Ref{ID: id, Group: id}
	}
	require.NoError(t, a.stores.sessions.Restore(t.Context(), "u_1", refs, cache.Call{}))
	next, err := a.stores.sessions.Next(t.Context(), "u_1", feed.ForYou, 10)
	require.NoError(t, err)
	require.Equal(t, refs, next)

	withdraw := a.newWithdraw(a.clients.masters.Client())
	require.NoError(t, a.stores.recorder.Reclaim(t.Context(), withdraw, time.Time{}))
	recorded(t, a)
	require.NoError(t, a.stores.dedup.ClearPending(t.Context(), batch)) // the grace period is over
	again := ask(t, other, loadMore("u_1", 20))
	require.Len(t, again.Docs, 20)
	for _, id := range ids(again) {
		assert.NotContains(t, lost, id)
	}
}

// TestATimelineSaysWhatItCouldNotNote checks the pages over HTTP while the disk of an embedded
// system is full.
func TestATimelineSaysWhatItCouldNotNote(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	fillHome(t, a)
	s, f := &keptSystem{t, a}, makeFlaky(t, a)
	for _, path := range []string{"/v1/timeline?limit=2", "/v1/authors/bob/posts?limit=2"} {
		f.broken.Store(1)
		for _, want := range [][]string{{"session"}, nil} {
			answer := s.call("u", "GET", path, "")
			require.Equal(t, 200, answer.status, answer.body)
			require.Len(t, answer.ids(), 2)
			require.Equal(t, want, answer.Data.Degraded, path)
		}
	}
}
