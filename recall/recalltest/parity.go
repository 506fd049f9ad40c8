package recalltest

import (
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parityTolerance is the maximum relative difference of two sources' scores of an item; scores
// that differ by less are a tie.
const parityTolerance = 1e-4

// Parity compares two sources that hold the same items, with queries of every kind at the given
// origin: they must return the same items in the same order, except for ties.
//
// It also mutes the groups of every second one of the first source's best items.
func Parity(t *testing.T, a, b recall.Source, origin time.Time) {
	t.Run("muted items", func(t *testing.T) { mutedParity(t, a, b, origin) })
	t.Run("one Gaussian", func(t *testing.T) { parity(t, a, b, origin, ranking().Decay) })
	for name, decay := range decays() {
		t.Run(name, func(t *testing.T) { parity(t, a, b, origin, decay) })
	}
}

func parity(t *testing.T, a, b recall.Source, origin time.Time, decay feed.Decay) {
	for _, tc := range parityQueries() {
		t.Run(tc.name, func(t *testing.T) {
			q := feed.Query{Profile: tc.profile, Ranking: learning(), Origin: origin, N: 100}
			q.Ranking.Decay = decay
			q.Ranking.PopularityWeight = tc.popularity
			first, second := recallAll(t, a, q), recallAll(t, b, q)
			require.Len(t, first.Candidates, q.N)
			assertSame(t, first.Candidates, second.Candidates)

			q.After = first.Next
			require.NotEmpty(t, q.After)
			first = recallAll(t, a, q)
			q.After = second.Next
			require.NotEmpty(t, q.After)
			assertSame(t, first.Candidates, recallAll(t, b, q).Candidates)
		})
	}
}

// LiveParity compares two sources that hold the same items and the same counts of
// them, by weights of live popularity.
func LiveParity(t *testing.T, a, b recall.Source, origin time.Time) {
	for i, weights := range [][3]float64{{1.5, 0.2, 0}, {0, 3, 0.5}, {50, 0, 1}, {0, 0, 0}} {
		q := feed.Query{Ranking: ranking(), Origin: origin, N: 200, Profile: feed.Profile{
			Interests: map[string]float64{"github.com": 2, "medium.com": 1}, Keywords: feed.Keywords("go", "machine learning"),
		}}
		q.Ranking.Popularity2h, q.Ranking.Popularity2d, q.Ranking.PopularityWeight = weights[0], weights[1], weights[2]
		q.Ranking.PopularityMore = []feed.PerHalfLife{{}, {1.5}, {0, 2, 0.5, 0.1}, {0, 0, 0, 3}}[i]
		first, second := recallAll(t, a, q).Candidates, recallAll(t, b, q).Candidates
		require.Len(t, first, q.N)
		assertSame(t, first, second)
		ofFirst, ofSecond := explained(t, a, q, ids(first)), explained(t, b, q, ids(first))
		for i := range ofFirst {
			assert.InEpsilon(t, 1+ofSecond[i].Count2h, 1+ofFirst[i].Count2h, 1e-9, first[i].ID)
			assert.InEpsilon(t, 1+ofSecond[i].Count2d, 1+ofFirst[i].Count2d, 1e-9, first[i].ID)
			assert.InEpsilon(t, ofSecond[i].PopularityFactor, ofFirst[i].PopularityFactor, 1e-9, first[i].ID)
		}
	}
}

func mutedParity(t *testing.T, a, b recall.Source, origin time.Time) {
	q := feed.Query{Profile: feed.Profile{Keywords: feed.Keywords("go", "rust")}, Ranking: ranking(), Origin: origin, N: 100}
	best := recallAll(t, a, q).Candidates
	for i := 0; i < len(best); i += 2 {
		q.Profile.MutedItems = append(q.Profile.MutedItems, best[i].Group)
	}
	first, second := recallAll(t, a, q).Candidates, recallAll(t, b, q).Candidates
	require.Len(t, first, q.N)
	assertSame(t, first, second)
	for i, c := range best {
		if i%2 == 0 {
			assert.NotContains(t, ids(first), c.ID)
		} else {
			assert.Contains(t, ids(first), c.ID)
		}
	}
}

type parityQuery struct {
	name       string
	profile    feed.Profile
	popularity float64
}

func parityQueries() []parityQuery {
	tags := map[string]float64{"github.com": 2, "medium.com": 1, "nytimes.com": 0.5}
	rare := map[string]float64{"arxiv.org": 5, "lwn.net": 3, "blog.golang.org": 8, "ask-hn": 0.01}
	langs := feed.Keywords("go", "rust", "python")
	return []parityQuery{
		{"nothing known", feed.Profile{}, 0},
		{"popular", feed.Profile{}, 1},
		{"very popular", feed.Profile{}, 50},
		{"one interest", feed.Profile{Interests: map[string]float64{"show-hn": 1}}, 0},
		{"interests", feed.Profile{Interests: tags}, 0},
		{"rare interests", feed.Profile{Interests: rare}, 0},
		{"heavy interests", feed.Profile{Interests: map[string]float64{"youtube.com": 100, "bloomberg.com": 99}}, 0},
		{"unknown interest", feed.Profile{Interests: map[string]float64{"no.such.site": 10}}, 0},
		{"one keyword", feed.Profile{Keywords: feed.Keywords("postgres")}, 0},
		{"keywords", feed.Profile{Keywords: langs}, 0},
		{"common words", feed.Profile{Keywords: feed.Keywords("the", "a", "of")}, 0},
		{"phrase", feed.Profile{Keywords: feed.Keywords("machine learning", "deep learning")}, 0},
		{"names with signs", feed.Profile{Keywords: feed.Keywords("C++", "C#", ".NET", "Node.js", "C")}, 0},
		{"marks", feed.Profile{Keywords: feed.Keywords("what's", "résumé", "©", "state-of-the-art", "天气")}, 0},
		{"weighted phrases", feed.Profile{Keywords: []feed.Keyword{
			{Term: "new york", Weight: 3}, {Term: "machine learning", Weight: 2}, {Term: "the", Weight: 100}, {Term: "of the", Weight: 0.25}, {Term: "rust", Weight: 0},
		}}, 0},
		{"unknown word", feed.Profile{Keywords: feed.Keywords("xyzzyplugh")}, 0},
		{"both", feed.Profile{Interests: tags, Keywords: langs}, 0},
		{"both, popular", feed.Profile{Interests: rare, Keywords: langs}, 0.5},
		{"muted tags", feed.Profile{MutedTags: []string{"ask-hn", "show-hn", "github.com"}}, 0},
		{"muted authors", feed.Profile{MutedAuthors: []string{"jonbaer", "prostoalex", "ingve"}, Keywords: langs}, 0},
		{"muted words", feed.Profile{MutedWords: mutedWords("google", "the", "C++", "machine learning", "show-hn", "Vitamin D", "天气"), Keywords: langs}, 0},
		{"language", feed.Profile{Langs: []string{"en"}, Interests: tags}, 0},
		{"learned", feed.Profile{Learned: learnedOfPosts}, 0},
		{"learned, beside a profile", feed.Profile{Interests: tags, Keywords: langs, Learned: learnedOfPosts}, 0.5},
		{"everything", feed.Profile{
			Interests: tags, Keywords: feed.Keywords("data", "science"), Langs: []string{"en"}, Learned: learnedOfPosts,
			MutedTags: []string{"medium.com"}, MutedAuthors: []string{"jonbaer"}, MutedWords: mutedWords("apple", "open source"),
		}, 2},
	}
}

// learnedOfPosts are learned interests that a reader of such posts may have.
var learnedOfPosts = feed.Learned{At: 1_400_000_000, Features: []feed.LearnedFeature{
	lesson("word", "python", 9), lesson("tag", "github.com", 8), lesson("word", "the", 7), lesson("lang", "en", 6), lesson("author", "ingve", 5),
	lesson("word", "golang", 4), lesson("word", "c++", 3), lesson("author", "jonbaer", -8), lesson("tag", "medium.com", -4), lesson("word", "startup", -3),
	lesson("word", "google", -2), lesson("lang", "de", -1), lesson("word", "天气", 1), lesson("word", "rust", 0.5), lesson("author", "nobody", -2),
}}

func near(x, y float32) bool {
	return float64(max(x, y)-min(x, y)) <= max(parityTolerance*float64(max(x, y)), 1e-35)
}

// assertSame compares two rankings of one catalog.
func assertSame(t *testing.T, a, b []feed.Candidate) {
	t.Helper()
	require.Len(t, b, len(a))
	place := map[string]int{}
	for i, c := range b {
		place[c.ID] = i
		assert.True(t, near(a[i].Score, c.Score), "place %d: %v and %v", i, a[i].Score, c.Score)
	}
	last := a[len(a)-1].Score
	for i, c := range a {
		at, ok := place[c.ID]
		if !ok {
			assert.True(t, near(c.Score, last), "%s at place %d with %v is missing on the other side", c.ID, i, c.Score)
			continue
		}
		assert.True(t, near(c.Score, b[at].Score), "%s: %v and %v", c.ID, c.Score, b[at].Score)
		assert.Equal(t, c.UpdateTime, b[at].UpdateTime, c.ID)
		assert.Equal(t, c.Group, b[at].Group, c.ID)
		assert.Equal(t, c.Traits, b[at].Traits, c.ID)
		for _, later := range a[i+1:] {
			if other, ok := place[later.ID]; ok && !near(c.Score, later.Score) {
				assert.Less(t, at, other, "%s before %s", c.ID, later.ID)
			}
		}
	}
}

// mutedWords returns mutes without an end.
func mutedWords(terms ...string) []feed.MutedWord {
	list := make([]feed.MutedWord, len(terms))
	for i, term := range terms {
		list[i].Term = term
	}
	return list
}
