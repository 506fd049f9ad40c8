package recalltest

import (
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func scores(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	popular := ranking()
	popular.PopularityWeight = 0.7
	bare := ranking()
	bare.Decay.Floor = 1e-30
	bare.Decay.Scale = 200 * time.Hour
	bare.Decay.Offset = 0
	bare.Decay.Decay = 0.3
	titleAlone := ranking()
	titleAlone.KeywordsSummary = 0
	interests := map[string]float64{"go": 2, "rust": 0.5, "data": 1.25, "unheard-of": 9, "news": 0}
	for name, q := range map[string]feed.Query{
		"no profile":      {Ranking: ranking()},
		"interests":       {Ranking: ranking(), Profile: feed.Profile{Interests: interests}},
		"keyword":         {Ranking: ranking(), Profile: feed.Profile{Keywords: feed.Keywords("streams")}},
		"keywords":        {Ranking: ranking(), Profile: feed.Profile{Keywords: feed.Keywords("GO generics", "go go", "streams", "nowhere", "read")}},
		"repeated":        {Ranking: ranking(), Profile: feed.Profile{Keywords: []feed.Keyword{{Term: "go news", Weight: 1}, {Term: "go", Weight: 2}, {Term: "Go", Weight: 3}, {Term: "GO", Weight: 0}}}},
		"the alone":       {Ranking: ranking(), Profile: feed.Profile{Keywords: []feed.Keyword{{Term: "The", Weight: 50}, {Term: "Streams", Weight: 0.5}}}},
		"title alone":     {Ranking: titleAlone, Profile: feed.Profile{Keywords: feed.Keywords("go", "streams")}},
		"long summary":    {Ranking: ranking(), Profile: feed.Profile{Keywords: feed.Keywords("word3", "word17")}},
		"popularity":      {Ranking: popular},
		"everything":      {Ranking: popular, Profile: feed.Profile{Interests: interests, Keywords: feed.Keywords("data", "go")}},
		"another decay":   {Ranking: bare, Profile: feed.Profile{Interests: interests, Keywords: feed.Keywords("long")}},
		"fractional time": {Ranking: ranking(), Origin: origin.Add(400 * time.Millisecond)},
		"earlier origin":  {Ranking: ranking(), Origin: origin.Add(-26 * time.Hour), Profile: feed.Profile{Interests: interests}},
	} {
		t.Run(name, func(t *testing.T) {
			if q.Origin.IsZero() {
				q.Origin = origin
			}
			q.N = 50
			r := recallAll(t, s, q)
			assertRanking(t, items, q, r.Candidates)
			q.N = 3
			assertRanking(t, items, q, recallAll(t, s, q).Candidates)
		})
	}
}

// byHand compares with values calculated by hand, which also checks the reference.
func byHand(t *testing.T, open Open) {
	items := []feed.Item{
		{ID: "fresh", Title: "alpha beta", Summary: "Zeta eta. Alpha", UpdateTime: ago(30 * time.Minute), Tags: []string{"x"}},
		{ID: "half", Title: "alpha", UpdateTime: ago(25 * time.Hour), Tags: []string{"x", "y"}, Likes: 5, Comments: 2},
		{ID: "floor", Title: "gamma delta epsilon", UpdateTime: ago(1000 * time.Hour), Tags: []string{"y"}},
	}
	s := open(t, items)
	for _, tc := range []struct {
		name string
		p    feed.Profile
		pop  float64
		want map[string]float64
	}{
		{"freshness", feed.Profile{}, 0, map[string]float64{"fresh": 0.1, "half": 0.05, "floor": 1e-7}},
		{
			"interests",
			feed.Profile{Interests: map[string]float64{"x": 2, "y": 3}},
			0,
			map[string]float64{"fresh": 2.1, "half": 5.1 * 0.5, "floor": 3.1e-6},
		},
		{"popularity", feed.Profile{}, 2, map[string]float64{"fresh": 0.1, "half": 0.05 * 3, "floor": 1e-7}},
		{
			// 1 for the title, half of 3 for the summary: 0.1 + 2.5 and (0.1 + 1)/2.
			"keywords",
			feed.Profile{Keywords: []feed.Keyword{{Term: "Alpha", Weight: 1}, {Term: "zeta eta", Weight: 3}, {Term: "beta alpha", Weight: 9}}},
			0,
			map[string]float64{"fresh": 2.6, "half": 0.55, "floor": 1e-7},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := query(10, tc.p)
			q.Ranking.PopularityWeight = tc.pop
			got := recallAll(t, s, q).Candidates
			require.Len(t, got, len(tc.want))
			for _, c := range got {
				assert.InEpsilon(t, tc.want[c.ID], c.Score, tolerance, c.ID)
			}
		})
	}
}

func order(t *testing.T, open Open) {
	tags := []string{"x"}
	items := []feed.Item{
		{ID: "b", Title: "t", UpdateTime: ago(10 * time.Minute)},
		{ID: "a", Title: "t", UpdateTime: ago(10 * time.Minute)},
		{ID: "B", Title: "t", UpdateTime: ago(10 * time.Minute)},
		{ID: "newer", Title: "t", UpdateTime: ago(5 * time.Minute)},
		{ID: "aged", Title: "t", UpdateTime: ago(3 * time.Hour)},
		{ID: "best", Title: "t", UpdateTime: ago(4 * time.Hour), Tags: tags},
		{ID: "f2", Title: "t", UpdateTime: ago(900 * time.Hour)},
		{ID: "f1", Title: "t", UpdateTime: ago(900 * time.Hour)},
		{ID: "f3", Title: "t", UpdateTime: ago(800 * time.Hour)},
		{ID: "f4", Title: "t", UpdateTime: ago(2000 * time.Hour), Tags: tags},
	}
	s := open(t, items)
	want := []string{"best", "newer", "B", "a", "b", "aged", "f4", "f3", "f1", "f2"}
	for n := 1; n <= len(want)+1; n++ {
		r := recallAll(t, s, query(n, feed.Profile{Interests: map[string]float64{"x": 3}}))
		require.Equal(t, want[:min(n, len(want))], ids(r.Candidates), "N = %d", n)
	}
}

func filters(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	for name, tc := range map[string]struct {
		p     feed.Profile
		since time.Time
		want  []string
	}{
		"muted author":  {p: feed.Profile{MutedAuthors: []string{"ann", "nobody"}}, want: []string{"floor", "long", "now", "offset", "older", "plain", "scale"}},
		"muted tag":     {p: feed.Profile{MutedTags: []string{"data", "nothing"}}, want: []string{"floor", "now", "offset", "older", "plain"}},
		"one language":  {p: feed.Profile{Langs: []string{"de"}}, want: []string{"days", "floor", "long", "now", "older", "plain", "scale"}},
		"two languages": {p: feed.Profile{Langs: []string{"fr", "en"}}, want: []string{"days", "floor", "long", "now", "offset", "older", "plain"}},
		"mute wins":     {p: feed.Profile{Interests: map[string]float64{"go": 5}, MutedTags: []string{"go"}}, want: []string{"days", "long", "older", "plain", "scale"}},
		"muted item":    {p: feed.Profile{MutedItems: []string{"days", "unheard-of"}}, want: []string{"floor", "long", "now", "offset", "older", "plain", "scale"}},
		"muted word":    {p: feed.Profile{MutedWords: mutedWords("STREAMS")}, want: []string{"floor", "long", "now", "offset", "plain"}},
		"muted phrases": {p: feed.Profile{MutedWords: mutedWords("go generics", "go go", "news older")}, want: []string{"days", "floor", "long", "offset", "older", "plain"}},
		"word of a tag": {p: feed.Profile{MutedWords: mutedWords("Rust")}, want: []string{"floor", "long", "now", "older", "plain", "scale"}},
		"part of words": {p: feed.Profile{MutedWords: mutedWords("stream", "generic", "o")}, want: []string{"days", "floor", "long", "now", "offset", "older", "plain", "scale"}},
		"since":         {since: origin.Add(-5 * time.Hour), want: []string{"now", "offset", "plain"}},
		"since, second": {since: origin.Add(-5*time.Hour - time.Second), want: []string{"long", "now", "offset", "plain"}},
		"all at once": {
			p: feed.Profile{
				MutedTags: []string{"rust"}, MutedAuthors: []string{"bob"}, Langs: []string{"de"}, MutedItems: []string{"plain"},
			},
			since: origin.Add(-80 * 24 * time.Hour), want: []string{"long", "now", "scale"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := query(50, tc.p)
			q.Since = tc.since
			r := recallAll(t, s, q)
			assert.ElementsMatch(t, tc.want, ids(r.Candidates))
			assertRanking(t, items, q, r.Candidates)
		})
	}
}
