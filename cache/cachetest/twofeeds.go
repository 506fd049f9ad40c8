package cachetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// eachOrder runs a test once for each order of the two feeds: one hands out pages, then the other's
// session is paged.
func eachOrder(t *testing.T, open Open, test func(t *testing.T, env Env, shows, waits feed.Name)) {
	for _, shows := range []feed.Name{feed.HomeFeed, feed.ForYou} {
		t.Run(string(shows), func(t *testing.T) { test(t, open(t, TTL), shows, shows.Other()) })
	}
}

// fill creates a session for a feed without handing out any of it.
func fill(t *testing.T, s cache.Sessions, name feed.Name, ranked []feed.Ref) {
	t.Helper()
	page, err := s.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(ranked), Now: Start, Call: cache.Call{Feed: name}})
	require.NoError(t, err)
	require.Empty(t, page.Refs)
}

func popOf(t *testing.T, s cache.Sessions, call cache.Call, limit int) cache.Page {
	t.Helper()
	page, err := s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: limit, Now: Start, Call: call})
	require.NoError(t, err)
	return page
}

// graceOver empties the pending set, as happens once everything is in a filter and the grace period
// is over.
func graceOver(t *testing.T, env Env) {
	t.Helper()
	require.NoError(t, env.Seen.Forget(t.Context(), agent))
}

// leavesOtherFeed checks that refs handed out by one feed are not handed out by the other, even
// when they are no longer pending.
func leavesOtherFeed(t *testing.T, open Open) {
	eachOrder(t, open, func(t *testing.T, env Env, shows, waits feed.Name) {
		all := refs(0, 12)
		fill(t, env.A, waits, all)
		page, err := env.B.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(all[3:9]), Limit: 2, Now: Start, Call: cache.Call{Feed: shows}})
		require.NoError(t, err)
		requirePage(t, all[3:5], true, page)
		requirePage(t, all[5:7], true, popOf(t, env.A, cache.Call{Feed: shows}, 2))
		requirePage(t, all[7:9], false, popOf(t, env.B, cache.Call{Feed: shows}, 5))
		graceOver(t, env)
		requirePage(t, append(refs(0, 3), all[9]), true, popOf(t, env.A, cache.Call{Feed: waits}, 4))
		requirePage(t, all[10:], false, popOf(t, env.B, cache.Call{Feed: waits}, 4))
	})
}

// leavesOtherFeedByKeys checks that items with the same group or id count as the same, whichever
// source proposed them.
func leavesOtherFeedByKeys(t *testing.T, open Open) {
	eachOrder(t, open, func(t *testing.T, env Env, shows, waits feed.Name) {
		left := feed.Ref{Group: "story_9", ID: "doc_9", Source: feed.SourceTrending}
		fill(t, env.A, waits, []feed.Ref{
			{Group: "story", ID: "doc_1", Source: feed.SourceTrending},
			{Group: "doc_2", ID: "doc_2", Source: feed.SourceDiscovery, ShownBefore: true},
			ref("doc_3"),
			{Group: "story_4", ID: "doc_4"},
			left,
		})
		fill(t, env.A, shows, []feed.Ref{
			{Group: "story", ID: "another"},
			ref("doc_2"),
			{Group: "doc_3", ID: "doc_3", Source: feed.SourcePromoted},
			{Group: "regrouped", ID: "doc_4", Source: feed.SourceFollowing},
		})
		require.Len(t, popOf(t, env.B, cache.Call{Feed: shows}, 9).Refs, 4)
		graceOver(t, env)
		requirePage(t, []feed.Ref{left}, false, popOf(t, env.A, cache.Call{Feed: waits}, 9))
	})
}

// leavesOtherFeedWhole checks that the other session keeps its TTL, and ends when it becomes empty.
func leavesOtherFeedWhole(t *testing.T, open Open) {
	eachOrder(t, open, func(t *testing.T, env Env, shows, waits feed.Name) {
		all := refs(0, 8)
		fill(t, env.A, waits, all)
		env.Advance(20 * time.Minute)
		fill(t, env.A, shows, all[:6])
		popOf(t, env.B, cache.Call{Feed: shows}, 2)
		env.Advance(9 * time.Minute)
		requirePage(t, all[2:3], true, popOf(t, env.A, cache.Call{Feed: waits}, 1))
		env.Advance(2 * time.Minute)
		requirePage(t, nil, false, popOf(t, env.A, cache.Call{Feed: waits}, 1))

		fill(t, env.A, waits, all[3:6])
		popOf(t, env.B, cache.Call{Feed: shows}, 3)
		next, err := env.A.Next(t.Context(), agent, waits, 9)
		require.NoError(t, err)
		require.Empty(t, next)
		requirePage(t, nil, false, popOf(t, env.A, cache.Call{Feed: waits}, 9))
	})
}

// givenBackToItsFeed checks that restored refs return only to the feed they came from, that
// discarded ones return to none, and that a step answered from its record takes nothing.
func givenBackToItsFeed(t *testing.T, open Open) {
	eachOrder(t, open, func(t *testing.T, env Env, shows, waits feed.Name) {
		all := refs(0, 6)
		fill(t, env.A, waits, all)
		fill(t, env.A, shows, all[:5])
		call := cache.Call{RequestID: "r1", Owner: "o1", Feed: shows, Action: "load_more", Limit: 4}
		requirePage(t, all[:4], true, popOf(t, env.A, call, 4))
		require.NoError(t, env.A.Restore(t.Context(), agent, all[1:2], call))
		require.NoError(t, env.A.Discard(t.Context(), agent, all[2:3], call))
		retry := call
		retry.Owner = "o2"
		requirePage(t, []feed.Ref{all[0], all[3]}, true, popOf(t, env.B, retry, 4))
		graceOver(t, env)
		requirePage(t, []feed.Ref{all[1], all[4]}, false, popOf(t, env.A, cache.Call{Feed: shows}, 9))
		requirePage(t, all[5:], false, popOf(t, env.A, cache.Call{Feed: waits}, 9))
	})
}

// withdrawnStays checks that an item withdrawn while a step holds it, because it was shown
// elsewhere, stays pending and returns to no session, however the step ends.
func withdrawnStays(t *testing.T, open Open) {
	story := feed.Ref{Group: "story", ID: "doc"}
	for name, giveBack := range map[string]func(t *testing.T, s cache.Sessions, page []feed.Ref, call cache.Call){
		"restore": func(t *testing.T, s cache.Sessions, page []feed.Ref, call cache.Call) {
			require.NoError(t, s.Restore(t.Context(), agent, page, call))
		},
		"discard": func(t *testing.T, s cache.Sessions, page []feed.Ref, call cache.Call) {
			require.NoError(t, s.Discard(t.Context(), agent, page, call))
		},
		"abandon": func(t *testing.T, s cache.Sessions, _ []feed.Ref, call cache.Call) {
			require.NoError(t, s.Abandon(t.Context(), agent, call))
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachCall(t, open, "load_more", func(t *testing.T, env Env, call cache.Call) {
				list := append(refs(0, 3), story)
				fill(t, env.A, feed.ForYou, append(list, ref("last")))
				requirePage(t, list, true, popOf(t, env.A, call, 4))
				for range 2 {
					require.NoError(t, env.B.Withdraw(t.Context(), agent, []string{"doc_1", "doc"}, Start.Add(-time.Second)))
				}
				giveBack(t, env.A, list, call)
				assert.Equal(t, []bool{true, true}, pending(t, env, Start, list[1], ref("doc")))
				want := []feed.Ref{ref("last")}
				if name == "restore" {
					want = append([]feed.Ref{list[0], list[2]}, want...)
				}
				graceOver(t, env)
				requirePage(t, want, false, popOf(t, env.A, cache.Call{}, 9))
			})
		})
	}
}

// concurrentFeeds pages both feeds of an agent concurrently on two servers and empties the pending
// set after each page, as if the grace period were over at once: no page may repeat another's refs
// although nothing is pending.
func concurrentFeeds(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 700)
	fill(t, env.A, feed.ForYou, all[:600])
	fill(t, env.A, feed.HomeFeed, all[100:])
	seen := handed{by: map[string]int{}}
	atOnce(env, func(i int, s cache.Sessions) {
		call := cache.Call{Owner: "o" + string(rune('a'+i/26)) + string(rune('a'+i%26)), Feed: []feed.Name{feed.ForYou, feed.HomeFeed}[i/2%2]}
		for range 3 {
			page, err := s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 3, Now: Start, Call: call})
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
				return
			}
			seen.add(t, i, page.Refs)
			if err := env.Seen.Forget(t.Context(), agent); err != nil {
				t.Errorf("caller %d: %v", i, err)
				return
			}
			call.Step = page.Next
		}
	})
	for _, name := range []feed.Name{feed.ForYou, feed.HomeFeed} {
		graceOver(t, env)
		seen.add(t, -1, popOf(t, env.A, cache.Call{Feed: name}, 700).Refs)
	}
	assert.Len(t, seen.by, len(all), "and nothing is lost")
}
