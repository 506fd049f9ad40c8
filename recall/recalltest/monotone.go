package recalltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/stretchr/testify/require"
)

// strangeWeights are legal weights of interests and keywords, ascending, including some that
// are 0 as float32.
var strangeWeights = []float64{0, math.SmallestNonzeroFloat64, 1e-300, 1e-46, 1e-39, 1e-30, 1e-9, 0.1, 0.5, 1, 2, 99.9999, 100}

// strangeTerms are legal terms that a search engine, a tokenizer or JSON could misinterpret.
var strangeTerms = []string{
	"go", "GO", "streams", "go streams", "streams of data", "the", "of the", "C++", "xC++x", ".NET.", "news", "a long title",
	`"go"`, `go\`, `\"`, "*", "go*", "title:go", "go AND rust", "(go OR", "~2", "\x00", " ", "\t\n", "🚀", "e\u0301", "\u0301", "\u202b\u05e9\u05dc\u05d5\u05dd\u202c",
	"天气 go", "天", "\ufdfa", "go\u200dgo", "_id", "now/d",
}

// strangeProfile returns a random legal profile.
func strangeProfile(rnd *rand.Rand) feed.Profile {
	p := feed.Profile{Interests: map[string]float64{}}
	weight := func() float64 { return strangeWeights[rnd.IntN(len(strangeWeights))] }
	for range rnd.IntN(6) {
		p.Interests[[]string{"go", "rust", "data", "news", strangeTerms[rnd.IntN(len(strangeTerms))]}[rnd.IntN(5)]] = weight()
	}
	for range rnd.IntN(8) {
		p.Keywords = append(p.Keywords, feed.Keyword{Term: strangeTerms[rnd.IntN(len(strangeTerms))], Weight: weight()})
	}
	return p
}

// strangeProfiles tests that for any legal profile every item that it does not exclude is
// recalled, best first, with a finite score above 0 and at most the maximum that all its
// weights allow.
func strangeProfiles(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	rnd := rand.New(rand.NewPCG(12, 7))
	for range 80 {
		q := query(50, strangeProfile(rnd))
		require.NoError(t, q.Profile.Validate())
		q.Ranking.KeywordsSummary = float64(rnd.IntN(3)) / 2
		most := q.Ranking.Base
		for _, w := range q.Profile.Interests {
			most += w
		}
		for _, k := range q.Profile.Keywords {
			most += k.Weight
		}
		got := recallAll(t, s, q).Candidates
		require.Len(t, got, len(items)-1, "all but the one of the future, by %+v", q.Profile)
		for i, c := range got {
			score := float64(c.Score)
			require.False(t, math.IsNaN(score) || score <= 0 || score > most*(1+tolerance), "%s has %v, at most %v, by %+v", c.ID, score, most, q.Profile)
			require.True(t, i == 0 || Order(got[i-1], c) < 0, "%s before %s, by %+v", got[max(0, i-1)].ID, c.ID, q.Profile)
		}
	}
}

// raised tests that raising one weight of a profile lowers no item's score.
func raised(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	rnd := rand.New(rand.NewPCG(12, 8))
	for i := range 80 {
		q := query(50, strangeProfile(rnd))
		q.Profile.Interests["go"] = 0
		q.Profile.Keywords = append(q.Profile.Keywords, feed.Keyword{Term: "streams"})
		what := fmt.Sprintf("interest go together with %+v", q.Profile)
		raise := func(w float64) { q.Profile.Interests["go"] = w }
		if i%2 == 1 {
			at := rnd.IntN(len(q.Profile.Keywords))
			what = fmt.Sprintf("keyword %d of %+v", at, q.Profile)
			raise = func(w float64) { q.Profile.Keywords[at].Weight = w }
		}
		q.Ranking.KeywordsSummary = float64(rnd.IntN(3)) / 2
		before := map[string]float32{}
		for _, w := range strangeWeights {
			raise(w)
			got := recallAll(t, s, q).Candidates
			require.Len(t, got, len(items)-1, what)
			for _, c := range got {
				require.GreaterOrEqual(t, float64(c.Score), float64(before[c.ID])*(1-tolerance), "%s at %v: %s", c.ID, w, what)
				before[c.ID] = c.Score
			}
		}
	}
	t.Run("a place is never lost", func(t *testing.T) { raisedPlace(t, s, items) })
}

// raisedPlace raises the interest in each item's tags and checks the item's place.
func raisedPlace(t *testing.T, s recall.Source, items []feed.Item) {
	for _, it := range items {
		if it.UpdateTime > origin.Unix() {
			continue
		}
		for _, tag := range it.Tags {
			last := len(items)
			for _, w := range strangeWeights {
				q := query(50, feed.Profile{Interests: map[string]float64{"data": 1, tag: w}, Keywords: feed.Keywords("streams", "go")})
				// Only one of the items has the raised tag, because others with it may gain
				// too.
				place := slices.Index(ids(withoutTag(recallAll(t, s, q).Candidates, items, tag, it.ID)), it.ID)
				require.GreaterOrEqual(t, place, 0)
				require.LessOrEqual(t, place, last, "%s falls when %s is raised to %v", it.ID, tag, w)
				last = place
			}
		}
	}
}

// withoutTag removes the other items that have the tag.
func withoutTag(candidates []feed.Candidate, items []feed.Item, tag, but string) []feed.Candidate {
	return slices.DeleteFunc(slices.Clone(candidates), func(c feed.Candidate) bool {
		i := slices.IndexFunc(items, func(it feed.Item) bool { return it.ID == c.ID })
		return c.ID != but && slices.Contains(items[i].Tags, tag)
	})
}
