package cachetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

const (
	goFeed feed.Name = "tag:go"
	deFeed feed.Name = "lang:de"
)

// scoped returns the refs as a named feed has them; again marks them as shown before.
func scoped(name feed.Name, again bool, list ...feed.Ref) []feed.Ref {
	list = slices.Clone(list)
	for i := range list {
		list[i].Scope, list[i].ShownBefore = name.Scope(), again
	}
	return list
}

// recorded takes the keys of refs out of the pending set, as once they are in a filter and the grace
// is over.
func recorded(t *testing.T, env Env, list []feed.Ref) {
	t.Helper()
	var batch []dedup.Impression
	for _, key := range feed.ClaimKeys(list) {
		batch = append(batch, dedup.Impression{Agent: agent, Group: key})
	}
	require.NoError(t, env.Seen.ClearPending(t.Context(), batch))
}

func refresh(t *testing.T, s cache.Sessions, name feed.Name, limit int, ranked []feed.Ref) cache.Page {
	t.Helper()
	page, err := s.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(ranked), Limit: limit, Now: Start, Call: cache.Call{Feed: name}})
	require.NoError(t, err)
	return page
}

func namedShareSession(t *testing.T, open Open) {
	env := open(t, TTL)
	tags, langs := scoped(goFeed, false, refs(0, 6)...), scoped(deFeed, false, refs(20, 26)...)
	requirePage(t, tags[:2], true, refresh(t, env.A, goFeed, 2, tags))
	requirePage(t, nil, false, popOf(t, env.A, cache.Call{Feed: deFeed}, 2))
	requirePage(t, tags[2:4], true, popOf(t, env.B, cache.Call{Feed: goFeed}, 2))
	next, err := env.A.Next(t.Context(), agent, goFeed, 5)
	require.NoError(t, err)
	require.Equal(t, tags[4:], next)
	requirePage(t, langs[:2], true, refresh(t, env.B, deFeed, 2, langs))
	requirePage(t, nil, false, popOf(t, env.A, cache.Call{Feed: goFeed}, 2))
	next, err = env.A.Next(t.Context(), agent, goFeed, 5)
	require.NoError(t, err)
	require.Empty(t, next)
	requirePage(t, langs[2:4], true, popOf(t, env.A, cache.Call{Feed: deFeed}, 2))
	require.NoError(t, env.A.Delete(t.Context(), agent))
	requirePage(t, nil, false, popOf(t, env.A, cache.Call{Feed: deFeed}, 2))
}

func namedLeaves(t *testing.T, open Open) {
	for _, shows := range []feed.Name{feed.ForYou, feed.HomeFeed} {
		t.Run(string(shows), func(t *testing.T) {
			env := open(t, TTL)
			all := refs(0, 10)
			named := slices.Concat(scoped(goFeed, false, all[:4]...), scoped(goFeed, true, all[4:7]...), scoped(goFeed, false, all[7:]...))
			fill(t, env.A, goFeed, named)
			fill(t, env.A, shows, []feed.Ref{all[1], all[8]})
			requirePage(t, []feed.Ref{all[1]}, true, popOf(t, env.B, cache.Call{Feed: shows}, 1))
			recorded(t, env, all[1:2])
			requirePage(t, []feed.Ref{all[8]}, false, popOf(t, env.B, cache.Call{Feed: shows}, 1))
			recorded(t, env, all[8:9])
			require.NoError(t, env.B.Withdraw(t.Context(), agent, []string{all[2].Group, all[5].Group}, Start))
			want := slices.DeleteFunc(slices.Clone(named), func(r feed.Ref) bool {
				return r.ID == all[1].ID || r.ID == all[2].ID || r.ID == all[8].ID
			})
			requirePage(t, want, false, popOf(t, env.A, cache.Call{Feed: goFeed}, 20))
		})
	}
}

func namedHandsOut(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 8)
	fill(t, env.A, feed.ForYou, all)
	fill(t, env.A, feed.HomeFeed, all)
	named := scoped(goFeed, false, all[1:5]...)
	requirePage(t, named[:2], true, refresh(t, env.B, goFeed, 2, named))
	requirePage(t, named[2:], false, popOf(t, env.A, cache.Call{Feed: goFeed}, 2))
	checked, err := env.Seen.Check(t.Context(), agent, []string{all[1].Group, all[6].Group}, Start)
	require.NoError(t, err)
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Unseen}, checked.Verdicts)
	requirePage(t, []feed.Ref{all[0], all[5], all[6]}, true, refresh(t, env.A, feed.ForYou, 3, all[:8]))
	recorded(t, env, named)
	recorded(t, env, all)
	requirePage(t, []feed.Ref{all[7]}, false, popOf(t, env.A, cache.Call{Feed: feed.HomeFeed}, 9))
}

func namedAgain(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 6)
	refresh(t, env.A, feed.ForYou, 3, all[:3])
	// Of what for-you has just shown, only what is marked is shown, and only once in a feed.
	again, unknown := scoped(goFeed, true, all[:2]...), scoped(goFeed, false, all[2:]...)
	requirePage(t, slices.Concat(again, unknown[1:3]), true, refresh(t, env.B, goFeed, 4, slices.Concat(again, unknown)))
	requirePage(t, scoped(goFeed, true, all[2], all[5]), false, refresh(t, env.B, goFeed, 9, scopedAgain(goFeed, again, unknown)))
	other := scoped(deFeed, true, all...)
	requirePage(t, other, false, refresh(t, env.A, deFeed, 9, other))
	recorded(t, env, again)
	requirePage(t, nil, false, refresh(t, env.A, feed.ForYou, 9, all[2:]))

	// For-you may be about to repeat something, too.
	more := refs(40, 44)
	fill(t, env.A, feed.ForYou, []feed.Ref{{ID: more[0].ID, Group: more[0].Group, ShownBefore: true}, more[1]})
	once := scoped(goFeed, true, more[0])
	requirePage(t, once, false, refresh(t, env.B, goFeed, 9, once))
	recorded(t, env, once)
	requirePage(t, more[1:2], false, popOf(t, env.A, cache.Call{Feed: feed.ForYou}, 9))
}

// scopedAgain marks all of the refs.
func scopedAgain(name feed.Name, lists ...[]feed.Ref) []feed.Ref {
	return scoped(name, true, slices.Concat(lists...)...)
}

func namedTakenBack(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 4)
	forYou := cache.Call{Owner: "f", RequestID: "r1", Feed: feed.ForYou, Action: "refresh", Limit: 2}
	page, err := env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(all[:2]), Limit: 2, Now: Start, Call: forYou})
	require.NoError(t, err)
	require.Len(t, page.Refs, 2)
	call := cache.Call{Owner: "g", RequestID: "r2", Feed: goFeed, Action: "refresh", Limit: 4}
	named := slices.Concat(scoped(goFeed, true, all[:2]...), scoped(goFeed, false, all[2:]...))
	page, err = env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(named), Limit: 4, Now: Start, Call: call})
	require.NoError(t, err)
	require.Equal(t, named, page.Refs)
	call.Step = page.Next
	require.NoError(t, env.B.Discard(t.Context(), agent, []feed.Ref{named[0], named[2]}, call))
	forYou.Step = 1
	require.NoError(t, env.B.Restore(t.Context(), agent, all[1:2], forYou), "the named feed has shown it meanwhile")
	requirePage(t, nil, false, popOf(t, env.A, cache.Call{Feed: feed.ForYou}, 9))
	requirePage(t, []feed.Ref{all[2]}, false, refresh(t, env.A, feed.ForYou, 9, all))
	requirePage(t, scopedAgain(goFeed, all[:1], all[2:3]), false, refresh(t, env.A, goFeed, 9, scopedAgain(goFeed, all)))
}

func namedRestored(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 9)
	refresh(t, env.A, feed.ForYou, 1, all[:1])
	call := cache.Call{Owner: "g", RequestID: "r2", Feed: goFeed, Action: "refresh", Limit: 4}
	named := slices.Concat(scoped(goFeed, true, all[:1]...), scoped(goFeed, false, all[1:]...))
	page, err := env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(named), Limit: 4, Now: Start, Call: call})
	require.NoError(t, err)
	call.Step = page.Next
	require.NoError(t, env.B.Withdraw(t.Context(), agent, []string{all[2].Group}, Start))
	require.NoError(t, env.B.Restore(t.Context(), agent, page.Refs, call))
	requirePage(t, slices.Concat(named[:2], named[3:5]), true, popOf(t, env.A, cache.Call{Owner: "h", Feed: goFeed, Action: "load_more", Limit: 4}, 4))

	more := cache.Call{Owner: "i", RequestID: "r3", Feed: goFeed, Action: "load_more", Limit: 2}
	page = popOf(t, env.A, more, 2)
	require.Equal(t, named[5:7], page.Refs)
	langs := scoped(deFeed, false, refs(20, 24)...)
	refresh(t, env.A, deFeed, 1, langs)
	more.Step = page.Next
	require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, more), "another named feed has replaced the session")
	requirePage(t, langs[1:], false, popOf(t, env.A, cache.Call{Feed: deFeed}, 9))
	requirePage(t, named[5:], false, refresh(t, env.A, goFeed, 9, named))
}

// namedRestoredAlone restores the whole page of a session that had no more, and has another feed show one of its
// items later than in its next step.
func namedRestoredAlone(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 5)
	named := scoped(goFeed, false, all[:3]...)
	requirePage(t, named, false, refresh(t, env.A, goFeed, 3, named))
	require.NoError(t, env.A.Restore(t.Context(), agent, named, cache.Call{Feed: goFeed}))
	refresh(t, env.A, feed.ForYou, 1, slices.Concat(all[3:], all[1:2]))
	requirePage(t, slices.Concat(all[4:], all[1:2]), false, popOf(t, env.A, cache.Call{Feed: feed.ForYou}, 2))
	recorded(t, env, all)
	requirePage(t, []feed.Ref{named[0], named[2]}, false, popOf(t, env.B, cache.Call{Feed: goFeed}, 5))
}

func namedRetries(t *testing.T, open Open) {
	env := open(t, TTL)
	named := scoped(goFeed, false, refs(0, 5)...)
	call := cache.Call{Owner: "g", RequestID: "r1", Feed: goFeed, Action: "refresh", Limit: 2}
	step := cache.Replace{Agent: agent, Ranked: slices.Clone(named), Limit: 2, Now: Start, Call: call}
	_, err := env.A.Replace(t.Context(), step)
	require.NoError(t, err)
	step.Call.Owner, step.Ranked = "h", slices.Clone(named)
	page, err := env.B.Replace(t.Context(), step)
	require.NoError(t, err)
	assert.True(t, page.Replayed)
	assert.Equal(t, named[:2], page.Refs)
	for _, other := range []feed.Name{deFeed, feed.ForYou, feed.HomeFeed} {
		step.Call.Feed, step.Ranked = other, scoped(other, false, refs(30, 33)...)
		_, err := env.B.Replace(t.Context(), step)
		require.ErrorIs(t, err, cache.ErrConflict, other)
	}
}

func namedRefreshed(t *testing.T, open Open) {
	env := open(t, TTL)
	for i, name := range []feed.Name{goFeed, deFeed, feed.ForYou} {
		page, err := env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: scoped(name, false, refs(10*i, 10*i+2)...), Limit: 1, Now: Start.Add(time.Duration(i) * time.Second), Call: cache.Call{Feed: name}})
		require.NoError(t, err)
		assert.Equal(t, i == 0, page.First, name)
	}
	for name, want := range map[feed.Name]time.Time{goFeed: Start, deFeed: Start.Add(time.Second), feed.AnyNamed: Start.Add(time.Second), "tag:x": {}} {
		at, err := env.B.Refreshed(t.Context(), agent, name)
		require.NoError(t, err)
		assert.True(t, want.Equal(at), "%s: %s", name, at)
	}
	require.NoError(t, env.A.Forget(t.Context(), agent))
	at, err := env.B.Refreshed(t.Context(), agent, goFeed)
	require.NoError(t, err)
	assert.True(t, at.IsZero())
}
