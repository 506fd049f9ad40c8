package socialtest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// suggestions checks that suggestions are stored for a day and omit authors who may not be
// suggested.
func suggestions(e *env) {
	keep := func(list ...social.Suggestion) {
		e.Helper()
		e.ok(e.KeepSuggested(e.ctx, "r", list, e.now))
	}
	kept := func() []social.Suggestion {
		e.Helper()
		list, _, err := e.Suggested(e.ctx, "r")
		require.NoError(e, err)
		return list
	}
	_, at, err := e.Suggested(e.ctx, "r")
	require.NoError(e, err)
	require.True(e, at.IsZero(), "no suggestions are stored")
	x, y := social.Suggestion{Author: "x", Count: 3}, social.Suggestion{Author: "y", Count: 5}
	keep(x)
	first := e.now
	e.pass(social.SuggestionsLive - time.Second)
	keep(y)
	require.Equal(e, []social.Suggestion{x}, kept(), "suggestions are stored for a day")
	_, at, err = e.Suggested(e.ctx, "r")
	require.NoError(e, err)
	require.Equal(e, first.UnixMicro(), at.UnixMicro())
	e.pass(time.Second)
	keep(y)
	require.Equal(e, []social.Suggestion{y}, kept())
	e.pass(social.SuggestionsKept - time.Second)
	e.swept()
	require.Equal(e, []social.Suggestion{y}, kept())
	e.pass(time.Second)
	e.swept()
	require.Empty(e, kept())
}

func unsuggestable(e *env) {
	e.follow("r", "followed")
	e.follow("r", "unfollowed")
	e.unfollow("r", "unfollowed")
	e.block("r", "blocked")
	e.block("blocks", "r")
	e.block("blocks", "other")
	e.cardsOf("card", "erased")
	begin := e.now
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "erased"))
	e.pass(time.Second)
	asked := []string{"followed", "unfollowed", "blocked", "blocks", "card", "erased", "other", "unknown"}
	ask := func(since time.Time) []string {
		e.Helper()
		list := must[[]string](e)(e.Unsuggestable(e.ctx, "r", asked, since))
		slices.Sort(list)
		return list
	}
	require.Equal(e, []string{"blocked", "blocks", "erased", "followed"}, ask(begin))
	e.eraseAll("erased")
	require.Equal(e, []string{"blocked", "blocks", "erased", "followed"}, ask(begin), "authors known before the time")
	require.NotContains(e, ask(e.now), "erased", "the agent who has the id now")
	require.Empty(e, must[[]string](e)(e.Unsuggestable(e.ctx, "r", nil, begin)))
}

// suggestionsOfErased checks that suggestions end with the agent, including those computed during
// the erasure. Other agents' suggestions keep erased authors until they are computed again: see
// [social.Suggestions].
func suggestionsOfErased(e *env) {
	list := []social.Suggestion{{Author: "x", Count: 3}}
	before := e.now
	e.ok(e.KeepSuggested(e.ctx, "r", list, before))
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "r"))
	for range 2 {
		got, at, err := e.Suggested(e.ctx, "r")
		require.NoError(e, err)
		require.Empty(e, got)
		require.True(e, at.IsZero())
		e.ok(e.KeepSuggested(e.ctx, "r", list, before))
		e.eraseAll("r")
	}
	for _, passed := range []time.Duration{time.Minute, social.FriendsAfter} {
		e.pass(passed)
		e.ok(e.KeepSuggested(e.ctx, "r", list, e.now))
		got, at, err := e.Suggested(e.ctx, "r")
		require.NoError(e, err)
		require.Equal(e, e.now.UnixMicro(), at.UnixMicro())
		if passed < social.FriendsAfter {
			require.Empty(e, got, "a list of before, by a clock that is ahead")
			continue
		}
		require.Equal(e, list, got)
	}
}
