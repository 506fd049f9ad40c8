package recalltest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lesson(kind feed.FeatureKind, value string, evidence float64) feed.LearnedFeature {
	return feed.LearnedFeature{Feature: feed.Feature{Kind: kind, Value: value}, Evidence: evidence}
}

// learning returns the suite's ranking with weights for learned features, all different so that
// none can be mistaken for another.
func learning() feed.Ranking {
	r := ranking()
	r.Learned = feed.LearnedWeights{Tags: 0.5, Author: 1.5, Lang: 0.25, Words: 4, Negative: 0.75, HalfLife: 10 * 365 * 24 * time.Hour}
	return r
}

// lessons returns the learned interests of a reader of the library.
func lessons() feed.Learned {
	return feed.Learned{At: ago(time.Hour), Features: []feed.LearnedFeature{
		lesson("tag", "go", 3), lesson("word", "streams", 2), lesson("author", "bob", 1), lesson("lang", "de", 1), lesson("word", "nowhere", 1),
		lesson("tag", "data", -3), lesson("author", "ann", -2), lesson("word", "news", -1), lesson("lang", "en", -0.5), lesson("word", "data", -0.5),
	}}
}

func learned(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	t.Run("by hand", func(t *testing.T) { learnedByHand(t, open) })
	half := learning()
	half.Learned.HalfLife = time.Hour
	words, all := learning(), learning()
	words.Learned = feed.LearnedWeights{Words: 1, HalfLife: time.Hour}
	all.Learned.Tags, all.Learned.Words = 100, 100 // more than a declared interest in total
	for name, q := range map[string]feed.Query{
		"alone":              {Ranking: learning()},
		"off":                {Ranking: ranking()},
		"half forgotten":     {Ranking: half},
		"words alone":        {Ranking: words},
		"bounded":            {Ranking: all},
		"beside a profile":   {Ranking: learning(), Profile: feed.Profile{Interests: map[string]float64{"go": 2, "rust": 0.5}, Keywords: feed.Keywords("streams", "go")}},
		"before it was so":   {Ranking: half, Origin: origin.Add(-26 * time.Hour)},
		"long after":         {Ranking: half, Origin: origin.Add(100 * time.Hour)},
		"of muted authors":   {Ranking: learning(), Profile: feed.Profile{MutedAuthors: []string{"ann"}, MutedTags: []string{"rust"}}},
		"with keyword weigh": {Ranking: learning(), Profile: feed.Profile{Keywords: []feed.Keyword{{Term: "news", Weight: 3}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if q.Origin.IsZero() {
				q.Origin = origin
			}
			q.Profile.Learned = lessons()
			for _, q.N = range []int{50, 3} {
				assertRanking(t, items, q, recallAll(t, s, q).Candidates)
			}
		})
	}
	t.Run("most", func(t *testing.T) { mostLearned(t, s, items) })
	t.Run("largest", func(t *testing.T) { largestProfile(t, s, items) })
	t.Run("raised", func(t *testing.T) { raisedNeverLowers(t, s, items) })
}

// learnedByHand compares with values calculated by hand.
func learnedByHand(t *testing.T, open Open) {
	s := open(t, []feed.Item{
		{ID: "all", Title: "Alpha of 天气 and beta", Summary: "gamma", UpdateTime: ago(0), Tags: []string{"x", "y"}, AuthorID: "ann", Lang: "en"},
		{ID: "none", Title: "Beta", Summary: "alpha 天气", UpdateTime: ago(0), Tags: []string{"alpha", "ann"}, AuthorID: "x", Lang: "y"},
		{ID: "against", Title: "Gamma 天空和气", UpdateTime: ago(0), Tags: []string{"z"}, AuthorID: "bob", Lang: "de"},
	})
	q := query(10, feed.Profile{Learned: feed.Learned{At: ago(time.Hour), Features: []feed.LearnedFeature{
		{Feature: feed.Feature{Kind: "tag", Value: "x"}, Evidence: 4, ActCounts: feed.ActCounts{Clicks: 3, Likes: 2}},
		lesson("word", "alpha", 2), lesson("word", "天气", 2),
		lesson("author", "ann", 2), lesson("lang", "en", 2),
		{Feature: feed.Feature{Kind: "tag", Value: "z"}, Evidence: -4, ActCounts: feed.ActCounts{Dislikes: 1, Hides: 1}},
		lesson("word", "gamma", -2), lesson("author", "bob", -2), lesson("lang", "de", -2),
	}}})
	q.Ranking.Learned = feed.LearnedWeights{Tags: 1, Words: 2, Author: 0.5, Negative: 0.8, HalfLife: time.Hour}
	// One half-life has passed. Evidence 4 is now 2 and counts 1 − 2^−2; evidence 2 is now 1
	// and counts 1 − 2^−1.
	want := map[string]float64{
		"all":     0.1 + 0.1*1*0.75 + 2*0.1*2*0.5 + 0.1*0.5*0.5,
		"none":    0.1,
		"against": 0.1 * (1 - 0.8*0.75) * (1 - 0.8*0.5) * (1 - 0.8*0.5),
	}
	got := recallAll(t, s, q).Candidates
	require.Len(t, got, len(want))
	for _, c := range got {
		assert.InEpsilon(t, want[c.ID], c.Score, tolerance, c.ID)
	}
	f := explained(t, s, q, []string{"all", "none", "against"})
	require.Len(t, f[0].Learned, 4, "languages are off: %+v", f[0].Learned)
	tag := f[0].Learned[2]
	assert.InEpsilon(t, 0.075, tag.Score, 1e-12)
	tag.Score = 0
	assert.Equal(t, feed.LearnedGain{Feature: feed.Feature{Kind: "tag", Value: "x"}, ActCounts: feed.ActCounts{Clicks: 3, Likes: 2}}, tag)
	assert.Empty(t, f[1].Learned)
	require.Len(t, f[2].Learned, 3)
	assert.InEpsilon(t, 0.4, f[2].Learned[2].Factor, 1e-12)
	assert.Equal(t, 1, f[2].Learned[2].Dislikes)
	assert.InEpsilon(t, want["against"], f[2].Relevance, 1e-12)
}

// mostLearned queries with the maximum number of features, at the limits of the weights.
func mostLearned(t *testing.T, s recall.Source, items []feed.Item) {
	q := query(50, feed.Profile{Interests: map[string]float64{}})
	for i := range feed.MaxInterests {
		q.Profile.Interests[fmt.Sprint("tag", i)] = 1
	}
	for i := range feed.MaxKeywords {
		q.Profile.Keywords = append(q.Profile.Keywords, feed.Keyword{Term: fmt.Sprintf("w%d w%d", i, i), Weight: 1})
	}
	for i := range feed.MaxMutes {
		q.Profile.MutedTags = append(q.Profile.MutedTags, fmt.Sprint("muted", i))
	}
	words := []string{"go", "streams", "data", "news", "long"}
	for _, sign := range []float64{1, -1} {
		q.Profile.Learned = feed.Learned{At: ago(0)}
		for i := range feed.MaxLearned {
			word := fmt.Sprint("unheard", i)
			if i < len(words) {
				word = words[i]
			}
			q.Profile.Learned.Features = append(q.Profile.Learned.Features, lesson("word", word, sign*1e9))
		}
		for _, weight := range []float64{1e-9, 100} {
			q.Ranking.Learned = feed.LearnedWeights{Tags: weight, Author: weight, Lang: weight, Words: weight, Negative: 0.9, HalfLife: time.Hour}
			for _, q.Ranking.Base = range []float64{1e-9, 1000} {
				require.NoError(t, q.Ranking.Validate())
				assertRanking(t, items, q, recallAll(t, s, q).Candidates)
			}
		}
	}
}

// largestProfile queries with the largest legal profile and a ranking that uses everything. It
// is a single query and must be within the limits of a search engine.
func largestProfile(t *testing.T, s recall.Source, items []feed.Item) {
	q := query(50, feed.Profile{Interests: map[string]float64{}})
	p := &q.Profile
	for i := range feed.MaxInterests {
		p.Interests[fmt.Sprint("tag", i)] = 1
	}
	p.Interests["go"], p.Interests["data"] = 1, 2
	delete(p.Interests, "tag0")
	delete(p.Interests, "tag1")
	for i := range feed.MaxKeywords { // each character is a token, and all keywords differ
		term := make([]rune, feed.MaxKeywordsLength/feed.MaxKeywords)
		for n := range term {
			term[n] = rune(0x4e00 + i*len(term) + n)
		}
		p.Keywords = append(p.Keywords, feed.Keyword{Term: string(term), Weight: 1})
		p.Langs = append(p.Langs, fmt.Sprint("lang", i))
	}
	p.Keywords[0], p.Langs[0] = feed.Keyword{Term: "go", Weight: 3}, "en"
	for i := range feed.MaxMutes {
		p.MutedTags = append(p.MutedTags, fmt.Sprint("muted", i))
		p.MutedAuthors = append(p.MutedAuthors, fmt.Sprint("muted", i))
		p.MutedItems = append(p.MutedItems, fmt.Sprint("muted", i))
	}
	for i := range feed.MaxMutedWords {
		p.MutedWords = append(p.MutedWords, feed.MutedWord{Term: fmt.Sprint("two words ", i)})
	}
	p.MutedItems[7] = items[0].ID
	require.NoError(t, p.Validate())
	p.Learned = feed.Learned{At: ago(0)}
	kinds := []feed.FeatureKind{feed.FeatureTag, feed.FeatureAuthor, feed.FeatureLang, feed.FeatureWord}
	values := []string{"go", "ann", "en", "streams", "data", "bob", "de", "news"}
	for i := range feed.MaxLearned {
		value := fmt.Sprint("unheard", i)
		if i < len(values) {
			value = values[i]
		} else if i%4 == 3 {
			value = string([]rune{rune(0x5e00 + i), rune(0x5f00 + i)}) // two tokens
		}
		p.Learned.Features = append(p.Learned.Features, lesson(kinds[i%4], value, float64(1-i/4%2*2)))
	}
	q.Ranking = learning()
	q.Ranking.KeywordsSummary, q.Ranking.PopularityWeight = 0.5, 0.5
	q.Ranking.Decay = feed.Decay{Floor: 1e-6}
	for i := range feed.MaxCurves {
		q.Ranking.Decay.Curves[i] = feed.Curve{Shape: feed.Gauss, Scale: time.Duration(i+1) * time.Hour, Decay: 0.5, Weight: 0.25}
	}
	require.NoError(t, q.Ranking.Validate())
	got := recallAll(t, s, q).Candidates
	require.NotEmpty(t, got)
	assertRanking(t, items, q, got)
	explained(t, s, q, []string{got[0].ID})
}

// raisedNeverLowers raises random features one at a time: no item that has the feature may get
// a lower score.
func raisedNeverLowers(t *testing.T, s recall.Source, items []feed.Item) {
	rnd := rand.New(rand.NewPCG(3, 12))
	for range 40 {
		q := query(50, feed.Profile{Interests: map[string]float64{"go": rnd.Float64(), "data": 1}, Learned: lessons()})
		q.Ranking = learning()
		q.Ranking.Learned.Words = []float64{0.5, 4, 100}[rnd.IntN(3)]
		features := q.Profile.Learned.Features
		for i := range features {
			features[i].Evidence = 6 * (rnd.Float64() - 0.5)
		}
		before := scoresOf(recallAll(t, s, q).Candidates)
		raised := &features[rnd.IntN(len(features))]
		raised.Evidence += 3 * rnd.Float64()
		after := scoresOf(recallAll(t, s, q).Candidates)
		for i := range items {
			it := &items[i]
			one := feed.Query{Ranking: q.Ranking, Origin: q.Origin, Profile: feed.Profile{Learned: feed.Learned{At: q.Profile.Learned.At, Features: []feed.LearnedFeature{*raised}}}}
			gain, factor := learnedOf(it, one)
			if gain > 0 || factor < 1 {
				assert.GreaterOrEqual(t, float64(after[it.ID]), float64(before[it.ID])*(1-tolerance), "%s after %s %s was raised", it.ID, raised.Kind, raised.Value)
			}
		}
	}
}

func scoresOf(candidates []feed.Candidate) map[string]float32 {
	scores := make(map[string]float32, len(candidates))
	for _, c := range candidates {
		scores[c.ID] = c.Score
	}
	return scores
}
