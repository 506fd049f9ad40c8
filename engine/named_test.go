package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// taggedRig returns a rig of n items, of which each third has the tag Go, and each fifth is in German.
func taggedRig(t *testing.T, n int, change func(*engine.Stores, *engine.Config)) *rig {
	t.Helper()
	r := newRig(t, 0, change)
	all := items(n)
	for i := range all {
		if i%3 == 0 {
			all[i].Tags = []string{"Go"}
		}
		if i%5 == 0 {
			all[i].Lang = "de"
		}
	}
	r.put(t, all...)
	return r
}

func of(name feed.Name, r engine.Request) engine.Request {
	r.Feed = name
	return r
}

// every returns the ids of each step-th item from one index up to another.
func every(step, from, to int) (ids []string) {
	for i := from; i < to; i += step {
		ids = append(ids, fmt.Sprintf("i%03d", i))
	}
	return ids
}

// again returns the ids that are marked as shown before.
func again(a engine.Answer) (ids []string) {
	for _, ref := range a.Refs {
		if ref.ShownBefore {
			ids = append(ids, ref.ID)
		}
	}
	return ids
}

func TestNamedFeed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*engine.Stores, *engine.Config){"open": nil, "closed": closed, "shows again": showsAgain} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := taggedRig(t, 60, change)
			a := r.ask(t, of("tag:GO", refresh(5)))
			assert.Equal(t, every(3, 0, 15), docIDs(a))
			assert.True(t, a.HasMore)
			assert.Empty(t, again(a))
			assert.Equal(t, []string{"i001", "i002", "i004"}, docIDs(r.ask(t, refresh(3))), "for-you shows nothing of it")

			a = r.ask(t, of("lang:de", refresh(4)))
			assert.Equal(t, every(5, 0, 20), docIDs(a))
			assert.Equal(t, []string{"i000"}, again(a), "another feed has shown it")

			// It has replaced the session of the tag, which knows what it has shown itself.
			a = r.ask(t, of("tag:go", loadMore(5)))
			assert.Equal(t, every(3, 15, 30), docIDs(a))
			assert.Equal(t, []string{"i015"}, again(a))
			r.settled(t)
			a = r.ask(t, of("tag:go", refresh(50)))
			assert.Equal(t, every(3, 30, 60), docIDs(a))
			assert.Empty(t, again(a))
			assert.Empty(t, docIDs(r.ask(t, of("tag:go", refresh(50)))))
			assert.Empty(t, docIDs(r.ask(t, of("tag:nothing", refresh(50)))))

			r.settled(t)
			r.advance(6 * 24 * time.Hour)
			assert.Empty(t, docIDs(r.ask(t, of("tag:go", refresh(50)))), "for seven days")
			r.advance(24 * time.Hour)
			assert.Len(t, docIDs(r.ask(t, of("tag:go", refresh(50)))), 20)
		})
	}
}

// TestNamedFeedLeavesSessions has a session of each feed with the same items.
func TestNamedFeedLeavesSessions(t *testing.T) {
	t.Parallel()
	r := taggedRig(t, 30, nil)
	r.ask(t, of("tag:go", refresh(2)))
	r.ask(t, refresh(2))
	a := r.ask(t, loadMore(6))
	assert.Equal(t, []string{"i004", "i005", "i006", "i007", "i008", "i009"}, docIDs(a))
	r.settled(t)
	a = r.ask(t, of("tag:go", loadMore(3)))
	assert.Equal(t, every(3, 12, 21), docIDs(a), "for-you has shown i006 and i009 meanwhile")
	assert.Empty(t, again(a))
	r.settled(t)
	assert.Equal(t, []string{"i010", "i011", "i013", "i014", "i016"}, docIDs(r.ask(t, loadMore(5))))
	a = r.ask(t, of("tag:go", refresh(9)))
	assert.Equal(t, []string{"i006", "i009", "i021", "i024", "i027"}, docIDs(a))
	assert.Equal(t, []string{"i006", "i009"}, again(a))
}

func TestNamedFeedRetry(t *testing.T) {
	t.Parallel()
	r := taggedRig(t, 60, nil)
	r.ask(t, refresh(4))
	first := r.ask(t, named(of("tag:go", refresh(4)), "r1"))
	require.Equal(t, []string{"i000", "i003"}, again(first))
	r.settled(t)
	retry := r.ask(t, named(of("tag:Go", refresh(4)), "r1"))
	assert.Equal(t, first.Refs, retry.Refs)
	for _, other := range []feed.Name{"lang:de", feed.ForYou, feed.HomeFeed} {
		_, err := r.Feed(t.Context(), named(of(other, refresh(4)), "r1"))
		require.ErrorIs(t, err, feed.ErrConflict, other)
	}
}

func TestNamedFeedBadge(t *testing.T) {
	t.Parallel()
	r := taggedRig(t, 30, nil)
	r.ask(t, of("tag:go", refresh(2)))
	r.ask(t, of("lang:de", refresh(2)))
	r.advance(time.Hour)
	it := aged("fresh", "", 0)
	it.UpdateTime, it.Tags = r.clock().Add(-time.Minute).Unix(), []string{"go"}
	other := it
	other.ID, other.Tags = "other", nil
	r.put(t, it, other)
	a := r.ask(t, of("tag:go", silent(9)))
	assert.Equal(t, []string{"fresh"}, docIDs(a))
	assert.Equal(t, 1, a.NewCount)
	assert.Empty(t, docIDs(r.ask(t, of("lang:de", silent(9)))))
	assert.Equal(t, 1, r.ask(t, of("tag:go", silent(9))).NewCount, "it changes nothing")
}

func TestNamedFeedMutes(t *testing.T) {
	t.Parallel()
	r := taggedRig(t, 30, nil)
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{MutedItems: []string{"i003"}, MutedTags: []string{"nothing"}}))
	r.remove(t, "i009")
	assert.Equal(t, []string{"i000", "i006", "i012"}, docIDs(r.ask(t, of("tag:go", refresh(3)))))
	r.removeBehind(t, "i015")
	assert.Equal(t, []string{"i018", "i021"}, docIDs(r.ask(t, of("tag:go", loadMore(2)))), "pages are full")
}

func TestNamedFeedOutage(t *testing.T) {
	t.Parallel()
	r := taggedRig(t, 60, nil)
	r.ask(t, refresh(4))
	r.ask(t, of("tag:go", refresh(2)))
	r.seen.down(dedup.ErrUnavailable)
	r.sessions.down(cache.ErrUnavailable)
	a := r.ask(t, of("tag:go", refresh(3)))
	assert.Equal(t, []string{"dedup", "session"}, a.Degraded)
	assert.Equal(t, every(3, 6, 15), docIDs(a))
	r.seen.up()
	r.sessions.up()
	assert.Equal(t, every(3, 15, 24), docIDs(r.ask(t, of("tag:go", refresh(3)))))
}

func TestStoredFeed(t *testing.T) {
	t.Parallel()
	live := &feed.Live{Ranking: dayLong()}
	live.Feeds = live.WithFeed(feed.StoredFeed{
		Name: "both", Filter: feed.Filter{All: feed.Conditions{Tags: []string{"go"}}, None: feed.Conditions{Langs: []string{"de"}}},
		Ranking: []byte(`{"base":0.5}`), Readers: []string{"u_1", "u_2"},
	})
	require.NoError(t, live.Validate())
	r := taggedRig(t, 40, func(_ *engine.Stores, cfg *engine.Config) { cfg.Rankings = live })
	assert.Equal(t, []string{"i003", "i006", "i009"}, docIDs(r.ask(t, of("both", refresh(3)))))
	for name, agent := range map[feed.Name]string{"both": "u_3", "other": "u_1"} {
		_, err := r.Feed(t.Context(), engine.Request{Agent: agent, Feed: name, Action: engine.ActionLoadMore, Limit: 3})
		require.ErrorIs(t, err, feed.ErrNotFound)
		require.ErrorContains(t, err, "there is no feed "+string(name))
	}
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_3", Feed: "both", Limit: 2})
	require.NoError(t, err, "explanations are for operators")
	assert.InDelta(t, 0.5, x.Ranking.Base, 0)
	live.Feeds, err = live.WithoutFeed("both")
	require.NoError(t, err)
	_, err = r.Feed(t.Context(), of("both", loadMore(3)))
	require.ErrorIs(t, err, feed.ErrNotFound, "also with a session")
}

func TestNamedFeedExplained(t *testing.T) {
	t.Parallel()
	r := taggedRig(t, 30, nil)
	r.ask(t, refresh(1))
	r.ask(t, of("tag:go", refresh(2)))
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Feed: "tag:go", Limit: 2, Item: "i001"})
	require.NoError(t, err)
	assert.Equal(t, feed.Name("tag:go"), x.Feed)
	assert.Equal(t, 10, x.Counts.Recalled)
	assert.Equal(t, 2, x.Counts.Paged)
	assert.Equal(t, 2, x.Counts.Pending)
	assert.Equal(t, api.OutcomeOutside, x.Item.Outcome)
	assert.Contains(t, x.Item.Reason, "The feed does not select it")

	x, err = r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Feed: "lang:de", Limit: 9})
	require.NoError(t, err)
	at := slices.IndexFunc(x.Candidates, func(c api.Explained) bool { return c.ID == "i000" })
	require.GreaterOrEqual(t, at, 0)
	assert.True(t, x.Candidates[at].ShownBefore)
	assert.Equal(t, api.OutcomePaged, x.Candidates[at].Outcome)
}

// TestNamedFeedCounts checks that what named feeds show counts for no variant.
func TestNamedFeedCounts(t *testing.T) {
	t.Parallel()
	r := taggedRig(t, 30, nil)
	r.ask(t, of("tag:go", refresh(2)))
	taken, err := r.React(t.Context(), "u_1", []engine.Act{{Kind: events.Click, ID: "i003"}})
	require.NoError(t, err)
	assert.Equal(t, 1, taken.Accepted)
	assert.Empty(t, r.tally.delivered)
	assert.Zero(t, r.tally.acts)
	assert.Equal(t, docIDs(r.ask(t, refresh(1))), r.tally.delivered)
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Pending}, r.verdicts(t, "i000", feed.ScopedKey(feed.Name("tag:go").Scope(), "i000")))
}

// TestNamedFeedItemsChange changes the tags of items, and the conditions of a stored feed, while a session is paged.
func TestNamedFeedItemsChange(t *testing.T) {
	t.Parallel()
	tagged := feed.StoredFeed{Name: "both", Filter: feed.Filter{All: feed.Conditions{Tags: []string{"go"}}}}
	for _, name := range []feed.Name{"tag:go", "both"} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			live := &feed.Live{Ranking: dayLong(), Feeds: []feed.StoredFeed{tagged}}
			r := taggedRig(t, 40, func(_ *engine.Stores, cfg *engine.Config) { cfg.Rankings = live })
			assert.Equal(t, every(3, 0, 6), docIDs(r.ask(t, of(name, refresh(2)))))
			it := items(7)[6]
			it.Tags = []string{"rust"}
			r.put(t, it)
			assert.Equal(t, every(3, 9, 15), docIDs(r.ask(t, of(name, loadMore(2)))), "it has another tag now")
			it.Tags = []string{"go"}
			r.index.Upsert([]feed.Item{it}) // it lags behind
			x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Feed: name, Limit: 2, Item: "i006"})
			require.NoError(t, err)
			assert.Contains(t, x.Item.Reason, "the feed does not select it any more")
			it.Tags = []string{"rust", "GO"}
			r.put(t, it)
			a := r.ask(t, of(name, refresh(2)))
			assert.Equal(t, []string{"i006", "i015"}, docIDs(a), "it has not been shown")
			assert.Empty(t, again(a))
		})
	}
	t.Run("the feed changes", func(t *testing.T) {
		t.Parallel()
		live := &feed.Live{Ranking: dayLong(), Feeds: []feed.StoredFeed{tagged}}
		r := taggedRig(t, 40, func(_ *engine.Stores, cfg *engine.Config) { cfg.Rankings = live })
		assert.Equal(t, every(3, 0, 6), docIDs(r.ask(t, of("both", refresh(2)))))
		stricter := tagged
		stricter.None.Langs = []string{"de"}
		live.Feeds = live.WithFeed(stricter)
		assert.Equal(t, []string{"i006", "i009", "i012", "i018"}, docIDs(r.ask(t, of("both", loadMore(4)))), "i015 is in German")
		live.Feeds = live.WithFeed(tagged)
		assert.Equal(t, []string{"i015", "i021"}, docIDs(r.ask(t, of("both", refresh(2)))))
	})
	t.Run("only the index knows", func(t *testing.T) {
		t.Parallel()
		asked := 0
		r := taggedRig(t, 40, func(_ *engine.Stores, cfg *engine.Config) {
			cfg.ContentDecides = func(p *feed.Profile) bool {
				asked++
				return len(p.MutedTags) == 0
			}
		})
		r.ask(t, of("tag:go", refresh(2)))
		it := items(7)[6]
		it.Tags = nil
		r.put(t, it)
		assert.Equal(t, every(3, 6, 12), docIDs(r.ask(t, of("tag:go", loadMore(2)))))
		assert.Positive(t, asked)
	})
}
