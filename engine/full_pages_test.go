package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// alike makes series of similar titles. The items' authors, sites and tags decide which rules of
// variety apply, in addition to the rule about stories.
var alike = map[string]func(n int) string{
	"episodes": func(n int) string { return fmt.Sprintf("The Long Talk Show episode %d", n) },
	"releases": func(n int) string {
		return fmt.Sprintf("Foo Server 4.2.%d released with bug fixes and improvements", n)
	},
	"forecasts": func(n int) string { return fmt.Sprintf("Weather forecast for Bergen on day %d", n) },
	"threads":   func(n int) string { return fmt.Sprintf("Daily discussion thread, November %d, 2026", n) },
	"greetings": func(int) string { return "Happy new year to all of you!" },
	"another":   func(n int) string { return fmt.Sprintf("alpha%d beta%d gamma%d", n, n, n) },
	"one word":  func(int) string { return "Hello" },
}

// inARow returns n items with such titles; with one, they all have the same author, site and tag.
func inARow(name string, n int, one bool) (items []feed.Item, ids []string) {
	for i := range n {
		site, author, tag := fmt.Sprintf("s%d.example", i), fmt.Sprint("author", i), fmt.Sprint("tag", i)
		if one {
			site, author, tag = "one.example", "ann", "podcast"
		}
		it := linked(i, site, author, tag, alike[name](i))
		items, ids = append(items, it), append(ids, it.ID)
	}
	return items, ids
}

// through reads all pages to the end of the session, and checks that all but the last are full.
func (r *rig) through(t *testing.T, of feed.Name, limit int) (pages [][]string) {
	t.Helper()
	q := refresh(limit)
	for more := true; more; q = loadMore(limit) {
		q.Feed = of
		a := r.ask(t, q)
		pages = append(pages, docIDs(a))
		if more = a.HasMore; more {
			require.Len(t, a.Docs, limit, "page %d", len(pages))
		}
	}
	return pages
}

// All items are reached on full pages, whichever rules of variety apply to them.
func TestVarietyHidesNothing(t *testing.T) {
	t.Parallel()
	for name := range alike {
		for _, one := range []bool{false, true} {
			for _, of := range []feed.Name{feed.ForYou, feed.HomeFeed} {
				for _, limit := range []int{1, 7, 20, 100} {
					t.Run(fmt.Sprint(name, " ", one, " ", of, " ", limit), func(t *testing.T) {
						t.Parallel()
						items, ids := inARow(name, 45, one)
						r := newVaried(t, varied(), items...)
						assert.Equal(t, 45, r.ask(t, engine.Request{Agent: "u_1", Feed: of, Action: engine.ActionRefresh, Limit: limit, Silent: true}).NewCount, "the badge")
						got := slices.Concat(r.through(t, of, limit)...)
						assert.ElementsMatch(t, ids, got)
						assert.Empty(t, docIDs(r.ask(t, engine.Request{Agent: "u_1", Feed: of, Action: engine.ActionLoadMore, Limit: limit})))
					})
				}
			}
		}
	}
}

// Items with other stories come before items that repeat a story, whatever their rank. Of several
// stories each page has each, as long as there are items.
func TestVarietySetAsideLast(t *testing.T) {
	t.Parallel()
	var items []feed.Item
	for i := range 60 {
		title := []string{alike["episodes"](i), alike["forecasts"](i), alike["another"](i)}[i/20]
		items = append(items, linked(i, fmt.Sprintf("s%d.example", i), "", fmt.Sprint("t", i), title))
	}
	r := newVaried(t, feed.Diversity{SameStory: 0.6}, items...)
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 10, Item: "i039"})
	require.NoError(t, err)
	assert.Equal(t, api.OutcomeKept, x.Item.Outcome)
	assert.NotEmpty(t, x.Item.Better)
	assert.Contains(t, x.Item.Reason, "It was set aside at first, because i030 on the page has nearly the same title")
	pages := r.through(t, feed.ForYou, 10)
	require.Len(t, pages, 6)
	assert.Equal(t, slices.Concat([]string{"i000", "i020"}, run(40, 48)), pages[0])
	assert.Equal(t, run(48, 58), pages[1])
	assert.Equal(t, []string{"i058", "i059", "i001", "i021"}, pages[2][:4])
	assert.ElementsMatch(t, slices.Concat(run(0, 60)), slices.Concat(pages...))
	for n, page := range pages[2:5] {
		first := slices.IndexFunc(page, func(id string) bool { return id >= "i020" && id < "i040" })
		assert.Less(t, first, 4, "page %d: both stories come first", n+3)
	}
}

// newFriends adds n friends of u_1, each with one recent post with one of the captions.
func (h *homeRig) newFriends(n int, caption func(n int) string) (ids []string) {
	h.Helper()
	for i := range n {
		friend := fmt.Sprint("friend", i)
		h.net.Follow("u_1", friend)
		p, _, err := h.net.Store.CreatePost(h.Context(), social.Post{
			ID: fmt.Sprintf("post:f%02d", i), Author: friend, Caption: caption(i),
			CreatedAt: rankedAt.Add(-time.Duration(i) * time.Second).Unix(), Audience: toAll,
		}, social.Creation{At: rankedAt})
		require.NoError(h, err)
		h.net.Push(h.net.Lists, "u_1", p.Post)
		ids = append(ids, p.ID)
	}
	return ids
}

// All ten greetings of ten friends come on the first two pages of home, whatever else home has.
func TestHomeSimilarPostsOfFriends(t *testing.T) {
	t.Parallel()
	for name, caption := range alike {
		for _, limit := range []int{20, 50} {
			for what, prepare := range map[string]func(*homeRig){
				"a busy author, trends, promotions and discoveries": func(*homeRig) {},
				"discoveries": func(h *homeRig) {
					require.NoError(h, errOf(h.net.Store.Unfollow(h.Context(), "u_1", "ann", time.Time{})))
					h.are[feed.SourceTrending], h.are[feed.SourcePromoted] = emptySource, emptySource
				},
				"nothing else": func(h *homeRig) {
					require.NoError(h, errOf(h.net.Store.Unfollow(h.Context(), "u_1", "ann", time.Time{})))
					h.are[feed.SourceTrending], h.are[feed.SourcePromoted], h.are[feed.SourceDiscovery] = emptySource, emptySource, emptySource
				},
			} {
				t.Run(fmt.Sprint(name, " ", limit, " beside ", what), func(t *testing.T) {
					t.Parallel()
					h := newHome(t, func(_ *engine.Stores, cfg *engine.Config) {
						ranking := feed.DefaultRanking()
						cfg.Rankings = &feed.Live{Ranking: ranking}
					})
					h.T = t
					ids := h.newFriends(10, caption)
					prepare(h)
					var got []string
					for _, action := range []engine.Action{engine.ActionRefresh, engine.ActionLoadMore} {
						page, err := h.ask(action, limit)
						require.NoError(t, err)
						require.Nil(t, page.Degraded)
						got = append(got, docIDs(page)...)
					}
					for _, id := range ids {
						assert.Contains(t, got, id)
					}
				})
			}
		}
	}
}

func errOf[T any](_ T, err error) error { return err }
