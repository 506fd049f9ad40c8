// Package cachetest is the conformance suite of [cache.Sessions]. Every backend must pass it.
package cachetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// Env is an empty store under test with the helpers that the suite needs. Its pending entries count
// for seven days.
type Env struct {
	// A and B are two servers that share one store; an in-process store is used as both.
	A, B cache.Sessions
	// Seen reads and changes the pending set that the sessions use.
	Seen Seen
	// RunsAgain means that a step without a request id may be run again with the same [cache.Call],
	// because its reply can get lost.
	RunsAgain bool
	// Advance advances the clock for everything that has a TTL.
	Advance func(d time.Duration)
}

// Seen is a dedup store with the pending set that sessions add to.
type Seen interface {
	dedup.Checker
	// Claim adds groups to the pending set, as another server does that serves them.
	Claim(ctx context.Context, agent string, groups []string, now time.Time) error
	// ClearPending is the method of [dedup.Writer].
	ClearPending(ctx context.Context, batch []dedup.Impression) error
	// Forget is the method of [dedup.Store].
	Forget(ctx context.Context, agent string) error
}

// Open returns a separate store for a test with sessions that live for ttl; the opener closes it
// with t.Cleanup.
type Open func(t *testing.T, ttl time.Duration) Env

// TTL is the session TTL that most tests use.
const TTL = 30 * time.Minute

// Start is the first now that the suite passes.
var Start = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

const agent = "u_10086"

// Run runs the suite.
func Run(t *testing.T, open func(t *testing.T, ttl time.Duration) Env) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Open)
	}{
		{"paging keeps the order", pagingOrder},
		{"has_more", hasMore},
		{"no session", noSession},
		{"replace ends the old session", replaceEndsOld},
		{"replace by nothing ends the session", replaceByNothing},
		{"replace drops what is pending", replaceDropsPending},
		{"pop skips what is pending", popSkipsPending},
		{"what is handed out is pending", handedOutIsPending},
		{"old pending entries do not count", oldPending},
		{"group and id", groupAndID},
		{"sources", sources},
		{"what gave it out is pending", givenOut},
		{"sources of what is taken back", sourcesTakenBack},
		{"long sessions", longSession},
		{"agents are apart", agentsApart},
		{"delete", deleteSession},
		{"forget", forgetSession},
		{"named feeds share a session", namedShareSession},
		{"named feeds: what other feeds hand out leaves", namedLeaves},
		{"named feeds: what they hand out is not shown elsewhere", namedHandsOut},
		{"named feeds show again and never themselves", namedAgain},
		{"named feeds: what is taken back", namedTakenBack},
		{"named feeds: what is restored", namedRestored},
		{"named feeds: a whole session is restored", namedRestoredAlone},
		{"named feeds: retries", namedRetries},
		{"named feeds: last refresh", namedRefreshed},
		{"feeds are apart", feedsApart},
		{"feeds share what is pending", feedsSharePending},
		{"feeds end together", feedsEndTogether},
		{"what one feed hands out leaves the other", leavesOtherFeed},
		{"it leaves the other by group and id", leavesOtherFeedByKeys},
		{"it leaves nothing else of the other", leavesOtherFeedWhole},
		{"given back to its own feed", givenBackToItsFeed},
		{"next", next},
		{"session TTL", sessionTTL},
		{"refreshed", refreshed},
		{"the first refresh", firstRefresh},
		{"retry answers the same page", retrySame},
		{"retry on another server", retryOtherServer},
		{"retry of another call is a conflict", retryConflict},
		{"a request id of the other feed is a conflict", retryOtherFeed},
		{"a request id in both feeds at once", retryFeedsAtOnce},
		{"an empty pop is not remembered", retryEmptyPop},
		{"an empty refresh is remembered", retryEmptyReplace},
		{"further steps add to the record", retryExtend},
		{"a further step that finds nothing", retryExtendEmpty},
		{"records expire", retryExpires},
		{"replay changes nothing", replayChangesNothing},
		{"restore", restore},
		{"restore after the session ended", restoreEnded},
		{"restore keeps the TTL", restoreKeepsTTL},
		{"restore forgets the record", restoreForgets},
		{"restore of a part keeps the rest of the record", restorePart},
		{"restore after a retry was answered", restoreAfterRetry},
		{"restore by all that were answered", restoreByAll},
		{"restore where one delivers", restoreByOne},
		{"what several calls hold", holders},
		{"what calls hold, at random", holdersAtRandom},
		{"restore what no other was answered with", restoreUnanswered},
		{"restore where each delivers a part", restoreParts},
		{"restore and go on", restoreAndGoOn},
		{"restore twice", restoreTwice},
		{"discard", discard},
		{"omit", omit},
		{"a step that is run again", runAgain},
		{"a refresh after a pop whose reply was lost", runAgainAsRefresh},
		{"a later step that is run again", runLaterAgain},
		{"a retry beside a step that is run again", runAgainBesideRetry},
		{"abandon", abandon},
		{"abandon a later step", abandonLater},
		{"abandon before the step comes", abandonFirst},
		{"abandon after a retry was answered", abandonAfterRetry},
		{"an item whose group changed", groupChanged},
		{"many pops at once", concurrentPops},
		{"many refreshes and pops at once", concurrentReplaceAndPop},
		{"one request id at once", concurrentRetries},
		{"cancelled context", cancelled},
		{"both feeds at once", concurrentFeeds},
		{"withdraw", withdraw},
		{"withdraw while a step holds it", withdrawnStays},
		{"withdraw all of a session", withdrawAll},
		{"withdraw what is not pending any more", withdrawLate},
		{"withdraw keeps the TTL", withdrawKeepsTTL},
		{"withdraw before a refresh hands out", withdrawBeforeReplace},
		{"withdraw from a long session", withdrawLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open)
		})
	}
}

// refs returns the refs doc_from … doc_(to−1).
func refs(from, to int) []feed.Ref {
	list := make([]feed.Ref, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, ref(fmt.Sprintf("doc_%d", i)))
	}
	return list
}

func ref(name string) feed.Ref { return feed.Ref{ID: name, Group: name} }

func replace(t *testing.T, s cache.Sessions, limit int, ranked []feed.Ref) cache.Page {
	t.Helper()
	page, err := s.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(ranked), Limit: limit, Now: Start})
	require.NoError(t, err)
	require.False(t, page.Replayed)
	return page
}

func pop(t *testing.T, s cache.Sessions, limit int) cache.Page {
	t.Helper()
	page, err := s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: limit, Now: Start})
	require.NoError(t, err)
	require.False(t, page.Replayed)
	return page
}

// requirePage compares pages; an empty list equals a nil one.
func requirePage(t *testing.T, want []feed.Ref, more bool, got cache.Page) {
	t.Helper()
	if len(want) == 0 {
		require.Empty(t, got.Refs)
	} else {
		require.Equal(t, want, got.Refs)
	}
	require.Equal(t, more, got.HasMore, "has_more")
}

// pending reports for each ref whether it is in the pending set at now.
func pending(t *testing.T, env Env, now time.Time, list ...feed.Ref) []bool {
	t.Helper()
	checked, err := env.Seen.Check(t.Context(), agent, Groups(list), now)
	require.NoError(t, err)
	held := make([]bool, len(list))
	for i, v := range checked.Verdicts {
		held[i] = v == dedup.Pending
	}
	return held
}

// hold adds groups to the pending set, as another server does that serves them.
func hold(t *testing.T, env Env, now time.Time, list ...feed.Ref) {
	t.Helper()
	require.NotContains(t, pending(t, env, now, list...), true)
	require.NoError(t, env.Seen.Claim(t.Context(), agent, Groups(list), now))
}

func pagingOrder(t *testing.T, open Open) {
	env := open(t, TTL)
	requirePage(t, refs(0, 20), true, replace(t, env.A, 20, refs(0, 55)))
	requirePage(t, refs(20, 40), true, pop(t, env.B, 20))
	requirePage(t, refs(40, 47), true, pop(t, env.A, 7))
	requirePage(t, refs(47, 55), false, pop(t, env.B, 20))
	requirePage(t, nil, false, pop(t, env.A, 20))
}

func hasMore(t *testing.T, open Open) {
	for _, test := range []struct {
		name                string
		ranked, limit, page int
		more                bool
	}{
		{"less than a page", 3, 10, 3, false},
		{"exactly a page", 10, 10, 10, false},
		{"one more", 11, 10, 10, true},
		{"nothing", 0, 10, 0, false},
		{"a page of one", 2, 1, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := open(t, TTL)
			requirePage(t, refs(0, test.page), test.more, replace(t, env.A, test.limit, refs(0, test.ranked)))
			requirePage(t, refs(test.page, test.ranked), false, pop(t, env.A, 10))
		})
	}
	t.Run("a pop that takes exactly the rest", func(t *testing.T) {
		env := open(t, TTL)
		replace(t, env.A, 5, refs(0, 15))
		requirePage(t, refs(5, 15), false, pop(t, env.A, 10))
	})
}

func noSession(t *testing.T, open Open) {
	env := open(t, TTL)
	requirePage(t, nil, false, pop(t, env.A, 20))
	require.NoError(t, env.A.Delete(t.Context(), agent))
	at, err := env.A.Refreshed(t.Context(), agent, feed.ForYou)
	require.NoError(t, err)
	assert.True(t, at.IsZero())
	_, ok, err := env.A.Replay(t.Context(), agent, cache.Call{RequestID: "r1", Action: "refresh", Limit: 20})
	require.NoError(t, err)
	assert.False(t, ok)
	_, ok, err = env.A.Replay(t.Context(), agent, cache.Call{})
	require.NoError(t, err)
	assert.False(t, ok)
}

func replaceEndsOld(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 10, refs(0, 50))
	requirePage(t, refs(100, 110), true, replace(t, env.B, 10, refs(100, 115)))
	requirePage(t, refs(110, 115), false, pop(t, env.A, 20))
	requirePage(t, nil, false, pop(t, env.A, 20))
}

func replaceByNothing(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 10, refs(0, 50))
	requirePage(t, nil, false, replace(t, env.A, 10, nil))
	requirePage(t, nil, false, pop(t, env.A, 20))
}

func replaceDropsPending(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 10)
	hold(t, env, Start, all[0], all[2], all[5], all[9])
	requirePage(t, []feed.Ref{all[1], all[3], all[4]}, true, replace(t, env.A, 3, all))
	requirePage(t, []feed.Ref{all[6], all[7], all[8]}, false, pop(t, env.A, 3))

	requirePage(t, nil, false, replace(t, env.B, 3, all))
}

func popSkipsPending(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 12)
	replace(t, env.A, 2, all)
	hold(t, env, Start, all[2], all[3], all[6])
	requirePage(t, []feed.Ref{all[4], all[5], all[7]}, true, pop(t, env.A, 3))
	hold(t, env, Start, all[8], all[9], all[10], all[11])
	requirePage(t, nil, false, pop(t, env.A, 3))
}

func handedOutIsPending(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 6)
	replace(t, env.A, 2, all)
	assert.Equal(t, []bool{true, true, false, false, false, false}, pending(t, env, Start, all...))
	pop(t, env.A, 3)
	assert.Equal(t, []bool{true, true, true, true, true, false}, pending(t, env, Start, all...))
}

func oldPending(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 4)
	hold(t, env, Start.Add(-7*24*time.Hour-time.Second), all[0])
	hold(t, env, Start.Add(-7*24*time.Hour+time.Second), all[1])
	requirePage(t, []feed.Ref{all[0], all[2]}, true, replace(t, env.A, 2, all))
	assert.Equal(t, []bool{true}, pending(t, env, Start.Add(6*24*time.Hour), all[0]), "pending again, from the time of this call")
}

func groupAndID(t *testing.T, open Open) {
	env := open(t, TTL)
	story := feed.Ref{Group: "story:1/a", ID: "doc@9"}
	list := []feed.Ref{story, ref("b:/c"), {Group: "story_2", ID: "doc_2"}, {Group: "story_3", ID: "doc_3"}}
	requirePage(t, list[:1], true, replace(t, env.A, 1, list))
	hold(t, env, Start, feed.Ref{Group: "story_2", ID: "another"})
	requirePage(t, []feed.Ref{list[1], list[3]}, false, pop(t, env.A, 5))

	other := feed.Ref{Group: story.Group, ID: "doc_of_the_same_story"}
	requirePage(t, []feed.Ref{ref("story_4")}, false, replace(t, env.A, 5, []feed.Ref{other, ref("story_4")}))
	require.NoError(t, env.A.Restore(t.Context(), agent, []feed.Ref{list[3]}, cache.Call{}))
	requirePage(t, []feed.Ref{list[3]}, false, pop(t, env.A, 5))
}

func longSession(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 2500)
	hold(t, env, Start, all[1700:1800]...)
	requirePage(t, all[:100], true, replace(t, env.A, 100, all))
	want := append(refs(100, 1700), refs(1800, 2500)...)
	for len(want) > 0 {
		n := min(100, len(want))
		requirePage(t, want[:n], len(want) > n, pop(t, env.B, 100))
		want = want[n:]
	}

	all = refs(10_000, 12_500)
	requirePage(t, all[:2400], true, replace(t, env.A, 2400, all))
	assert.NotContains(t, pending(t, env, Start, all[:2400]...), false)
	require.NoError(t, env.A.Restore(t.Context(), agent, all[:2400], cache.Call{}))
	requirePage(t, all, false, pop(t, env.A, 2500))
}

func agentsApart(t *testing.T, open Open) {
	env := open(t, TTL)
	for _, a := range []string{"u", "u.1", "U"} {
		page, err := env.A.Replace(t.Context(), cache.Replace{Agent: a, Ranked: refs(0, 4), Limit: 2, Now: Start})
		require.NoError(t, err)
		requirePage(t, refs(0, 2), true, page)
	}
	require.NoError(t, env.A.Delete(t.Context(), "u"))
	for a, want := range map[string][]feed.Ref{"u": nil, "u.1": refs(2, 4), "U": refs(2, 4)} {
		page, err := env.A.Pop(t.Context(), cache.Pop{Agent: a, Limit: 2, Now: Start})
		require.NoError(t, err)
		requirePage(t, want, false, page)
	}
}

// groupChanged checks that an item handed out under one group is recognized under another.
func groupChanged(t *testing.T, open Open) {
	env := open(t, TTL)
	alone, grouped, regrouped := ref("doc"), feed.Ref{Group: "story", ID: "doc"}, feed.Ref{Group: "other", ID: "doc"}
	for _, first := range []feed.Ref{alone, grouped} {
		require.NoError(t, env.Seen.Forget(t.Context(), agent))
		requirePage(t, []feed.Ref{first}, false, replace(t, env.A, 1, []feed.Ref{first}))
		for _, then := range []feed.Ref{alone, grouped, regrouped} {
			requirePage(t, []feed.Ref{ref("x" + first.Group + then.Group)}, false,
				replace(t, env.B, 5, []feed.Ref{then, ref("x" + first.Group + then.Group)}))
		}
	}
	require.NoError(t, env.Seen.Forget(t.Context(), agent))
	replace(t, env.A, 1, []feed.Ref{ref("first"), grouped, ref("last")})
	hold(t, env, Start, alone)
	requirePage(t, []feed.Ref{ref("last")}, false, pop(t, env.A, 5))
}

func deleteSession(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 2, refs(0, 10))
	require.NoError(t, env.B.Delete(t.Context(), agent))
	requirePage(t, nil, false, pop(t, env.A, 2))
	assert.Equal(t, []bool{true, true, false}, pending(t, env, Start, refs(0, 3)...), "what was served stays served")
}

func forgetSession(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 2, refs(0, 10))
	for range 2 {
		require.NoError(t, env.B.Forget(t.Context(), agent))
		requirePage(t, nil, false, pop(t, env.A, 2))
		at, err := env.A.Refreshed(t.Context(), agent, feed.ForYou)
		require.NoError(t, err)
		assert.True(t, at.IsZero(), "%s", at)
	}
	assert.Equal(t, []bool{true, true, false}, pending(t, env, Start, refs(0, 3)...), "it is not part of the session")
}

// Groups returns the groups of refs, in order.
func Groups(refs []feed.Ref) (groups []string) {
	for _, r := range refs {
		groups = append(groups, r.Group)
	}
	return groups
}
