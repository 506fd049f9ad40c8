package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKeywordsOnRealPosts checks the first page of readers with interests and keywords, over a year
// of real posts: no keyword dominates a page, however rare it is, and phrases match only as
// phrases.
func TestKeywordsOnRealPosts(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := recallmemory.New()
	s.Upsert(testenv.Posts(t))
	sites := map[string]float64{"github.com": 2, "medium.com": 1, "nytimes.com": 3, "show-hn": 1.5}
	phrases := []string{"machine learning", "new york", "C++", "rust", "node.js", "天气"}
	for day := range 12 {
		origin := time.Date(2015, 10, 15, 18, 30, 0, 0, time.UTC).AddDate(0, day, 0)
		q := feed.Query{Origin: origin, N: 500, Ranking: feed.Ranking{Base: 0.1, Decay: feed.Decay{Scale: 24 * time.Hour, Decay: 0.5}}}
		q.Profile.Keywords = []feed.Keyword{{Term: "the", Weight: 100}}
		r, err := s.Recall(context.Background(), q)
		require.NoError(t, err)
		assert.LessOrEqual(t, r.Candidates[0].Score, float32(0.1), "the matches nothing")
		for _, phrase := range phrases {
			t.Run(fmt.Sprint(origin.Format(time.DateOnly), " ", phrase), func(t *testing.T) {
				q := feed.Query{Origin: origin, N: 20, Ranking: feed.Ranking{
					Base: 0.1, KeywordsSummary: 0.5, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6},
				}, Profile: feed.Profile{Interests: sites, Keywords: feed.Keywords(phrase)}}
				matched := assertPhrase(t, s, q, phrase)
				assert.LessOrEqual(t, matched, 10, "the keyword has most of the page")
				q.Profile.Interests, q.N = nil, 500
				assertPhrase(t, s, q, phrase)
			})
		}
	}
}

// assertPhrase checks the keyword's part of each candidate's score against the words of its title,
// and returns the number of matches.
func assertPhrase(t *testing.T, s *recallmemory.Source, q feed.Query, phrase string) (matched int) {
	t.Helper()
	r, err := s.Recall(context.Background(), q)
	require.NoError(t, err)
	require.Len(t, r.Candidates, q.N)
	ids := make([]string, q.N)
	for i, c := range r.Candidates {
		ids[i] = c.ID
	}
	factors, err := s.Explain(context.Background(), q, ids)
	require.NoError(t, err)
	for i, f := range factors {
		title := titleOf(t, ids[i])
		if len(f.Keywords) == 0 {
			assert.NotContains(t, plain(title), " "+strings.ToLower(phrase)+" ", title)
			continue
		}
		matched++
		assert.Equal(t, []feed.Gain{{Name: phrase, Score: 1, In: recall.InTitle}}, f.Keywords, title)
		assert.Contains(t, plain(title), " "+strings.ToLower(phrase)+" ", title)
	}
	return matched
}

// plain returns a title's words, each surrounded by single spaces.
func plain(title string) string {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(title), "++", "++ "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+#.", r)
	})
	for i := range words {
		words[i] = strings.TrimRight(words[i], ".")
	}
	return " " + strings.Join(words, " ") + " "
}

func titleOf(t *testing.T, id string) string {
	t.Helper()
	for _, it := range testenv.Posts(t) {
		if it.ID == id {
			return it.Title
		}
	}
	t.Fatalf("there is no post %s", id)
	return ""
}
