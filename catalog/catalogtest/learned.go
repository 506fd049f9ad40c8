package catalogtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// learns adds the click on an item that has a tag.
func learns(t *testing.T, c catalog.Catalog, agent, group, tag string, at int64) {
	t.Helper()
	assert.NoError(t, c.Learn(t.Context(), agent, click(group, tag, at)))
}

func click(group, tag string, at int64) func(*feed.Learning) bool {
	acts := []feed.LearningAct{{Kind: feed.Clicked, Group: group, Features: features(feed.Feature{Kind: feed.FeatureTag, Value: tag}), At: at}}
	return func(l *feed.Learning) bool { return l.Add(acts, 0) }
}

func features(list ...feed.Feature) (weighted []feed.WeightedFeature) {
	for _, f := range list {
		weighted = append(weighted, feed.WeightedFeature{Feature: f, Weight: 1})
	}
	return weighted
}

func forget(l *feed.Learning) bool {
	if l.IsZero() {
		return false
	}
	*l = feed.Learning{}
	return true
}

// learnedApart checks that what is learned and what is declared leave each other
// alone, and that both are read at once.
func learnedApart(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const agent, at = "u_learned", int64(1_772_798_400)
	want := feed.Learned{At: at, Features: []feed.LearnedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "a.b \"日本\""}, Evidence: 1, Clicks: 1}}}
	for range 2 { // the act counts once, whoever asks again
		learns(t, c, agent, "story", want.Features[0].Value, at)
	}
	alone := want
	alone.Alone = true
	requireProfile(t, c, agent, feed.Profile{Learned: alone})
	require.ErrorIs(t, c.RemoveProfile(ctx, agent), catalog.ErrNotFound, "it is no profile")

	p := feed.Profile{Interests: map[string]float64{"go": exactWeight}, Learned: feed.Learned{At: 5, Alone: true}}
	require.NoError(t, c.PutProfile(ctx, agent, p))
	p.Learned = want
	requireProfile(t, c, agent, p)
	_, hydrated, err := catalog.Hydrate(ctx, c, agent, nil)
	require.NoError(t, err)
	require.Equal(t, p, hydrated)
	require.NoError(t, c.MuteItems(ctx, agent, []string{"x"}))
	p.MutedItems = []string{"x"}
	requireProfile(t, c, agent, p)

	learns(t, c, agent, "other", want.Features[0].Value, at)
	p.Learned.Features = []feed.LearnedFeature{{Feature: want.Features[0].Feature, Evidence: 2, Clicks: 2}}
	requireProfile(t, c, agent, p)
	require.NoError(t, c.RemoveProfile(ctx, agent))
	p = feed.Profile{Learned: p.Learned}
	p.Learned.Alone = true
	requireProfile(t, c, agent, p)
	require.ErrorIs(t, c.RemoveProfile(ctx, agent), catalog.ErrNotFound)

	require.NoError(t, c.Learn(ctx, agent, forget))
	requireNoProfile(t, c, agent)
	require.NoError(t, c.Learn(ctx, agent, forget))
	requireNoProfile(t, c, agent)
	learns(t, c, agent, "story", "go", at)
	require.NoError(t, c.PutProfile(ctx, agent, feed.Profile{}))
	require.NoError(t, c.Learn(ctx, agent, forget))
	requireProfile(t, c, agent, feed.Profile{})
	require.NoError(t, c.RemoveProfile(ctx, agent))
	requireNoProfile(t, c, agent)
}

// mostLearned stores all that can be remembered of a reader.
func mostLearned(t *testing.T, c catalog.Catalog) {
	const agent, at = "u_learned_most", int64(1_772_798_400)
	var acts []feed.LearningAct
	for i := range 5000 {
		acts = append(acts, feed.LearningAct{Kind: feed.ActKind(i % 4), Group: fmt.Sprint("item", i), At: at + int64(i), Features: features(
			feed.Feature{Kind: feed.FeatureTag, Value: fmt.Sprint("tag ", i%600)}, feed.Feature{Kind: feed.FeatureAuthor, Value: fmt.Sprint("author ", i%400)},
		)})
	}
	want := &feed.Learning{}
	require.True(t, want.Add(acts, 0))
	require.NoError(t, c.Learn(t.Context(), agent, func(l *feed.Learning) bool { return l.Add(acts, 0) }))
	require.NoError(t, c.Learn(t.Context(), agent, func(l *feed.Learning) bool {
		assert.Equal(t, want, l, "what is remembered, to the digit")
		return false
	}))
	got, err := c.Profile(t.Context(), agent)
	require.NoError(t, err)
	require.Len(t, got.Learned.Features, feed.MaxLearned)
	require.Equal(t, want.Features[:feed.MaxLearned], got.Learned.Features)
}

// learnedAtOnce checks that what several writers learn of one agent adds up, and
// that none of them undoes a change of the profile.
func learnedAtOnce(t *testing.T, c catalog.Catalog) {
	const agent, writers, each, at = "u_learned_at_once", 4, 6, int64(1_772_798_400)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				learns(t, c, agent, fmt.Sprintf("item-%d-%d", w, i), "go", at)
			}
		})
	}
	all.Go(func() {
		for i := range each {
			assert.NoError(t, c.PutProfile(t.Context(), agent, feed.Profile{Interests: map[string]float64{"go": float64(i + 1)}}))
		}
	})
	all.Wait()
	got, err := c.Profile(t.Context(), agent)
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"go": each}, got.Interests)
	require.Len(t, got.Learned.Features, 1)
	require.Equal(t, writers*each, got.Learned.Features[0].Clicks)
	require.InDelta(t, writers*each, got.Learned.Features[0].Evidence, 1e-9)
}
