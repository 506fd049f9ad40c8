package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
)

func varied() feed.Diversity { return feed.DefaultRanking().Diversity }

// newVaried returns a rig over these items that varies pages by the given diversity.
func newVaried(t *testing.T, by feed.Diversity, items ...feed.Item) *rig {
	t.Helper()
	r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) {
		ranking := dayLong()
		ranking.Diversity = by
		cfg.Rankings = &feed.Live{Ranking: ranking}
	})
	r.put(t, items...)
	return r
}

// linked returns the n-th newest item, with a site, an author and a tag.
func linked(n int, site, author, tag, title string) feed.Item {
	it := aged(fmt.Sprintf("i%03d", n), "", time.Hour+time.Duration(n)*time.Minute)
	it.Title, it.AuthorID, it.Tags = title, author, []string{tag, "common"}
	it.URL = fmt.Sprintf("https://www.%s/%d", site, n)
	return it
}

// sitesOf returns i000 to i005 of one site and i006 to i011 of different ones.
func sitesOf() []feed.Item {
	items := make([]feed.Item, 12)
	for i := range items {
		site := "one.example"
		if i >= 6 {
			site = fmt.Sprintf("s%d.example", i)
		}
		items[i] = linked(i, site, "", fmt.Sprint("t", i), fmt.Sprint("Title ", i))
	}
	return items
}

// The pages of a session are built when it is created. load_more continues in it, and neither a
// retry nor another limit changes the order.
func TestSessionBuiltInAdvance(t *testing.T) {
	t.Parallel()
	r := newVaried(t, feed.Diversity{Site: feed.Spread{Decay: 0.5}}, sitesOf()...)
	first := []string{"i000", "i006", "i007", "i008"}
	r.wants(t, named(refresh(4), "r1"), first, true)
	r.wants(t, named(refresh(4), "r1"), first, true)
	r.wants(t, named(loadMore(3), "m1"), []string{"i001", "i009", "i010"}, true)
	r.wants(t, named(loadMore(3), "m1"), []string{"i001", "i009", "i010"}, true)
	r.wants(t, loadMore(100), []string{"i011", "i002", "i003", "i004", "i005"}, false)
}

func TestPeekVariety(t *testing.T) {
	t.Parallel()
	r := newVaried(t, feed.Diversity{Site: feed.Spread{Decay: 0.5}}, sitesOf()...)
	a := r.ask(t, silent(4))
	assert.Equal(t, []string{"i000", "i006", "i007", "i008"}, docIDs(a))
	assert.Equal(t, 12, a.NewCount)
}

// Of items with nearly the same title, the first has the place of its rank and the others come
// after all other items, as far as the session goes. Items that do not fit are not recorded, and a
// later refresh has them.
func TestVarietySameStoriesLater(t *testing.T) {
	t.Parallel()
	stories := []feed.Item{
		linked(0, "a.example", "", "x", "SpaceX lands a rocket on a ship at sea"),
		linked(1, "b.example", "", "x", "Something else happened today"),
		linked(2, "c.example", "", "x", "SpaceX lands rocket on ship at sea"),
		linked(3, "d.example", "", "x", "SpaceX lands rocket on ship at sea!"),
		linked(4, "e.example", "", "x", "Rust 1.9 is out"),
	}
	r := newVaried(t, feed.Diversity{SameStory: 0.6}, stories...)
	r.wants(t, refresh(20), []string{"i000", "i001", "i004", "i002", "i003"}, false)

	small := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) {
		ranking := dayLong()
		ranking.Diversity = feed.Diversity{SameStory: 0.6}
		cfg.N, cfg.Rankings = 3, &feed.Live{Ranking: ranking}
	})
	small.put(t, stories...)
	x, err := small.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 3, Item: "i003"})
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeStory, x.Item.Outcome)
	assert.Equal(t, "i000", x.Item.Better)
	assert.Contains(t, x.Item.Reason, "i000 on the same page has nearly the same title")
	assert.Equal(t, 2, x.Counts.Story)
	assert.Equal(t, 3, x.Counts.Paged)
	small.wants(t, refresh(3), []string{"i000", "i001", "i004"}, false)
	small.settled(t)
	assert.ElementsMatch(t, []string{"i000", "i001", "i004"}, small.recorder.groups())
	small.wants(t, loadMore(20), []string{"i002", "i003"}, false)
}

// Another page may have the same story.
func TestVarietyOneStoryPerPage(t *testing.T) {
	t.Parallel()
	r := newVaried(t, feed.Diversity{SameStory: 0.6},
		linked(0, "a.example", "", "x", "One long story of the day"), linked(1, "b.example", "", "x", "Quite another thing altogether"),
		linked(2, "c.example", "", "x", "One long story of the day"), linked(3, "d.example", "", "x", "What nobody has written yet"),
	)
	r.wants(t, refresh(2), []string{"i000", "i001"}, true)
	r.wants(t, loadMore(2), []string{"i002", "i003"}, false)
}

// Items set aside for their story do not make a page short while recall has more.
func TestVarietySetAsideReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) {
		ranking := dayLong()
		ranking.Diversity = varied()
		cfg.N, cfg.Rankings = 5, &feed.Live{Ranking: ranking}
	})
	var want []string
	for i := range 20 {
		title := "The one story that everybody tells"
		if i == 0 || i > 8 {
			title = fmt.Sprintf("alpha%d beta%d gamma%d", i, i, i)
			want = append(want, fmt.Sprintf("i%03d", i))
		}
		if i == 1 {
			want = append(want, "i001")
		}
		r.put(t, linked(i, fmt.Sprintf("s%d.example", i), "", "x", title))
	}
	r.wants(t, refresh(5), want[:5], true)
}

func TestExplainVariety(t *testing.T) {
	t.Parallel()
	items := sitesOf()
	for i := range items {
		items[i].AuthorID = []string{"ann", "bob", ""}[i%3]
	}
	r := newVaried(t, feed.Diversity{Author: feed.Spread{Decay: 0.99}, Site: feed.Spread{Decay: 0.5, Floor: 0.4}}, items...)
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 4, Item: "i001"})
	require.NoError(t, err)
	require.NotNil(t, x.Candidates[1].Variety)
	v := x.Item.Variety
	assert.Equal(t, 2, v.Page)
	assert.Equal(t, &api.Nth{Name: "one.example", Nth: 1, Factor: 1}, v.Site)
	assert.Nil(t, v.Tag, "it is off")
	found := false
	for _, c := range x.Candidates {
		require.NotNil(t, c.Variety, c.ID)
		if c.Variety.Site.Nth == 2 {
			found = true
			assert.InDelta(t, 0.5, c.Variety.Site.Factor, 1e-12)
			assert.LessOrEqual(t, c.Variety.Factor, c.Variety.Site.Factor)
		}
		if c.Variety.Author != nil {
			assert.Contains(t, []string{"ann", "bob"}, c.Variety.Author.Name)
		}
	}
	assert.True(t, found)
}

// The page and the order of an explanation equal those of the refresh and the pages after it, also
// when some items have been deleted.
func TestExplainPlacesEqualRefresh(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{3, 7, 20} {
		var items []feed.Item
		for i := range 60 {
			items = append(items, linked(i, fmt.Sprintf("s%d.example", i*i%5), fmt.Sprint("a", i%4), fmt.Sprint("t", i%6), fmt.Sprintf("w%d x%d y%d", i%7, i%5, i%3)))
		}
		r := newVaried(t, varied(), items...)
		r.removeBehind(t, "i000", "i003", "i010")
		x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: limit})
		require.NoError(t, err)
		a := r.ask(t, refresh(limit))
		paged := []string{}
		for _, c := range x.Page() {
			paged = append(paged, c.ID)
		}
		require.Equal(t, docIDs(a), paged)
		n := x.Counts
		require.Equal(t, n.Recalled, n.Paged+n.Kept+n.Gone+n.Story)
		rest := 0
		for more := a.HasMore; more; {
			a = r.ask(t, loadMore(limit))
			rest, more = rest+len(a.Docs), a.HasMore
		}
		require.Equal(t, n.Kept, rest)
	}
}

// typical has profiles of typical readers of the posts.
var typical = map[string]feed.Profile{
	"nobody known":        {},
	"a programmer":        {Interests: map[string]float64{"github.com": 2, "show-hn": 1}, Keywords: feed.Keywords("go", "rust")},
	"a scientist":         {Interests: map[string]float64{"arxiv.org": 3, "nature.com": 2, "quantamagazine.org": 2}},
	"news":                {Interests: map[string]float64{"nytimes.com": 2, "bbc.co.uk": 1, "theguardian.com": 1}},
	"business":            {Interests: map[string]float64{"bloomberg.com": 3, "wsj.com": 1}, Keywords: feed.Keywords("startup")},
	"a lover of one site": {Interests: map[string]float64{"medium.com": 3}},
}

// TestVarietyRealPosts checks the purpose of the default diversity: of twenty real posts at most
// six are of one site, and no two have the same story. Without diversity up to 20 are of one
// site.
func TestVarietyRealPosts(t *testing.T) {
	testenv.WithoutRace(t)
	posts := testenv.Posts(t)
	last := time.Unix(posts[len(posts)-1].UpdateTime, 0).UTC()
	for _, days := range []int{0, 30, 60, 90} {
		now := last.AddDate(0, 0, -days)
		r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) {
			ranking := feed.DefaultRanking()
			if days%60 == 0 { // scores decay little, so one site has more candidates
				ranking.Decay = feed.Decay{Scale: 120 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}
			}
			cfg.Rankings = &feed.Live{Ranking: ranking}
		})
		r.now.Store(&now)
		r.put(t, posts...)
		for name, profile := range typical {
			agent := strings.ReplaceAll(name, " ", "_")
			require.NoError(t, r.PutProfile(t.Context(), agent, profile))
			a, err := r.Feed(t.Context(), engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: 20})
			require.NoError(t, err)
			require.Len(t, a.Docs, 20)
			sites, stories := map[string]int{}, []feed.Story{}
			for _, doc := range a.Docs {
				it, err := doc.Item()
				require.NoError(t, err)
				traits := it.Traits()
				sites[traits.Site]++
				story := feed.ReadStory(traits.Story)
				for _, other := range stories {
					assert.Less(t, story.Likeness(&other), 0.6, "%s: %s", name, it.Title)
				}
				stories = append(stories, story)
			}
			delete(sites, "") // posts without a link
			most := slices.Max(slices.Collect(maps.Values(sites)))
			t.Logf("%d days before the last post, %s: at most %d of one site, %d sites", days, name, most, len(sites))
			assert.LessOrEqual(t, most, 6, "%s: %v", name, sites)
		}
	}
}
