package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/testenv"
)

// TestFeedScenarios runs the engine's scenarios over whole systems in services mode. The engine's
// own tests run them over the stores of the embedded mode.
func TestFeedScenarios(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, func(t *testing.T, c enginetest.Config, clock feed.Clock) enginetest.System {
		t.Parallel()
		cfg := services(t)
		if c.N > 0 {
			cfg.Recall.N = c.N
		}
		if c.Seen {
			cfg.Impressions.On = configs.OnSeen
		}
		if c.PendingTTL > 0 {
			cfg.Sessions.TTL = c.PendingTTL
		}
		a := open(t, cfg, WithClock(clock))
		return enginetest.System{
			Engine: a.Engine, Catalog: a.Catalog, Dedup: a.stores.dedup,
			Put:      func(t *testing.T, items ...feed.Item) { put(t, a, items...) },
			Remove:   func(t *testing.T, id string) { require.NoError(t, a.Catalog.Remove(t.Context(), id)) },
			Recorded: func(t *testing.T) { waitRecorded(t, a) },
		}
	})
}

// TestFeedPagesToLastPost reads to the end: a reader who has seen thousands of posts still gets
// full pages, until all are seen.
func TestFeedPagesToLastPost(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	now := time.Unix(posts[len(posts)-1].UpdateTime, 0).Add(time.Hour)
	cfg := embedded(t)
	cfg.Dedup.FalsePositiveRate = 1e-9 // no false positives
	a := open(t, cfg, WithClock(at(now).Now))
	put(t, a, posts...)
	seen, short := newOnce(), 0
	for {
		answer := ask(t, a, loadMore("u_1", 100))
		if len(answer.Docs) == 0 {
			break
		}
		if len(answer.Docs) < 100 {
			short++
		}
		seen.add(t, "u_1's feed", ids(answer))
	}
	assert.Equal(t, len(posts), seen.len())
	assert.LessOrEqual(t, short, len(posts)/cfg.Recall.N, "only the last page of a session may be short")
}

// TestFeedWholeSession reads real posts like a reader: a refresh, load_more until nothing is left,
// and again.
func TestFeedWholeSession(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	now := time.Date(2016, 3, 10, 12, 0, 0, 0, time.UTC)
	a := open(t, embedded(t), WithClock(at(now).Now))
	put(t, a, posts...)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1",
		feed.Profile{Interests: map[string]float64{"show-hn": 3, "github.com": 2}}))

	seen := newOnce()
	first := ask(t, a, refresh("u_1", 20))
	require.Len(t, first.Docs, 20)
	onTopic := 0
	for i, it := range items(t, first) {
		age := now.Sub(time.Unix(it.UpdateTime, 0))
		assert.Less(t, age, 4*24*time.Hour, "the top of the first page is recent: %s", it.Title)
		if slices.Contains(it.Tags, "show-hn") || slices.Contains(it.Tags, "github.com") {
			assert.Equal(t, i, onTopic, "what is on topic comes first: %s", it.Title)
			onTopic++
		}
	}
	assert.GreaterOrEqual(t, onTopic, 8, "the top of the first page is on topic")

	for session := range 2 {
		answer := first
		if session > 0 {
			answer = ask(t, a, refresh("u_1", 20))
			require.Len(t, answer.Docs, 20)
		}
		pages := 1
		for {
			for _, it := range items(t, answer) {
				assert.LessOrEqual(t, it.UpdateTime, now.Unix(), "nothing from the future")
			}
			seen.add(t, fmt.Sprintf("session %d, page %d", session, pages), ids(answer))
			if !answer.HasMore {
				break
			}
			answer = ask(t, a, loadMore("u_1", 20))
			require.NotEmpty(t, answer.Docs, "has_more promised more")
			pages++
		}
		assert.GreaterOrEqual(t, pages, 24, "a session is about N candidates long")
	}
	assert.GreaterOrEqual(t, seen.len(), 970, "two sessions of 500, less the false positives")
	waitRecorded(t, a)
}

// realReaders are readers of real posts with keywords that produce bad pages in feeds that split
// phrases, rank by rarity or match stop words.
var realReaders = map[string]feed.Profile{
	"phrase":     {Interests: map[string]float64{"github.com": 2, "medium.com": 1, "show-hn": 1}, Keywords: feed.Keywords("machine learning")},
	"place":      {Interests: map[string]float64{"nytimes.com": 2, "theguardian.com": 1}, Keywords: feed.Keywords("new york")},
	"programmer": {Interests: map[string]float64{"github.com": 1, "show-hn": 1}, Keywords: feed.Keywords("C++", "C#", ".NET", "Node.js")},
	"stop_words": {Interests: map[string]float64{"medium.com": 1}, Keywords: feed.Keywords("the", "a")},
	"characters": {Interests: map[string]float64{"bbc.com": 1}, Keywords: feed.Keywords("天气")},
	"rare":       {Interests: map[string]float64{"youtube.com": 2, "ask-hn": 1}, Keywords: feed.Keywords("postgres", "erlang")},
	"one_site":   {Interests: map[string]float64{"medium.com": 3}},
	"nobody":     {},
}

// TestFeedKeywordsAndVariety reads pages of real posts with the default settings. A keyword adds
// its weight exactly to titles that contain its words, and does not fill the page of a reader with
// interests. At most 6 of 20 items are of one site, and each story appears once.
func TestFeedKeywordsAndVariety(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	byID := map[string]feed.Item{}
	for _, it := range posts {
		byID[it.ID] = it
	}
	now := at(time.Date(2015, 11, 20, 18, 30, 0, 0, time.UTC))
	cfg := embedded(t)
	cfg.Ranking = configs.Default().Ranking
	cfg.Catalog.GroupBy = "url"
	a := open(t, cfg, WithClock(now.Now))
	put(t, a, posts...)
	for name, profile := range realReaders {
		require.NoError(t, a.Engine.PutProfile(t.Context(), name, profile))
	}
	for range 5 {
		for name, profile := range realReaders {
			x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: name, Limit: 20})
			require.NoError(t, err)
			checkGains(t, name, profile, &x, byID)
			checkVariety(t, name, items(t, ask(t, a, refresh(name, 20))))
		}
		now.Advance(60 * 24 * time.Hour)
	}
}

// checkGains compares the gains from keywords of all candidates with the words of their titles.
func checkGains(t *testing.T, name string, p feed.Profile, x *api.Explanation, posts map[string]feed.Item) {
	t.Helper()
	if name == "stop_words" {
		p.Keywords = nil
	}
	seen := 0
	for _, c := range x.Candidates {
		if c.Relevance == nil {
			continue
		}
		seen++
		var want, got []string
		for _, k := range p.Keywords {
			if containsTerm(k.Term, posts[c.ID].Title) {
				want = append(want, k.Term)
			}
		}
		for _, gain := range c.Relevance.Keywords {
			got = append(got, gain.Name)
			assert.InDelta(t, 1, gain.Score, 1e-6, "%s: %s in %q", name, gain.Name, posts[c.ID].Title)
		}
		assert.ElementsMatch(t, want, got, "%s: %q", name, posts[c.ID].Title)
	}
	require.GreaterOrEqual(t, seen, 20, name)
	matched := 0
	for _, c := range x.Page() {
		if len(c.Relevance.Keywords) > 0 {
			matched++
		}
	}
	assert.LessOrEqual(t, matched, 10, "%s: keywords have most of the page", name)
}

func checkVariety(t *testing.T, name string, page []feed.Item) {
	t.Helper()
	require.Len(t, page, 20, name)
	sites, links := map[string]int{}, map[string]string{}
	for i, it := range page {
		if site := feed.Site(it.URL); site != "" {
			sites[site]++
			assert.LessOrEqual(t, sites[site], 6, "%s: %s", name, site)
		}
		if link := feed.CanonicalURL(it.URL); link != "" {
			assert.Empty(t, links[link], "%s: the link of %q", name, it.Title)
			links[link] = it.Title
		}
		for _, other := range page[:i] {
			assert.Less(t, overlap(it.Title, other.Title), 0.75, "%s: %q and %q", name, it.Title, other.Title)
		}
	}
}

// containsTerm reports whether a title contains the words of a term in sequence.
func containsTerm(term, title string) bool {
	fields := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(title), "++", "++ "), func(r rune) bool { return strings.ContainsRune(" -–—,;:!?()[]{}\"'’‘“”/|&", r) })
	for i, word := range fields {
		fields[i] = strings.TrimRight(word, ".")
	}
	return strings.Contains(" "+strings.Join(fields, " ")+" ", " "+strings.ToLower(term)+" ")
}

// overlap returns the share of words that two titles have in common.
func overlap(a, b string) float64 {
	of := func(title string) []string {
		all := words.Of(title)
		slices.Sort(all)
		return slices.Compact(all)
	}
	first, second := of(a), of(b)
	both := 0
	for _, word := range first {
		if slices.Contains(second, word) {
			both++
		}
	}
	if len(first) < 3 || len(second) < 3 {
		return 0 // it is unknown whether they have the same story
	}
	return float64(both) / float64(len(first)+len(second)-both)
}
