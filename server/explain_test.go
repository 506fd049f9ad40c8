package server

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/social"
)

var explainedAt = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func explain(t *testing.T, a *App, r engine.ExplainRequest) api.Explanation {
	t.Helper()
	if r.Limit == 0 {
		r.Limit = 20
	}
	x, err := a.Engine.Explain(t.Context(), r)
	require.NoError(t, err)
	assertSums(t, x)
	x.Times = api.ExplainTimes{} // they differ with every call
	return x
}

// assertSums checks the invariants of all explanations.
func assertSums(t *testing.T, x api.Explanation) {
	t.Helper()
	n := x.Counts
	require.Equal(t, n.Recalled, n.Seen+n.Pending+n.Muted+n.Gone+n.Group+n.Story+n.Paged+n.Kept)
	require.Len(t, x.Candidates, n.Recalled)
	require.Len(t, x.Page(), n.Paged)
	for i, c := range x.Candidates {
		require.Equal(t, i+1, c.Rank)
		require.Equal(t, x.Origin.Unix()-c.UpdateTime, c.Age)
		if c.Relevance != nil {
			require.InEpsilon(t, c.Score, c.Relevance.Total*c.Decay*c.Popularity.Factor, 1e-5, c.ID)
		}
	}
}

// withOutcome returns the ids of the candidates with an outcome, in order.
func withOutcome(x api.Explanation, outcome api.Outcome) []string {
	list := slices.DeleteFunc(slices.Clone(x.Candidates), func(c api.Explained) bool { return c.Outcome != outcome })
	slices.SortStableFunc(list, func(a, b api.Explained) int {
		if a.Variety == nil || b.Variety == nil {
			return 0
		}
		return a.Variety.Place - b.Variety.Place
	})
	out := []string{}
	for _, c := range list {
		out = append(out, c.ID)
	}
	return out
}

// state returns all state of a system that can affect a feed, and the counts of its answers. It
// excludes caches of content, and the event counts and trending data of earlier refreshes, which
// are written in the background.
func state(t *testing.T, a *App) map[string]string {
	t.Helper()
	out := map[string]string{}
	if client := a.clients.redis; client != nil {
		ctx := t.Context()
		iter := client.Scan(ctx, 0, a.cfg.Redis.KeyPrefix+"*", 1000).Iterator()
		for iter.Next(ctx) {
			key := iter.Val()
			name := strings.TrimPrefix(key, a.cfg.Redis.KeyPrefix)
			if strings.HasPrefix(name, "feed:item:") || strings.HasPrefix(name, "feed:post:") || strings.HasPrefix(name, "feed:profile:") || strings.HasPrefix(name, "events:") || strings.HasPrefix(name, "feed:trending") ||
				name == "popularity:changed:turn" || strings.Contains(name, ":~") { // the turn to publish, and the records of calls: they expire by the clock
				continue
			}
			out[key] = valueOf(t, client, key)
		}
		require.NoError(t, iter.Err())
	}
	require.NoError(t, filepath.WalkDir(filepath.Join(a.cfg.DataDir, "impressions"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // services keep no impressions on disk
		}
		data, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	}))
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, family := range families {
		switch family.GetName() {
		case "freshet_feed_answers_total", "freshet_feed_items_total", "freshet_candidates_total", "freshet_stage_seconds":
			out[family.GetName()] = fmt.Sprint(family.GetMetric())
		}
	}
	out["recalls"] = fmt.Sprint(testutil.ToFloat64(metrics.Recall.Hits), testutil.ToFloat64(metrics.Recall.Misses))
	return out
}

func valueOf(t *testing.T, client redis.UniversalClient, key string) string {
	t.Helper()
	ctx := t.Context()
	kind, err := client.Type(ctx, key).Result()
	require.NoError(t, err)
	switch kind {
	case "list":
		return fmt.Sprint(client.LRange(ctx, key, 0, -1).Val())
	case "zset":
		return fmt.Sprint(client.ZRangeWithScores(ctx, key, 0, -1).Val())
	case "string":
		return client.Get(ctx, key).Val()
	}
	return fmt.Sprint(kind, client.BFInfo(ctx, key).Val())
}

// TestExplainMatchesRefresh follows a reader through a day: the page of an explanation always
// equals the page of the next refresh, and an explanation changes nothing.
func TestExplainMatchesRefresh(t *testing.T) {
	clock := at(explainedAt)
	cfg := embedded(t)
	cfg.Recall.N = 60 // small enough that later refreshes need several rounds
	a := open(t, cfg, WithClock(clock.Now))
	put(t, a, demo.Generate(1, 400, explainedAt)...)
	profile := feed.Profile{Interests: map[string]float64{"go": 3, "music": 2, "space": 1}, Keywords: feed.Keywords("opens", "new")}
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", profile))
	rounds := 0
	for step := range 9 {
		r := engine.ExplainRequest{Agent: "u_1", Limit: 25}
		before := state(t, a)
		x := explain(t, a, r)
		require.Equal(t, x, explain(t, a, r), "asking twice")
		after := state(t, a)
		require.Len(t, after, len(before), "asking changes nothing")
		for name, value := range before {
			require.Equal(t, value, after[name], name)
		}
		require.Equal(t, feed.Control, x.Variant)
		require.Equal(t, explainedAt, x.Origin.Add(-time.Duration(step)*time.Hour))

		answer := ask(t, a, refresh("u_1", 25))
		require.Equal(t, withOutcome(x, api.OutcomePaged), ids(answer), "step %d", step)
		require.Equal(t, x.Counts.Kept > 0, answer.HasMore)
		rounds = max(rounds, x.Counts.Rounds)
		kept := withOutcome(x, api.OutcomeKept)

		x = explain(t, a, r) // an explanation does not affect the session that was just created
		for _, id := range ids(answer) {
			require.NotContains(t, append(withOutcome(x, api.OutcomePaged), withOutcome(x, api.OutcomeKept)...), id)
		}
		if more := ask(t, a, loadMore("u_1", 5)); len(kept) >= 5 {
			require.Equal(t, kept[:5], ids(more))
		}
		waitRecorded(t, a)
		clock.Advance(time.Hour)
	}
	assert.Greater(t, rounds, 1)
}

// TestExplainHomeMatchesRefresh explains home before each of several refreshes. The page of the
// explanation must equal the page of the refresh, each position must have the source that fills it
// and the one it belongs to, and an explanation changes nothing.
func TestExplainHomeMatchesRefresh(t *testing.T) {
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
			waitSettled(t, a)
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
		waitRecorded(t, a)
	}
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

// TestExplainHomeItem explains single items of home: the source, the outcome and the reason of
// each.
func TestExplainHomeItem(t *testing.T) {
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
	waitSettled(t, a)
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

// TestExplainHiddenPost explains posts that moderators hide, or whose author they have suspended: they are not said to be
// deleted.
func TestExplainHiddenPost(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	fillHome(t, a)
	waitSettled(t, a)
	explain := func(id string) *api.ExplainedItem {
		t.Helper()
		x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "u", Feed: feed.HomeFeed, Limit: 20, Item: id})
		require.NoError(t, err)
		return x.Item
	}
	require.Equal(t, api.OutcomePaged, explain("post:ann_0").Outcome)
	for _, m := range []social.Moderate{
		{Object: social.Object{Kind: social.ObjectAuthor, ID: "ann"}, Action: social.ActionSuspend, Until: noon.Add(time.Hour).Unix()},
		{Object: social.Object{Kind: social.ObjectPost, ID: "post:bob_0"}, Action: social.ActionHold},
	} {
		_, err := a.network.fanout.Store().Moderate(t.Context(), m)
		require.NoError(t, err)
	}
	waitSettled(t, a)
	for _, id := range []string{"post:ann_0", "post:bob_0"} {
		require.Contains(t, explain(id).Reason, "moderators hide it or have suspended its author", id)
	}
}
