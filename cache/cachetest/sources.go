package cachetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// sources checks that a session and a call's record store an item's source and whether it was shown
// before, and that the pending set contains only its group and id.
func sources(t *testing.T, open Open) {
	env := open(t, TTL)
	drawn := feed.Ref{Group: "alone", ID: "alone", Source: feed.SourceExplore}
	story := feed.Ref{Group: "story", ID: "doc", Source: feed.SourceExplore}
	late := feed.Ref{Group: "late", ID: "late", ShownBefore: true}
	last := feed.Ref{Group: "last", ID: "doc_last", Source: feed.SourceExplore}
	shown := feed.Ref{Group: "shown", ID: "doc_shown", ShownBefore: true}
	list := []feed.Ref{ref("doc_0"), drawn, shown, ref("doc_2"), story, late, {Group: "doc_3", ID: "doc_3", ShownBefore: true}, last}

	call := retryOf("r1", "refresh")
	requirePage(t, list[:5], true, refreshWith(t, env.A, call, list))
	assert.NotContains(t, pending(t, env, Start, ref("alone"), ref("story"), ref("doc"), ref("shown"), ref("doc_shown"), ref("doc_0")), false)
	requireReplay(t, env.B, call, list[:5], true)

	require.NoError(t, env.A.Withdraw(t.Context(), agent, []string{"late", "doc_last"}, Start))
	requirePage(t, list[6:7], false, pop(t, env.B, 5))
	requirePage(t, []feed.Ref{ref("new")}, false, replace(t, env.A, 5, []feed.Ref{late, story, drawn, ref("new"), ref("doc_0")}))
}

// givenOut checks that the source that an item was served from is pending for as long as the item
// is, so that feedback on the item can be attributed at once.
func givenOut(t *testing.T, open Open) {
	list := []feed.Ref{
		ref("plain"), ref("post:1"),
		{Group: "drawn", ID: "drawn", Source: feed.SourceExplore},
		{Group: "story", ID: "doc", Source: feed.SourceFollowing, ShownBefore: true},
		{Group: "post:2", ID: "post:2", Source: feed.SourceTrending},
	}
	keys := []feed.Ref{ref("~post:1"), ref("~e~drawn"), ref("~f~story"), ref("~t~post:2")}
	others := []feed.Ref{ref("~plain"), ref("~s~plain"), ref("~post:2"), ref("~s~story"), ref("~doc"), ref("~drawn")}
	all := []bool{true, true, true, true}
	for name, page := range map[string]func(t *testing.T, env Env, call cache.Call) cache.Page{
		"refresh": func(t *testing.T, env Env, call cache.Call) cache.Page { return refreshWith(t, env.A, call, list) },
		"load_more": func(t *testing.T, env Env, call cache.Call) cache.Page {
			replace(t, env.A, 0, list)
			return popWith(t, env.A, call, len(list))
		},
	} {
		for away, take := range map[string]func(env Env, call cache.Call) error{
			"restore": func(env Env, call cache.Call) error { return env.B.Restore(t.Context(), agent, list, call) },
			"discard": func(env Env, call cache.Call) error { return env.B.Discard(t.Context(), agent, list, call) },
			"abandon": func(env Env, call cache.Call) error { return env.B.Abandon(t.Context(), agent, call) },
		} {
			t.Run(name+", "+away, func(t *testing.T) {
				env := open(t, TTL)
				call := retryOf("r1", name)
				requirePage(t, list, false, page(t, env, call))
				assert.Equal(t, all, pending(t, env, Start, keys...))
				assert.NotContains(t, pending(t, env, Start, others...), true)
				require.NoError(t, take(env, call))
				if away != "abandon" || env.RunsAgain {
					assert.NotContains(t, pending(t, env, Start, slices.Concat(keys, list)...), true)
				}
			})
		}
	}
}

func sourcesTakenBack(t *testing.T, open Open) {
	for _, marks := range []feed.Ref{{Source: feed.SourceExplore}, {ShownBefore: true}} {
		env := open(t, TTL)
		sourceTakenBack(t, env, marks)
	}
}

func sourceTakenBack(t *testing.T, env Env, marks feed.Ref) {
	drawn, story := marks, marks
	drawn.Group, drawn.ID, story.Group, story.ID = "alone", "alone", "story", "doc"
	list := []feed.Ref{ref("doc_0"), drawn, story}
	call := retryOf("r1", "refresh")
	requirePage(t, list, false, refreshWith(t, env.A, call, list))
	require.NoError(t, env.A.Discard(t.Context(), agent, list[1:2], call))
	requireReplay(t, env.B, call, []feed.Ref{list[0], list[2]}, false)
	call = retryOf("r2", "refresh")
	requirePage(t, list[1:2], false, refreshWith(t, env.A, call, list))
	require.NoError(t, env.A.Restore(t.Context(), agent, list[1:2], call))
	assert.Equal(t, []bool{false, true}, pending(t, env, Start, ref("alone"), ref("story")))
	requirePage(t, list[1:2], false, pop(t, env.A, 1))
}
