package feed_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"

	"github.com/freshet/freshet/feed"
)

const learnedAt = int64(1_772_798_400) // 2026-03-06 12:00

func lesson(kind feed.ActKind, group string, at int64, words ...string) feed.LearningAct {
	a := feed.LearningAct{Kind: kind, Group: group, At: time.Unix(at, 0)}
	for _, w := range words {
		a.Features = append(a.Features, feed.WeightedFeature{Feature: feed.Feature{Kind: feed.FeatureWord, Value: w}, Weight: 1})
	}
	return a
}

// learn adds acts at the time of the latest act.
func learn(l *feed.Learning, acts []feed.LearningAct, halfLife time.Duration) bool {
	now := time.Unix(l.At, 0)
	for _, a := range acts {
		if a.At.After(now) {
			now = a.At
		}
	}
	return l.Add(acts, halfLife, now)
}

// evidence returns the rounded evidence of words.
func evidence(features []feed.LearnedFeature) map[string]float64 {
	all := map[string]float64{}
	for _, f := range features {
		all[f.Value] = float64(int(f.Evidence*1000+0.5*sign(f.Evidence))) / 1000
	}
	return all
}

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

func TestLearning(t *testing.T) {
	t.Parallel()
	var l feed.Learning
	day := int64(86_400)
	require.True(t, l.IsZero())
	require.True(t, learn(&l, []feed.LearningAct{
		lesson(feed.Clicked, "a", learnedAt, "go", "raft"), lesson(feed.Liked, "a", learnedAt, "go", "raft"), lesson(feed.Clicked, "a", learnedAt, "go", "raft"),
		lesson(feed.Hidden, "b", learnedAt, "golf"),
	}, 24*time.Hour))
	assert.Equal(t, map[string]float64{"go": 2, "raft": 2, "golf": -2}, evidence(l.Features))
	assert.Equal(t, learnedAt, l.At)
	assert.Equal(t, feed.LearnedFeature{Feature: feed.Feature{Kind: "word", Value: "raft"}, Evidence: 2, ActCounts: feed.ActCounts{Clicks: 1, Likes: 1}}, l.Features[2])

	require.True(t, learn(&l, []feed.LearningAct{lesson(feed.Clicked, "c", learnedAt+day, "go"), lesson(feed.Disliked, "a", learnedAt, "raft")}, 24*time.Hour))
	assert.Equal(t, map[string]float64{"go": 2, "golf": -1}, evidence(l.Features), "half a day later, and what comes in late as what is left of it")
	assert.False(t, learn(&l, []feed.LearningAct{lesson(feed.Clicked, "c", learnedAt+2*day, "go")}, 24*time.Hour))
	require.True(t, learn(&l, []feed.LearningAct{lesson(feed.Clicked, "d", learnedAt+10*day, "x")}, 24*time.Hour))
	assert.Equal(t, map[string]float64{"x": 1}, evidence(l.Features), "what is negligible is forgotten")
	learned := l.Learned()
	assert.Equal(t, l.Features, learned.Features)
	assert.False(t, learned.IsZero())
}

// TestLearningActCountsAgainAfter90Days repeats an act daily: it counts again after 90 days.
func TestLearningActCountsAgainAfter90Days(t *testing.T) {
	t.Parallel()
	for _, start := range []int64{learnedAt, 16_383 * 86_400, 16_384*86_400 - 40*86_400} { // including times at which the stored day numbers wrap around
		var l feed.Learning
		require.True(t, learn(&l, []feed.LearningAct{lesson(feed.Clicked, "a", start, "go")}, 0))
		for day := int64(1); day < feed.RememberActsDays; day++ {
			require.False(t, learn(&l, []feed.LearningAct{lesson(feed.Clicked, "a", start+day*86_400, "go")}, 0), "day %d", day)
		}
		require.True(t, learn(&l, []feed.LearningAct{lesson(feed.Clicked, "a", start+90*86_400, "go")}, 0))
		require.Len(t, l.Acts, 1)
	}
}

// TestLearningClockAhead acts while the clock is ahead, and then at the true time: acts
// dated in the future count as of now, and later acts count as usual.
func TestLearningClockAhead(t *testing.T) {
	t.Parallel()
	const day, month = 24 * time.Hour, 30 * 24 * time.Hour
	begin := time.Unix(learnedAt, 0)
	for name, ahead := range map[string]time.Duration{
		"right": 0, "a second": time.Second, "a day": day, "three months": 3 * month, "a year": 365 * day, "twenty years": 20 * 365 * day,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := begin.Add(ahead)
			var l feed.Learning
			require.True(t, l.Add([]feed.LearningAct{lesson(feed.Clicked, "before", wrong.Unix(), "old")}, month, wrong))

			// Back at the true time, the next act counts in full, and earlier evidence is
			// preserved.
			require.True(t, l.Add([]feed.LearningAct{lesson(feed.Clicked, "a", begin.Unix(), "new")}, month, begin))
			assert.Equal(t, map[string]float64{"old": 1, "new": 1}, evidence(l.Features))
			assert.Equal(t, begin.Unix(), l.At)
			assert.False(t, l.Add([]feed.LearningAct{lesson(feed.Clicked, "before", begin.Unix(), "old")}, month, begin), "it has counted")
			// An act that was recorded before the clock was set back, and learned afterwards.
			require.True(t, l.Add([]feed.LearningAct{lesson(feed.Liked, "a", wrong.Unix(), "new")}, month, begin))
			assert.Equal(t, map[string]float64{"old": 1, "new": 2}, evidence(l.Features))

			// From then on everything is as usual: evidence decays, and acts count again after 90
			// days.
			later := begin.Add(month)
			require.True(t, l.Add([]feed.LearningAct{lesson(feed.Clicked, "b", later.Unix(), "third")}, month, later))
			assert.Equal(t, map[string]float64{"old": 0.5, "new": 1, "third": 1}, evidence(l.Features))
			later = begin.Add(feed.RememberActsDays * day)
			require.True(t, l.Add([]feed.LearningAct{lesson(feed.Clicked, "before", later.Unix(), "old")}, month, later))
			assert.Len(t, l.Acts, 2, "b and before")
		})
	}
}

// TestLearningErased erases an agent while acts of theirs are pending: acts from before never
// count, however late they arrive; later acts do.
func TestLearningErased(t *testing.T) {
	t.Parallel()
	at := time.Unix(learnedAt, 0)
	click := func(group string, at time.Time) []feed.LearningAct {
		return []feed.LearningAct{{Kind: feed.Clicked, Group: group, At: at, Features: []feed.WeightedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Weight: 1}}}}
	}
	var l feed.Learning
	require.True(t, l.Add(click("a", at), 0, at))
	l.Erase(at.Add(time.Millisecond))
	assert.Empty(t, l.Features)
	assert.Empty(t, l.Acts)
	assert.False(t, l.IsZero(), "it says when")
	now := at.Add(time.Hour)
	assert.False(t, l.Add(append(click("a", at), click("b", at.Add(999*time.Microsecond))...), 0, now), "late, and of the same second")
	assert.Empty(t, l.Features)
	require.True(t, l.Add(click("a", at.Add(time.Millisecond)), 0, now), "acting so again is learned")
	assert.Equal(t, 1, l.Features[0].Clicks)

	text, err := json.Marshal(l)
	require.NoError(t, err)
	var read feed.Learning
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, l, read)

	l.Erase(at.Add(365 * 24 * time.Hour)) // by a clock that is ahead
	require.True(t, l.Add(click("a", at), 0, now), "the time is set right")
	assert.Empty(t, l.Features)
	require.True(t, l.Add(click("a", now), 0, now))
	assert.Equal(t, 1, l.Features[0].Clicks)
}

// TestLearningManyActs learns 4,000 acts on items with 20 tags, at once and one at a time: the
// results are equal and of bounded size.
func TestLearningManyActs(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	var acts []feed.LearningAct
	for i := range 4000 {
		act := feed.LearningAct{Kind: feed.Clicked, Group: fmt.Sprint("g", i), At: time.Unix(learnedAt+int64(i), 0)}
		for n := range 20 {
			value := fmt.Sprint("common", n)
			if n > 2 {
				value = strings.Repeat("é", feed.MaxTermLength-8) + fmt.Sprint(i*20+n) // all different
			}
			act.Features = append(act.Features, feed.WeightedFeature{Feature: feed.Feature{Kind: feed.FeatureTag, Value: value}, Weight: 1})
		}
		acts = append(acts, act)
	}
	var whole, single feed.Learning
	require.True(t, learn(&whole, acts, 0))
	for i := range acts {
		require.True(t, learn(&single, acts[i:i+1], 0))
		require.LessOrEqual(t, len(single.Features), 400)
	}
	assert.Equal(t, whole.Acts, single.Acts)
	assert.Len(t, whole.Features, 400)
	for n := range 3 {
		assert.Equal(t, 4000, single.Features[n].Clicks)
		assert.InEpsilon(t, whole.Features[n].Evidence, single.Features[n].Evidence, 1e-9)
	}
	text, err := json.Marshal(whole)
	require.NoError(t, err)
	assert.Less(t, len(text), 512<<10)
}

// TestLearningBounded learns more than fits, and reads back the stored form.
func TestLearningBounded(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	var l feed.Learning
	for i := range 5000 {
		require.True(t, learn(&l, []feed.LearningAct{lesson(feed.ActKind(i%4), fmt.Sprint("g", i), learnedAt+int64(i), fmt.Sprint("w", i%700), "all")}, 0))
	}
	assert.Len(t, l.Features, 400)
	assert.Len(t, l.Acts, 4000)
	assert.False(t, learn(&l, []feed.LearningAct{lesson(feed.ActKind(4999%4), "g4999", learnedAt+5000, "x")}, 0))
	assert.True(t, learn(&l, []feed.LearningAct{lesson(feed.Clicked, "g0", learnedAt+5000, "x")}, 0), "the earliest is forgotten")
	learned := l.Learned()
	assert.Len(t, learned.Features, feed.MaxLearned)

	text, err := json.Marshal(l)
	require.NoError(t, err)
	assert.Less(t, len(text), 128<<10)
	var read feed.Learning
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, l, read)
	assert.Error(t, json.Unmarshal([]byte(`{"acts":"AAAA"}`), &read))
}

// TestLearningAnyOrder learns the same acts in several orders.
func TestLearningAnyOrder(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	var acts []feed.LearningAct
	for i := range 60 {
		acts = append(acts, lesson(feed.ActKind(rnd.IntN(4)), fmt.Sprint(i), learnedAt+rnd.Int64N(80*86_400), fmt.Sprint("w", rnd.IntN(9))))
	}
	var want feed.Learning
	learn(&want, acts, 0)
	for range 10 {
		rnd.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
		var l feed.Learning
		for rest := acts; len(rest) > 0; {
			n := 1 + rnd.IntN(len(rest))
			learn(&l, rest[:n], 0)
			rest = rest[n:]
		}
		assert.Equal(t, want.At, l.At)
		assert.Len(t, l.Acts, len(acts))
		got := evidence(l.Features)
		for word, e := range evidence(want.Features) {
			assert.InDelta(t, e, got[word], 0.02, "%s, of which a little may have been forgotten on the way", word)
		}
	}
}

// TestEffects compares with values calculated by hand.
func TestEffects(t *testing.T) {
	t.Parallel()
	l := feed.Learned{At: learnedAt, Features: []feed.LearnedFeature{
		{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Evidence: 14},
		{Feature: feed.Feature{Kind: feed.FeatureAuthor, Value: "ann"}, Evidence: -2},
		{Feature: feed.Feature{Kind: feed.FeatureWord, Value: "raft"}, Evidence: 2},
		{Feature: feed.Feature{Kind: feed.FeatureLang, Value: "en"}, Evidence: 2},
	}}
	w := feed.LearnedWeights{Tags: 0.5, Author: 0.25, Words: 1, Negative: 0.4, HalfLife: time.Hour}
	effects := l.Effects(w, 0.1, learnedAt+3600)
	require.Len(t, effects, 3, "languages have no weight")
	assert.InEpsilon(t, 0.5*0.1*(1-1./128), effects[0].Score, 1e-12)
	assert.InEpsilon(t, 1-0.4*0.5, effects[1].Factor, 1e-12)
	assert.InEpsilon(t, 0.1*0.5, effects[2].Score, 1e-12)
	assert.InEpsilon(t, 0.1*0.75, l.Effects(w, 0.1, learnedAt-5)[2].Score, 1e-12, "before the latest act it is what it is then")

	w.Author = 0
	assert.Len(t, l.Effects(w, 0.1, learnedAt), 2, "what has no weight takes nothing away")
	w.Tags, w.Words = 100, 100
	effects = l.Effects(w, 10, learnedAt)
	assert.InEpsilon(t, 1, effects[0].Score+effects[1].Score, 1e-12, "an interest at most")
	assert.Empty(t, l.Effects(feed.LearnedWeights{}, 0.1, learnedAt))
	assert.Empty(t, (&feed.Learned{}).Effects(w, 0.1, learnedAt))
}

func TestLearnedWeightsText(t *testing.T) {
	t.Parallel()
	var r feed.Ranking
	require.NoError(t, json.Unmarshal([]byte(`{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":0},"base":0.1}`), &r))
	assert.Zero(t, r.Learned, "a ranking from before stays as it was")
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"learned":{"tags":0,"author":0,"lang":0,"words":0,"negative":0,"half_life":"720h"}`, "what is left out of a change stays as it is")

	on, err := r.With("learned.words=0.5,learned.half_life=168h, learned.negative=0.25")
	require.NoError(t, err)
	assert.Equal(t, feed.LearnedWeights{Words: 0.5, Negative: 0.25, HalfLife: 168 * time.Hour}, on.Learned)
	assert.Equal(t, "learned.words=0.5,learned.negative=0.25,learned.half_life=168h", on.Changes(r))
	assert.Contains(t, on.String(), "learned.tags=0,learned.author=0,learned.lang=0,learned.words=0.5,learned.negative=0.25,learned.half_life=168h")
	text, err = json.Marshal(on)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"learned":{"tags":0,"author":0,"lang":0,"words":0.5,"negative":0.25,"half_life":"168h"}`)
	var read feed.Ranking
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, on.Learned, read.Learned)
	changes, err := feed.ChangesJSON("learned.lang=1,learned.half_life=24h")
	require.NoError(t, err)
	assert.JSONEq(t, `{"learned":{"lang":1,"half_life":"24h"}}`, string(changes))

	for changes, says := range map[string]string{
		"learned.words=-1":       "learned.words must be 0 to 100, not -1",
		"learned.tags=101":       "learned.tags must be 0 to 100, not 101",
		"learned.negative=1":     "learned.negative must be 0 to 0.9, not 1",
		"learned.negative=NaN":   "learned.negative must be 0 to 0.9, not NaN",
		"learned.half_life=0":    "learned.half_life must be 1h to 87600h, not 0",
		"learned.half_life=30m":  "learned.half_life must be 1h to 87600h, not 30m",
		"learned.half_life=soon": "must be a duration",
		"learned.titles=1":       "known are scale",
	} {
		_, err := r.With(changes)
		require.ErrorIs(t, err, feed.ErrInvalid, changes)
		assert.ErrorContains(t, err, says)
	}
}

// TestProfileLearnedPartIgnored writes back a profile as it was read: its learned part must be
// ignored.
func TestProfileLearnedPartIgnored(t *testing.T) {
	t.Parallel()
	p, err := feed.ParseProfile([]byte(`{"interests":{"go":1},"learned":[{"kind":"tag","value":"go","score":0.05,"clicks":6}]}`))
	require.NoError(t, err)
	assert.Equal(t, feed.Profile{Interests: map[string]float64{"go": 1}}, p)
	text, err := json.Marshal(feed.Profile{Learned: feed.Learned{Features: slices.Repeat([]feed.LearnedFeature{{}}, 3)}})
	require.NoError(t, err)
	assert.Equal(t, "{}", string(text))
}

// TestLearningTagSpellings: stored features for several spellings of a tag are merged.
func TestLearningTagSpellings(t *testing.T) {
	t.Parallel()
	feature := func(kind feed.FeatureKind, value string) feed.Feature { return feed.Feature{Kind: kind, Value: value} }
	l := feed.Learning{At: learnedAt, Features: []feed.LearnedFeature{
		{Feature: feature(feed.FeatureTag, "Go"), Evidence: 1, ActCounts: feed.ActCounts{Clicks: 1}},
		{Feature: feature(feed.FeatureAuthor, "Ann"), Evidence: 1, ActCounts: feed.ActCounts{Clicks: 1}},
		{Feature: feature(feed.FeatureTag, "go"), Evidence: 2, ActCounts: feed.ActCounts{Clicks: 2}},
		{Feature: feature(feed.FeatureAuthor, "ann"), Evidence: 1, ActCounts: feed.ActCounts{Clicks: 1}},
		{Feature: feature(feed.FeatureLang, "en-US"), Evidence: 1, ActCounts: feed.ActCounts{Clicks: 1}},
	}}
	require.True(t, learn(&l, []feed.LearningAct{{Kind: feed.Liked, Group: "g", At: time.Unix(learnedAt, 0), Features: []feed.WeightedFeature{
		{Feature: feature(feed.FeatureTag, "ＧＯ"), Weight: 1}, {Feature: feature(feed.FeatureLang, "en_GB"), Weight: 1}, {Feature: feature(feed.FeatureTag, "new"), Weight: 1},
	}}}, 0))
	require.Len(t, l.Features, 5)
	assert.Equal(t, feed.LearnedFeature{Feature: feature(feed.FeatureTag, "Go"), Evidence: 4, ActCounts: feed.ActCounts{Clicks: 3, Likes: 1}}, l.Features[0])
	assert.Equal(t, feed.LearnedFeature{Feature: feature(feed.FeatureLang, "en-US"), Evidence: 2, ActCounts: feed.ActCounts{Clicks: 1, Likes: 1}}, l.Features[1])
}
