package server

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
)

func clicks(l feed.Learning) map[string]int {
	all := map[string]int{}
	for _, f := range l.Features {
		if f.Kind == feed.FeatureTag {
			all[f.Value] = f.Clicks
		}
	}
	return all
}

// flushedLearning returns the learning of an agent after the server has written all accepted acts.
func flushedLearning(t *testing.T, a *App, agent string) feed.Learning {
	t.Helper()
	testenv.WaitFor(t, func() bool { return a.learner.Flush(t.Context()) == nil }, "what was accepted to be learned")
	return learningOf(t, a, agent)
}

// itemsOfSubjects returns items of the same age, two for each subject.
func itemsOfSubjects() []feed.Item {
	var all []feed.Item
	for i, subject := range []string{"astronomy", "beekeeping", "chemistry", "drawing", "economics"} {
		for n := range 2 {
			all = append(all, feed.Item{
				ID: fmt.Sprintf("%s-%d", subject, n), Title: fmt.Sprintf("Of %s", subject), Lang: "en",
				Tags: []string{subject}, AuthorID: fmt.Sprint("author_", i), UpdateTime: noon.Add(-time.Hour).Unix(),
			})
		}
	}
	return all
}

func learned(t *testing.T, a *App, agent string) map[string]feed.LearnedGain {
	t.Helper()
	require.NoError(t, a.Flush(t.Context()))
	p, err := a.Engine.Profile(t.Context(), agent)
	require.NoError(t, err)
	all := map[string]feed.LearnedGain{}
	for _, g := range a.Engine.Learned(agent, &p) {
		all[string(g.Kind)+" "+g.Value] = g
	}
	return all
}

// TestLearningChangesNextRefresh follows acts into the next refresh of the acting agent, and of no
// other, on every server, across a restart and a change of the profile, until they are forgotten.
func TestLearningChangesNextRefresh(t *testing.T) {
	t.Parallel()
	cfg, now := embedded(t), at(noon)
	cfg.Ranking.PopularityWeight, cfg.Ranking.Popularity2h, cfg.Ranking.Popularity2d, cfg.Ranking.Diversity = 0, 0, 0, noDiversity
	a := open(t, cfg, WithClock(now.Now))
	put(t, a, itemsOfSubjects()...)
	const agent = "u_1"
	first := ids(ask(t, a, refresh(agent, 4)))
	require.Equal(t, []string{"astronomy-0", "astronomy-1", "beekeeping-0", "beekeeping-1"}, first)

	require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{"economics-0", "drawing-0", "chemistry-0"}))
	for range 3 { // a repeated act counts once
		require.Equal(t, 2, react(t, a, agent, act(events.Click, "economics-0"), act(events.Like, "economics-0")).Accepted)
	}
	require.Equal(t, 1, react(t, a, agent, act(events.Dislike, "chemistry-0")).Accepted)
	require.Equal(t, 1, react(t, a, agent, act(events.Click, "drawing-1")).NotShown)
	got := learned(t, a, agent)
	gain := 0.5 * 0.1 * 0.75
	tag := got["tag economics"]
	assert.InDelta(t, gain, tag.Score, 1e-12)
	tag.Score = 0
	assert.Equal(t, feed.LearnedGain{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "economics"}, ActCounts: feed.ActCounts{Clicks: 1, Likes: 1}}, tag)
	assert.InDelta(t, gain, got["word economics"].Score, 1e-12)
	assert.InDelta(t, 1-0.3*0.75, got["author author_2"].Factor, 1e-12)
	assert.NotContains(t, got, "tag drawing", "it was not shown")
	assert.Zero(t, got["lang en"].Score, "languages are off")

	assert.Equal(t, []string{"economics-1", "drawing-1", "chemistry-1"}, ids(ask(t, a, refresh(agent, 4))), "the next refresh")
	assert.Equal(t, first, ids(ask(t, a, refresh("u_2", 4))), "others are shown what they were")

	profile := feed.Profile{Interests: map[string]float64{"beekeeping": 1}}
	require.NoError(t, a.Engine.PutProfile(t.Context(), agent, profile))
	assert.Equal(t, got, learned(t, a, agent), "a profile that is put leaves it alone")
	x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: agent, Limit: 1, Item: "economics-1"})
	require.NoError(t, err)
	require.NotNil(t, x.Item.Relevance)
	require.Len(t, x.Item.Relevance.Learned, 3)
	assert.InDelta(t, 0.1+3*gain, x.Item.Relevance.Total, 1e-6)
	require.NoError(t, a.Engine.RemoveProfile(t.Context(), agent))
	assert.Equal(t, got, learned(t, a, agent), "so does one that is removed")

	require.NoError(t, a.Close(t.Context()))
	a = open(t, cfg, WithClock(now.Now))
	require.Equal(t, 1, react(t, a, agent, act(events.Click, "economics-0")).Accepted)
	assert.Equal(t, got, learned(t, a, agent), "it survives a restart, and so does what has counted")

	require.NoError(t, a.Engine.ForgetLearned(t.Context(), agent))
	require.NoError(t, a.Engine.ForgetLearned(t.Context(), agent))
	_, err = a.Engine.Profile(t.Context(), agent)
	require.Error(t, err, "nothing is known of them")
}

// TestLearningConcurrentEvents sends acts of one reader from several concurrent clients, some of
// them twice: the learned evidence is the sum of the distinct acts.
func TestLearningConcurrentEvents(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	const agent, n = "u_1", 60
	items := subjects(n)
	put(t, a, items...)
	var seen []string
	for _, it := range items {
		seen = append(seen, it.ID)
	}
	require.NoError(t, a.Engine.Seen(t.Context(), agent, seen))
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range items {
				if i%4 == w || i%4 == (w+1)%4 { // each item is acted on twice
					_, err := a.Engine.React(t.Context(), agent, []engine.Act{act(events.Click, items[i].ID)})
					assert.NoError(t, err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, a.Flush(t.Context()))
	got := learningOf(t, a, agent)
	want := map[string]int{"all-0": n / 2, "all-1": n / 2}
	for i := range items {
		want[subject(i)] = 1
	}
	assert.Equal(t, want, clicks(got))
	assert.Len(t, got.Acts, n)
	for _, f := range got.Features {
		if f.Kind == feed.FeatureTag {
			assert.InDelta(t, want[f.Value], f.Evidence, 1e-9, f.Value)
		}
	}
}
