package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// TestExplainOfHomeIsTheRefresh explains home before each of several refreshes. The page of the
// explanation must equal the page of the refresh, each position must have the source that fills it
// and the one it belongs to, and an explanation changes nothing.
func TestExplainOfHomeIsTheRefresh(t *testing.T) {
	cfg := embedded(t)
	cfg.Recall.N = 90 // less than could be shown, so the session is full
	a := open(t, cfg, WithClock(at(noon).Now))
	fillHome(t, a)
	promote(t, a, "doc_3", "post:bob_28")
	store := a.network.fanout.Store()
	for i := range 5 {
		_, _, err := store.Like(t.Context(), "u", fmt.Sprintf("post:ann_%d", 20+i))
		require.NoError(t, err)
	}
	pattern, err := feed.ParsePattern(a.cfg.Home.Pattern)
	require.NoError(t, err)
	request := engine.ExplainRequest{Agent: "u", Feed: feed.HomeFeed, Limit: 20}
	explained := func() api.Explanation {
		x, err := a.Engine.Explain(t.Context(), request)
		require.NoError(t, err)
		x.Times = api.ExplainTimes{}
		return x
	}
	explained() // may build lists
	for step := range 3 {
		if step == 2 {
			_, err := store.Unfollow(t.Context(), "u", "bob", time.Time{})
			require.NoError(t, err)
			settled(t, a)
		}
		before := state(t, a)
		x := explained()
		require.Equal(t, before, state(t, a), "asking changes nothing")
		require.Equal(t, feed.HomeFeed, x.Feed)
		n := x.Counts
		require.Equal(t, n.Recalled, n.Seen+n.Pending+n.Muted+n.Gone+n.Group+n.Story+n.Outside+n.Paged+n.Kept)
		if step == 0 {
			require.Positive(t, n.Outside, "the session is full")
		}
		page := home(t, a, "u", "refresh", 20)
		paged := x.Page()
		require.Len(t, page.Data.Items, len(paged))
		for i, c := range paged {
			require.Equal(t, page.Data.Items[i].ID, c.ID)
			require.Equal(t, page.Data.Items[i].InFeed.Source, c.Source)
			require.Equal(t, c.Source, c.Variety.Source)
			require.Equal(t, pattern.At(c.Variety.Place-1).String(), c.Variety.Right)
		}
		assertHomeScores(t, x)
		recorded(t, a)
	}
}

// promote starts promotions of items to everybody.
func promote(t *testing.T, a *App, items ...string) {
	t.Helper()
	for i, id := range items {
		require.NoError(t, a.network.fanout.Store().PutPromotion(t.Context(), social.Promotion{
			ID: fmt.Sprint("p", i), ItemID: id, From: noon.Unix() - 1, Until: noon.Unix() + 3600, Weight: 1,
		}))
	}
	require.NoError(t, a.network.promotions.Refresh(t.Context()))
}

// assertHomeScores checks that the parts of each score give the score, and that the candidates of
// each source are ranked separately.
func assertHomeScores(t *testing.T, x api.Explanation) {
	t.Helper()
	ranks, most := map[string]int{}, 0.0
	for _, c := range x.Candidates {
		ranks[c.Source]++
		require.Equal(t, ranks[c.Source], c.Rank, c.ID)
		if c.Source == "discovery" {
			require.InEpsilon(t, c.Score, c.Relevance.Total*c.Decay*c.Popularity.Factor, 1e-5, c.ID)
			require.Nil(t, c.Affinity)
			continue
		}
		require.InEpsilon(t, c.Score, c.Base*c.Decay*c.Popularity.Factor*c.Affinity.Factor, 1e-5, c.ID)
		require.Nil(t, c.Relevance)
		most = max(most, c.Affinity.N)
	}
	require.InDelta(t, 5, most, 0)
}

func TestExplainedItemOfHome(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Recall.N = 50
	a := open(t, cfg, WithClock(at(noon).Now))
	fillHome(t, a)
	promote(t, a, "doc_3")
	_, _, err := a.network.fanout.Store().CreatePost(t.Context(), social.Post{
		ID: "post:cem", Author: "cem", Caption: "Old", CreatedAt: noon.Add(-9000 * time.Hour).Unix(), Audience: social.Audience{Public: true},
	}, social.Creation{At: noon})
	require.NoError(t, err)
	settled(t, a)
	for _, tt := range []struct {
		id, source string
		outcome    api.Outcome
		says       string
	}{
		{"post:ann_0", "following", api.OutcomePaged, "It ranks 1 in following and is at position 1 of the page. The pattern assigns the position to following."},
		{"doc_0", "discovery", api.OutcomePaged, "The pattern assigns the position to trending, which had no item left, so discovery fills it."},
		{"doc_3", "promoted", api.OutcomePaged, "It ranks 1 in promoted and is at position 9 of the page. The pattern assigns the position to promoted."},
		{"post:ann_15", "following", api.OutcomeKept, "of the session after the page"},
		{"post:bob_29", "following", api.OutcomeOutside, "the session, which has at most 50 positions (recall.n), is full before it"},
		{"post:cem", "discovery", api.OutcomeOutside, "No source of home has proposed it"},
		{"nothing", "", api.OutcomeUnknown, "There is no item with this id."},
	} {
		x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "u", Feed: feed.HomeFeed, Limit: 20, Item: tt.id})
		require.NoError(t, err)
		assert.Equal(t, tt.outcome, x.Item.Outcome, tt.id)
		assert.Equal(t, tt.source, x.Item.Source, tt.id)
		assert.Contains(t, x.Item.Reason, tt.says, tt.id)
		assert.Equal(t, tt.source != "", x.Item.Popularity != nil, tt.id)
	}
}

// TestGuestPromoted checks that the guest feed has what is promoted, the same until the next set of
// trending items.
func TestGuestPromoted(t *testing.T) {
	t.Parallel()
	clock := at(noon)
	a := open(t, embedded(t), WithClock(clock.Now))
	items := authored(30)
	for i := range items {
		items[i].Likes = 50
	}
	put(t, a, items...)
	due(t, a)
	promote(t, a, items[6].ID, items[7].ID, items[8].ID, items[9].ID)
	page := guests(t, a, "?limit=20")
	require.Len(t, page.Data.Items, 20)
	assert.True(t, page.Data.Items[8].InFeed.IsPromoted && page.Data.Items[18].InFeed.IsPromoted)
	clock.Advance(2 * time.Minute)
	assert.Equal(t, page.raw, guests(t, a, "?limit=20").raw)
}
