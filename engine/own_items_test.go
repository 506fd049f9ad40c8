package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

func by(author string, items []feed.Item) []feed.Item {
	for i := range items {
		items[i].AuthorID = author
	}
	return items
}

// An agent's own items are in none of their feeds, whichever source proposes them, and a badge
// does not count them. Other agents get them.
func TestOwnItemsInNoFeed(t *testing.T) {
	t.Parallel()
	for _, of := range []feed.Name{feed.ForYou, feed.HomeFeed} {
		for _, n := range []int{3, 300} { // a few, and a whole round
			t.Run(fmt.Sprint(of, " ", n), func(t *testing.T) {
				t.Parallel()
				trends, promoted := newestLast("trend", 10), newestLast("promo", 10)
				by("u_1", trends[:3])
				by("u_1", promoted[:3])
				h := homeOf(t, trends, promoted)
				h.rig.put(t, by("u_1", newestLast("own", n))...)
				h.net.Advance(time.Minute)
				p, _, err := h.net.Store.CreatePost(t.Context(), social.Post{ID: "post:own", Author: "u_1", Caption: "Mine", CreatedAt: rankedAt.Unix(), Audience: toAll}, social.Creation{At: rankedAt})
				require.NoError(t, err)
				h.net.Push(h.net.Lists, "u_1", p.Post)
				others := 60 // for discovery
				if of == feed.HomeFeed {
					others += 40 + 7 + 1 // of ann, trending, and promoted at position 9 of the first page
				}
				ask := func(agent string, q engine.Request) engine.Answer {
					q.Agent, q.Feed = agent, of
					a, err := h.engine.Feed(t.Context(), q)
					require.NoError(t, err)
					return a
				}
				badge := ask("u_1", silent(20))
				if of == feed.ForYou {
					assert.Equal(t, others, badge.NewCount)
				}
				met := docIDs(badge)
				page := ask("u_1", refresh(20))
				require.Len(t, page.Docs, 20)
				for ; len(page.Docs) > 0; page = ask("u_1", loadMore(20)) {
					met = append(met, docIDs(page)...)
				}
				for _, id := range met {
					it := h.rig.item(t, id)
					assert.NotEqual(t, "u_1", it.AuthorID, id)
				}
				slices.Sort(met)
				assert.GreaterOrEqual(t, len(slices.Compact(met)), others)
				ids := docIDs(ask("u_2", refresh(100)))
				assert.True(t, slices.ContainsFunc(ids, func(id string) bool { return h.rig.item(t, id).AuthorID == "u_1" }))
			})
		}
	}
}

// item returns an item of the catalog. The post post:own has no item there.
func (r *rig) item(t *testing.T, id string) (it feed.Item) {
	t.Helper()
	docs, err := r.stores.Catalog.Docs(t.Context(), []string{id})
	require.NoError(t, err)
	if docs[0].Missing() {
		require.NotEqual(t, "post:own", id)
		return it
	}
	it, err = docs[0].Item()
	require.NoError(t, err)
	return it
}

func TestExplainOwnItem(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, nil)
	r.put(t, by("u_1", newestLast("own", 2))...)
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 20, Item: "own_00"})
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeOwn, x.Item.Outcome)
	assert.Contains(t, x.Item.Reason, "not in the agent's feeds")
	assert.Equal(t, 5, x.Counts.Recalled)
	_, lists, err := r.Rank(t.Context(), "u_1", time.Time{}, 20, dayLong())
	require.NoError(t, err)
	assert.Len(t, lists[0], 5)
}

// Each of several authors of an item counts as its author.
func TestOwnItemsCoauthor(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, nil)
	ours := by("ann", newestLast("ours", 2))
	for i := range ours {
		ours[i].AuthorIDs = []string{"ann", "u_1", "bob"}
	}
	r.put(t, ours...)
	for agent, items := range map[string]int{"ann": 5, "u_1": 5, "bob": 5, "eve": 7} {
		x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: agent, Limit: 20, Item: "ours_00"})
		require.NoError(t, err)
		assert.Equal(t, agent == "eve", x.Item.Outcome == api.OutcomePaged, "%s: %s", agent, x.Item.Outcome)
		a, err := r.Feed(t.Context(), engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: 20})
		require.NoError(t, err)
		assert.Len(t, a.Docs, items, agent)
	}
	require.NoError(t, r.PutProfile(t.Context(), "zoe", feed.Profile{MutedAuthors: []string{"bob"}}))
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "zoe", Limit: 20, Item: "ours_00"})
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeMuted, x.Item.Outcome)
	assert.Contains(t, x.Item.Reason, "bob", "the author that is muted is named, not the first one")
}

// An agent's act on an own item is accepted, but raises no popularity.
func TestOwnActsRaiseNoPopularity(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]feed.Item{
		"an item":                {ID: "own", Title: "Mine", UpdateTime: rankedAt.Unix(), AuthorID: "u_1"},
		"a post":                 {ID: "post:own", Title: "Mine", UpdateTime: rankedAt.Unix(), AuthorID: "u_1"},
		"one of several authors": {ID: "own", Title: "Ours", UpdateTime: rankedAt.Unix(), AuthorID: "ann", AuthorIDs: []string{"ann", "u_1"}},
	} {
		for _, kind := range []events.Kind{events.Click, events.Like} {
			t.Run(fmt.Sprint(name, " ", kind), func(t *testing.T) {
				t.Parallel()
				live := &raised{}
				r := newRig(t, 1, func(s *engine.Stores, _ *engine.Config) { s.Popularity = live })
				r.put(t, own)
				for _, agent := range []string{"u_1", "u_2"} {
					require.NoError(t, r.stores.Recorder.Confirm(t.Context(), agent, []string{own.ID, "i000"}))
					taken, err := r.React(t.Context(), agent, []engine.Act{{Kind: kind, ID: own.ID}, {Kind: kind, ID: "i000"}})
					require.NoError(t, err)
					assert.Equal(t, api.EventsTaken{Accepted: 2}, taken)
				}
				assert.Equal(t, []string{"u_1 i000", "u_2 " + own.ID, "u_2 i000"}, live.items)
			})
		}
	}
}
