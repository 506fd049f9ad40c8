package catalogtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// learns adds a click on an item with a tag.
func learns(t *testing.T, c catalog.Catalog, agent, group, tag string, at int64) {
	t.Helper()
	assert.NoError(t, c.Learn(t.Context(), agent, click(group, tag, at)))
}

func click(group, tag string, at int64) func(*feed.Learning) bool {
	acts := []feed.LearningAct{{Kind: feed.Clicked, Group: group, Features: features(feed.Feature{Kind: feed.FeatureTag, Value: tag}), At: time.Unix(at, 0)}}
	return func(l *feed.Learning) bool { return l.Add(acts, 0, time.Unix(max(at, l.At), 0)) }
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

// learnedApart checks that learned and declared data do not affect each other, and that one
// read returns both.
func learnedApart(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const agent, at = "u_learned", int64(1_772_798_400)
	want := feed.Learned{At: at, Features: []feed.LearnedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "a.b \"日本\""}, Evidence: 1, ActCounts: feed.ActCounts{Clicks: 1}}}}
	for range 2 { // the act counts once, even if it is repeated
		learns(t, c, agent, "story", want.Features[0].Value, at)
	}
	alone := want
	alone.Alone = true
	requireProfile(t, c, agent, feed.Profile{Learned: alone})
	require.ErrorIs(t, c.RemoveProfile(ctx, agent), feed.ErrNotFound, "learned interests alone are not a profile")

	p := feed.Profile{Interests: map[string]float64{"go": exactWeight}, Learned: feed.Learned{At: 5, Alone: true}}
	require.NoError(t, PutProfile(ctx, c, agent, p))
	p.Learned = want
	requireProfile(t, c, agent, p)
	_, hydrated, err := c.Hydrate(ctx, agent, nil)
	require.NoError(t, err)
	require.Equal(t, p, hydrated)
	require.NoError(t, c.MuteItems(ctx, agent, []string{"x"}))
	p.MutedItems = []string{"x"}
	requireProfile(t, c, agent, p)

	learns(t, c, agent, "other", want.Features[0].Value, at)
	p.Learned.Features = []feed.LearnedFeature{{Feature: want.Features[0].Feature, Evidence: 2, ActCounts: feed.ActCounts{Clicks: 2}}}
	requireProfile(t, c, agent, p)
	require.NoError(t, c.RemoveProfile(ctx, agent))
	p = feed.Profile{Learned: p.Learned}
	p.Learned.Alone = true
	requireProfile(t, c, agent, p)
	require.ErrorIs(t, c.RemoveProfile(ctx, agent), feed.ErrNotFound)

	require.NoError(t, c.Learn(ctx, agent, forget))
	requireNoProfile(t, c, agent)
	require.NoError(t, c.Learn(ctx, agent, forget))
	requireNoProfile(t, c, agent)
	learns(t, c, agent, "story", "go", at)
	require.NoError(t, PutProfile(ctx, c, agent, feed.Profile{}))
	require.NoError(t, c.Learn(ctx, agent, forget))
	requireProfile(t, c, agent, feed.Profile{})
	require.NoError(t, c.RemoveProfile(ctx, agent))
	requireNoProfile(t, c, agent)
}

// learnedErased erases an agent while other writers learn acts from before the erasure. None of
// them may count in the end, but later acts must. The agent has no other data.
func learnedErased(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	const agent = "u_learned_erased"
	at := time.Unix(1_772_798_400, 0)
	erased := at.Add(time.Minute)
	before := func(i int) func(*feed.Learning) bool {
		acts := []feed.LearningAct{{Kind: feed.Clicked, Group: fmt.Sprint("item", i), At: at, Features: features(feed.Feature{Kind: feed.FeatureTag, Value: "go"})}}
		return func(l *feed.Learning) bool { return l.Add(acts, 0, erased.Add(time.Hour)) }
	}
	erase := func(l *feed.Learning) bool { l.Erase(erased); return true }
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			for i := range 4 {
				assert.NoError(t, c.Learn(ctx, agent, before(w*10+i)))
			}
		})
	}
	all.Go(func() { assert.NoError(t, c.Learn(ctx, agent, erase)) })
	all.Wait()
	requireNoProfile(t, c, agent)
	_, hydrated, err := c.Hydrate(ctx, agent, nil)
	require.NoError(t, err)
	require.Equal(t, feed.Profile{}, hydrated)
	require.ErrorIs(t, c.RemoveProfile(ctx, agent), feed.ErrNotFound)

	// Storing and removing a profile must not make them count.
	p := feed.Profile{Interests: map[string]float64{"go": 1}}
	require.NoError(t, PutProfile(ctx, c, agent, p))
	require.NoError(t, c.Learn(ctx, agent, before(1)))
	requireProfile(t, c, agent, p)
	require.NoError(t, c.RemoveProfile(ctx, agent))
	require.NoError(t, c.Learn(ctx, agent, before(1)))
	requireNoProfile(t, c, agent)

	require.NoError(t, c.Learn(ctx, agent, click("item1", "go", erased.Unix())))
	got, err := c.Profile(ctx, agent)
	require.NoError(t, err)
	require.Len(t, got.Learned.Features, 1)
	require.Equal(t, 1, got.Learned.Features[0].Clicks, "they are learned from the beginning")
}

// learnedAhead learns with a clock that is months ahead, and then with the correct time.
func learnedAhead(t *testing.T, c catalog.Catalog) {
	const agent = "u_learned_ahead"
	now := time.Unix(1_772_798_400, 0)
	ahead := now.Add(200 * 24 * time.Hour)
	for i, at := range []time.Time{ahead, now, now} {
		acts := []feed.LearningAct{{Kind: feed.Clicked, Group: fmt.Sprint("item", i), At: at, Features: features(feed.Feature{Kind: feed.FeatureTag, Value: "go"})}}
		require.NoError(t, c.Learn(t.Context(), agent, func(l *feed.Learning) bool { return l.Add(acts, 0, at) }))
	}
	got, err := c.Profile(t.Context(), agent)
	require.NoError(t, err)
	require.Equal(t, now.Unix(), got.Learned.At)
	require.Len(t, got.Learned.Features, 1)
	require.InDelta(t, 3, got.Learned.Features[0].Evidence, 1e-9)
}

// mostLearned stores the maximum learning state of a reader.
func mostLearned(t *testing.T, c catalog.Catalog) {
	const agent, at = "u_learned_most", int64(1_772_798_400)
	var acts []feed.LearningAct
	for i := range 5000 {
		acts = append(acts, feed.LearningAct{Kind: feed.ActKind(i % 4), Group: fmt.Sprint("item", i), At: time.Unix(at+int64(i), 0), Features: features(
			feed.Feature{Kind: feed.FeatureTag, Value: fmt.Sprint("tag ", i%600)}, feed.Feature{Kind: feed.FeatureAuthor, Value: fmt.Sprint("author ", i%400)},
		)})
	}
	want := &feed.Learning{}
	now := time.Unix(at+5000, 0)
	require.True(t, want.Add(acts, 0, now))
	require.NoError(t, c.Learn(t.Context(), agent, func(l *feed.Learning) bool { return l.Add(acts, 0, now) }))
	require.NoError(t, c.Learn(t.Context(), agent, func(l *feed.Learning) bool {
		assert.Equal(t, want, l, "what is remembered, to the digit")
		return false
	}))
	got, err := c.Profile(t.Context(), agent)
	require.NoError(t, err)
	require.Len(t, got.Learned.Features, feed.MaxLearned)
	require.Equal(t, want.Features[:feed.MaxLearned], got.Learned.Features)
}

// learnedAtOnce checks that concurrent learning of several writers adds up, and that none of
// them undoes a change of the profile.
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
			assert.NoError(t, PutProfile(t.Context(), c, agent, feed.Profile{Interests: map[string]float64{"go": float64(i + 1)}}))
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
