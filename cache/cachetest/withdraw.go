package cachetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// withdraw checks that groups shown without the session store are removed from the sessions, by
// group or by id, and are pending.
func withdraw(t *testing.T, open Open) {
	env := open(t, TTL)
	story := feed.Ref{Group: "story", ID: "doc_of_a_story"}
	other := feed.Ref{Group: "story_2", ID: "doc_2_of_a_story"}
	list := append(refs(0, 8), story, other)
	replace(t, env.A, 2, list)
	groups := []string{"doc_3", "doc_5", "story", "doc_2_of_a_story", "doc_unheard_of"}
	require.NoError(t, env.B.Withdraw(t.Context(), agent, groups, Start.Add(-time.Minute)))
	for range 2 { // again, as after a lost reply
		require.NoError(t, env.A.Withdraw(t.Context(), agent, groups, Start.Add(-time.Minute)))
	}
	assert.NotContains(t, pending(t, env, Start, ref("doc_3"), ref("doc_5"), story, ref("doc_2_of_a_story"), ref("doc_unheard_of")), false)
	assert.NotContains(t, pending(t, env, Start, list[2], list[4], list[6]), true)
	requirePage(t, []feed.Ref{list[2], list[4]}, true, pop(t, env.A, 2))
	requirePage(t, []feed.Ref{list[6], list[7]}, false, pop(t, env.B, 5))
}

// withdrawLate checks that groups shown so long ago that they are no longer pending are also
// removed from the sessions.
func withdrawLate(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 2, refs(0, 8))
	require.NoError(t, env.A.Withdraw(t.Context(), agent, []string{"doc_3", "doc_5"}, Start.Add(-8*24*time.Hour)))
	requirePage(t, []feed.Ref{ref("doc_2"), ref("doc_4"), ref("doc_6"), ref("doc_7")}, false, pop(t, env.A, 5))
}

func withdrawAll(t *testing.T, open Open) {
	env := open(t, TTL)
	require.NoError(t, env.A.Withdraw(t.Context(), agent, []string{"doc_1"}, Start), "without a session")
	require.NoError(t, env.A.Withdraw(t.Context(), agent, nil, Start))
	replace(t, env.A, 2, refs(10, 15))
	require.NoError(t, env.A.Withdraw(t.Context(), agent, Groups(refs(10, 15)), Start))
	requirePage(t, nil, false, pop(t, env.A, 5))
	assert.NotContains(t, pending(t, env, Start, append(refs(10, 15), ref("doc_1"))...), false)
}

func withdrawKeepsTTL(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 2, refs(0, 20))
	env.Advance(20 * time.Minute)
	require.NoError(t, env.A.Withdraw(t.Context(), agent, []string{"doc_2"}, Start))
	env.Advance(9 * time.Minute)
	requirePage(t, refs(3, 5), true, pop(t, env.A, 2))
	env.Advance(2 * time.Minute)
	requirePage(t, nil, false, pop(t, env.A, 2))
}

// withdrawBeforeReplace checks that a refresh drops withdrawn groups from a list that was made
// earlier, and that they stay pending for the whole time that entries count.
func withdrawBeforeReplace(t *testing.T, open Open) {
	env := open(t, TTL)
	at := Start.Add(-time.Hour)
	require.NoError(t, env.A.Withdraw(t.Context(), agent, []string{"doc_0", "doc_4"}, at))
	requirePage(t, refs(1, 4), true, replace(t, env.B, 3, refs(0, 10)))
	requirePage(t, refs(5, 8), true, pop(t, env.B, 3))
	assert.Equal(t, []bool{true}, pending(t, env, at.Add(7*24*time.Hour-time.Second), ref("doc_0")))

	hold(t, env, Start.Add(-8*24*time.Hour), ref("long_ago"))
	require.NoError(t, env.A.Withdraw(t.Context(), agent, []string{"long_ago"}, at))
	assert.Equal(t, []bool{true}, pending(t, env, Start, ref("long_ago")), "an expired entry is created again")
}

func withdrawLong(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 6000)
	replace(t, env.A, 1, all)
	require.NoError(t, env.A.Withdraw(t.Context(), agent, Groups(refs(0, 3000)), Start))
	requirePage(t, all[3000:], false, pop(t, env.A, 6000))
}
