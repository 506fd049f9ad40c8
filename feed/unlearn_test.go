package feed_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// undone takes an act back.
func undone(kind feed.ActKind, group string, at int64) feed.LearningAct {
	return feed.LearningAct{Kind: kind, Group: group, At: time.Unix(at, 0), Undo: true}
}

// TestUnlearn takes acts back. Nothing of them may remain, whatever was learned in between.
func TestUnlearn(t *testing.T) {
	t.Parallel()
	const day = int64(86_400)
	like := func(group string, at int64, words ...string) feed.LearningAct {
		return lesson(feed.Liked, group, at, words...)
	}
	unlike := func(group string, at int64) feed.LearningAct { return undone(feed.Liked, group, at) }
	other := lesson(feed.Clicked, "other", learnedAt, "go", "raft")
	for name, c := range map[string]struct {
		acts []feed.LearningAct
		want []feed.LearningAct // teaches the same
	}{
		"at once":               {[]feed.LearningAct{like("a", learnedAt, "go", "x"), unlike("a", learnedAt)}, nil},
		"twice":                 {[]feed.LearningAct{like("a", learnedAt, "go"), unlike("a", learnedAt+1), unlike("a", learnedAt+2)}, nil},
		"sent twice":            {[]feed.LearningAct{like("a", learnedAt, "go"), like("a", learnedAt+1, "go"), unlike("a", learnedAt+2)}, nil},
		"without an act":        {[]feed.LearningAct{other, unlike("a", learnedAt)}, []feed.LearningAct{other}},
		"of another kind":       {[]feed.LearningAct{like("a", learnedAt, "go"), undone(feed.Hidden, "a", learnedAt+1)}, []feed.LearningAct{like("a", learnedAt, "go")}},
		"among others":          {[]feed.LearningAct{other, like("a", learnedAt, "go", "x"), unlike("a", learnedAt+1)}, []feed.LearningAct{other}},
		"a hide":                {[]feed.LearningAct{other, lesson(feed.Hidden, "a", learnedAt, "go", "x"), undone(feed.Hidden, "a", learnedAt+1)}, []feed.LearningAct{other}},
		"a dislike":             {[]feed.LearningAct{lesson(feed.Disliked, "a", learnedAt, "x"), undone(feed.Disliked, "a", learnedAt+1)}, nil},
		"after it has decayed":  {[]feed.LearningAct{like("a", learnedAt, "go"), like("b", learnedAt+3*day, "go"), unlike("a", learnedAt+3*day)}, []feed.LearningAct{like("b", learnedAt+3*day, "go")}},
		"and done again":        {[]feed.LearningAct{like("a", learnedAt, "go"), unlike("a", learnedAt+1), like("a", learnedAt+1, "go")}, []feed.LearningAct{like("a", learnedAt+1, "go")}},
		"with another spelling": {[]feed.LearningAct{tagged("a", "Go Lang"), tagged("b", "go lang"), unlike("a", learnedAt)}, []feed.LearningAct{tagged("b", "go lang")}},
		"overtaken":             {[]feed.LearningAct{unlike("a", learnedAt+9), like("a", learnedAt, "go"), other}, []feed.LearningAct{other}},
		"overtaken, done again": {[]feed.LearningAct{unlike("a", learnedAt+9), like("a", learnedAt, "go"), like("a", learnedAt+10, "go")}, []feed.LearningAct{like("a", learnedAt+10, "go")}},
		"erased":                {[]feed.LearningAct{unlike("a", learnedAt-100*day)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, want := feed.Learning{Erased: (learnedAt - 10*day) * 1e6}, feed.Learning{}
			for _, act := range c.acts { // stored after each of them
				l.Add([]feed.LearningAct{act}, 2*24*time.Hour, time.Unix(learnedAt+10*day, 0))
				stored, err := json.Marshal(&l)
				require.NoError(t, err)
				l = feed.Learning{}
				require.NoError(t, json.Unmarshal(stored, &l))
			}
			learn(&want, c.want, 2*24*time.Hour)
			require.Len(t, l.Features, len(want.Features))
			for i, f := range want.Features {
				assert.Equal(t, f.ActCounts, l.Features[i].ActCounts)
				assert.InDelta(t, f.Evidence*left(want.At, l.At), l.Features[i].Evidence, 1e-6)
			}
		})
	}
}

// left is the part of an evidence that is left at a later moment, with a half-life of two days.
func left(from, to int64) float64 {
	l := feed.Learning{}
	learn(&l, []feed.LearningAct{lesson(feed.Clicked, "x", from, "x"), lesson(feed.Clicked, "y", to, "y")}, 2*24*time.Hour)
	for _, f := range l.Features {
		if f.Value == "x" {
			return f.Evidence
		}
	}
	return 0
}

// tagged is a like of an item with a tag.
func tagged(group, tag string) feed.LearningAct {
	a := lesson(feed.Liked, group, learnedAt)
	a.Features = []feed.WeightedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: tag}, Weight: 0.3}}
	return a
}

// TestUnlearnBounds takes back more acts than are stored, and acts that never happened: these do not
// displace others.
func TestUnlearnBounds(t *testing.T) {
	t.Parallel()
	var l feed.Learning
	var acts, back []feed.LearningAct
	for i := range int64(100) {
		group := fmt.Sprint("group ", i)
		acts = append(acts, lesson(feed.Liked, group, learnedAt+i, fmt.Sprint("word", i)))
		back = append(back, undone(feed.Liked, group, learnedAt+100+i))
	}
	require.True(t, learn(&l, acts, 0))
	var never []feed.LearningAct
	for i := range int64(1000) {
		never = append(never, undone(feed.Hidden, fmt.Sprint("unknown ", i), learnedAt+100))
	}
	learn(&l, never, 0)
	require.Len(t, l.Features, 100)
	learn(&l, back, 0)
	assert.Len(t, l.Features, 36, "of the latest 64")
	assert.False(t, learn(&l, back[:36], 0), "the others remain")
	assert.False(t, learn(&l, acts[:36], 0), "and count once")
	assert.Less(t, len(l.Undoable), 100)
	l.Erase(time.Unix(learnedAt+500, 0))
	assert.Empty(t, l.Undoable)
}
