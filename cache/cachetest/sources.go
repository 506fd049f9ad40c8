package cachetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// sources: a session and a call's record keep what gave an item its position and that
// it was shown before, and the pending set knows it by its group and id alone.
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
