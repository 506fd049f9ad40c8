package app

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	feedclient "github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/demo"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
	memoryrecall "github.com/freshet/freshet/recall/memory"
)

var explainedAt = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func explain(t *testing.T, a *App, r engine.ExplainRequest) engine.Explanation {
	t.Helper()
	if r.Limit == 0 {
		r.Limit = 20
	}
	x, err := a.Engine.Explain(t.Context(), r)
	require.NoError(t, err)
	assertSums(t, x)
	x.Times = engine.ExplainTimes{} // no two are the same
	return x
}

// assertSums checks what holds of every explanation.
func assertSums(t *testing.T, x engine.Explanation) {
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

// withFate are the ids of the candidates that came to this, in order.
func withFate(x engine.Explanation, fate engine.Fate) []string {
	list := slices.DeleteFunc(slices.Clone(x.Candidates), func(c engine.Explained) bool { return c.Fate != fate })
	slices.SortStableFunc(list, func(a, b engine.Explained) int {
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

// state is everything of a system that a feed could come out of differently,
// and what counts its answers. Caches of content are not in it, nor what
// refreshes before count of events, and what trends, off the path of requests.
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
				name == "popularity:changed:turn" || strings.Contains(name, ":~") { // who publishes, and records of calls: they expire by the clock
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
		case "freshet_feed_answers_total", "freshet_feed_items_total", "freshet_candidates_total", "freshet_recall_rounds_total",
			"freshet_recall_shared_total", "freshet_stage_seconds", "freshet_feed_gone_total":
			out[family.GetName()] = fmt.Sprint(family.GetMetric())
		}
	}
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

// TestExplainIsTheRefresh goes through a reader's day: whatever explain says is
// paged is the page of the refresh after it, and asking changes nothing.
func TestExplainIsTheRefresh(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			clock := at(explainedAt)
			cfg := m.config(t)
			cfg.Recall.N = 60 // so that later refreshes need several rounds
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
				brief := r
				brief.Brief = true
				require.Equal(t, withFate(x, engine.FatePaged), withFate(explain(t, a, brief), engine.FatePaged))
				after := state(t, a)
				require.Len(t, after, len(before), "asking changes nothing")
				for name, value := range before {
					require.Equal(t, value, after[name], name)
				}
				require.Equal(t, feed.Control, x.Variant)
				require.Equal(t, explainedAt, x.Origin.Add(-time.Duration(step)*time.Hour))

				answer := ask(t, a, refresh("u_1", 25))
				require.Equal(t, withFate(x, engine.FatePaged), ids(answer), "step %d", step)
				require.Equal(t, x.Counts.Kept > 0, answer.HasMore)
				rounds = max(rounds, x.Counts.Rounds)
				kept := withFate(x, engine.FateKept)

				x = explain(t, a, r) // it does not touch the session that was just built
				for _, id := range ids(answer) {
					require.NotContains(t, append(withFate(x, engine.FatePaged), withFate(x, engine.FateKept)...), id)
				}
				if more := ask(t, a, loadMore("u_1", 5)); len(kept) >= 5 {
					require.Equal(t, kept[:5], ids(more))
				}
				recorded(t, a)
				clock.Advance(time.Hour)
			}
			assert.Greater(t, rounds, 1)
		})
	}
}

// see puts an item into today's filter and nowhere else.
func see(t *testing.T, a *App, id string) {
	t.Helper()
	require.NoError(t, a.Engine.Seen(t.Context(), "u_1", []string{id}))
	require.NoError(t, a.stores.dedup.Settle(t.Context(), []dedup.Impression{{Agent: "u_1", Group: id}}))
}

// fates opens a system in which each candidate of u_1 comes to something else.
func fates(t *testing.T, m mode) (*App, *clock) {
	clock := at(explainedAt.AddDate(0, 0, -2))
	cfg := m.config(t)
	cfg.Recall.N = 4
	cfg.Ranking.Diversity = undealt // the titles are nearly the same
	if cfg.Recall.Backend == configs.RecallElastic {
		neverRefresh(t, cfg)
	}
	a := open(t, cfg, WithClock(clock.Now))
	item := func(id string, minutes int, change func(*feed.Item)) feed.Item {
		it := feed.Item{
			ID: id, Title: "Title of " + id, UpdateTime: explainedAt.Add(time.Hour - time.Duration(minutes)*time.Minute).Unix(),
		}
		if change != nil {
			change(&it)
		}
		return it
	}
	put(t, a,
		item("seen", 61, func(it *feed.Item) { it.Likes, it.Comments = 5, 2 }), item("pending", 62, nil), item("paged-1", 63, nil),
		item("story-1", 64, func(it *feed.Item) { it.GroupID = "story" }),
		item("gone", 181, nil), item("muted", 182, nil),
		item("story-2", 183, func(it *feed.Item) { it.GroupID = "story" }), item("paged-3", 184, nil),
		item("kept", 185, nil), item("paged-4", 300, nil), item("x-1", 400, nil), item("x-2", 500, nil),
		item("outside", 6000, func(it *feed.Item) { it.Tags = []string{"news"} }),
		item("future", 30, nil),
		item("by-ann", 70, func(it *feed.Item) { it.AuthorID = "ann" }),
		item("in-french", 71, func(it *feed.Item) { it.Lang = "fr" }),
		item("about-cats", 72, func(it *feed.Item) { it.Tags = []string{"pets", "cats"} }),
		item("hidden", 73, nil),
	)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{
		Interests:    map[string]float64{"news": 0.5, "cats": 9},
		Langs:        []string{"en", "de"},
		MutedAuthors: []string{"ann"}, MutedTags: []string{"cats"}, MutedItems: []string{"hidden"},
	}))
	see(t, a, "seen")
	clock.Advance(2 * 24 * time.Hour)
	_, err := a.stores.dedup.Claim(t.Context(), "u_1", []string{"pending"}, 1, clock.Now())
	require.NoError(t, err)
	return a, clock
}

func TestExplainFates(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a, _ := fates(t, m)
			// The catalog knows better than recall: what recall still finds was
			// deleted, or is muted by now.
			if index, ok := recall.Direct(a.stores.sources[0]).(*memoryrecall.Source); ok {
				old := []feed.Item{}
				for _, id := range []string{"gone", "muted"} {
					docs, err := a.Catalog.Docs(t.Context(), []string{id})
					require.NoError(t, err)
					it, err := docs[0].Item()
					require.NoError(t, err)
					old = append(old, it)
				}
				changeBehind(t, a)
				index.Upsert(old)
			} else {
				changeBehind(t, a)
			}

			x := explain(t, a, engine.ExplainRequest{Agent: "u_1", Limit: 3})
			got := map[string]engine.Fate{}
			for _, c := range x.Candidates {
				got[c.ID] = c.Fate
			}
			require.Equal(t, map[string]engine.Fate{
				"seen": engine.FateSeen, "pending": engine.FatePending, "paged-1": engine.FatePaged, "story-1": engine.FatePaged,
				"gone": engine.FateGone, "muted": engine.FateMuted, "story-2": engine.FateGroup, "paged-3": engine.FatePaged,
				"kept": engine.FateKept, "paged-4": engine.FateKept, "x-1": engine.FateKept, "x-2": engine.FateKept,
				"outside": engine.FateKept, // the second round is four times the first
			}, got)
			require.Equal(t, engine.ExplainCounts{
				Rounds: 2, Recalled: 13, Seen: 1, Pending: 1, Muted: 1, Gone: 1, Group: 1, Paged: 3, Kept: 5,
			}, x.Counts)
			seen, story := x.Candidates[0], x.Candidates[6]
			require.Equal(t, "20260304", seen.Day)
			require.Equal(t, "Title of seen", seen.Title)
			require.Equal(t, int64(60), seen.Age)
			require.Equal(t, &engine.ExplainedPopularity{Value: 9, Factor: 1}, seen.Popularity)
			require.InEpsilon(t, 0.1, seen.Relevance.Total, 1e-6)
			require.Equal(t, "story-1", story.Better)
			require.Equal(t, withFate(x, engine.FatePaged), ids(ask(t, a, refresh("u_1", 3))))
		})
	}
}

// changeBehind deletes one item and gives another to a muted author, in the
// catalog alone.
func changeBehind(t *testing.T, a *App) {
	t.Helper()
	require.NoError(t, a.Catalog.Remove(t.Context(), "gone"))
	errs, err := a.Catalog.Put(t.Context(), []feed.Item{{
		ID: "muted", Title: "Title of muted", UpdateTime: explainedAt.Add(time.Hour - 182*time.Minute).Unix(), AuthorID: "ann",
	}})
	require.NoError(t, err)
	require.Nil(t, errs)
}

// neverRefresh makes indices whose writes Elasticsearch does not make searchable by
// itself. They are made so: a change of the interval refreshes once more, some time later.
func neverRefresh(t *testing.T, cfg configs.Config) {
	t.Helper()
	client, err := ConnectElastic(cfg, nil)
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), client, cfg.Elasticsearch.Index, esindex.Definition{Fields: indexFields(cfg), RefreshInterval: "-1"})
	require.NoError(t, err)
}

// TestExplainItem asks for single items, candidates and others.
func TestExplainItem(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a, _ := fates(t, m)
			if index, ok := recall.Direct(a.stores.sources[0]).(*memoryrecall.Source); ok {
				put(t, a, feed.Item{ID: "new", Title: "New", UpdateTime: explainedAt.Unix()})
				index.Delete("new")
			} else { // stored, but Elasticsearch does not search it before a refresh of the index
				_, err := a.Catalog.Put(t.Context(), []feed.Item{{ID: "new", Title: "New", UpdateTime: explainedAt.Unix()}})
				require.NoError(t, err)
			}
			for _, tt := range []struct {
				id   string
				fate engine.Fate
				rank int
				says string
			}{
				{"paged-1", engine.FatePaged, 3, "It ranks 3 of 4 and is at place 1 of the page."},
				{"story-1", engine.FateKept, 4, "place 1 of what comes after the page"},
				{"seen", engine.FateSeen, 1, "the filter of 20260304 has it"},
				{"pending", engine.FatePending, 2, "pending set"},
				{"story-2", engine.FateGroup, 0, "story-1 is of the same group story"},
				{"outside", engine.FateOutside, 0, "is behind the 0.1 of the last of the 4 candidates, which were recalled in 1 round; recall goes on only while the page is not full."},
				{"future", engine.FateFuture, 0, "It is dated 2026-03-06T12:30:00Z, which is after 2026-03-06T12:00:00Z"},
				{"by-ann", engine.FateMuted, 0, "its author ann is muted"},
				{"about-cats", engine.FateMuted, 0, "its tag cats is muted"},
				{"in-french", engine.FateMuted, 0, "its language fr is not among en, de"},
				{"hidden", engine.FateMuted, 0, "the agent has hidden hidden"},
				{"new", engine.FateUnfound, 0, "recall does not find it"},
				{"nothing", engine.FateUnknown, 0, "There is no item under this id."},
			} {
				for _, brief := range []bool{false, true} {
					x := explain(t, a, engine.ExplainRequest{Agent: "u_1", Limit: 1, Item: tt.id, Brief: brief})
					require.NotNil(t, x.Item, tt.id)
					assert.Equal(t, tt.id, x.Item.ID)
					assert.Equal(t, tt.fate, x.Item.Fate, tt.id)
					assert.Equal(t, tt.rank, x.Item.Rank, tt.id)
					assert.Contains(t, x.Item.Reason, tt.says, tt.id)
					if tt.fate == engine.FateUnknown {
						continue
					}
					assert.NotEmpty(t, x.Item.Title, tt.id)
					if assert.Equal(t, tt.fate != engine.FateUnfound, x.Item.Relevance != nil, tt.id); x.Item.Relevance != nil {
						assert.InEpsilon(t, x.Item.Score, x.Item.Relevance.Total*x.Item.Decay*x.Item.Popularity.Factor, 1e-5, tt.id)
					}
				}
			}
			outside := explain(t, a, engine.ExplainRequest{Agent: "u_1", Limit: 1, Item: "outside"}).Item
			require.Equal(t, []recall.Gain{{Name: "news", Score: 0.5}}, outside.Relevance.Tags)
			require.NoError(t, a.Engine.Seen(t.Context(), "u_1", []string{"outside"}))
			outside = explain(t, a, engine.ExplainRequest{Agent: "u_1", Limit: 1, Item: "outside"}).Item
			require.Contains(t, outside.Reason, "in the agent's pending set, too")
		})
	}
}

// TestExplainOverrides proposes other parameters, and another time.
func TestExplainOverrides(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			clock := at(explainedAt)
			a := open(t, m.config(t), WithClock(clock.Now))
			put(t, a,
				feed.Item{ID: "new", Title: "n", UpdateTime: explainedAt.Add(-2 * time.Hour).Unix()},
				feed.Item{ID: "popular", Title: "p", UpdateTime: explainedAt.Add(-20 * time.Hour).Unix(), Likes: 999},
				feed.Item{ID: "liked", Title: "l", UpdateTime: explainedAt.Add(-50 * time.Hour).Unix(), Tags: []string{"go"}},
			)
			require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"go": 0.05}}))
			order := func(r engine.ExplainRequest) []string { return withFate(explain(t, a, r), engine.FatePaged) }
			require.Equal(t, []string{"new", "popular", "liked"}, order(engine.ExplainRequest{Agent: "u_1"}))

			_, ranking := a.Engine.Ranking("u_1")
			for change, want := range map[string][]string{
				"weight=5":              {"popular", "new", "liked"},
				"scale=9000h":           {"liked", "new", "popular"},
				"scale=9000h,weight=10": {"popular", "liked", "new"},
			} {
				proposed, err := ranking.With(change)
				require.NoError(t, err)
				r := engine.ExplainRequest{Agent: "u_1", Ranking: &proposed}
				require.Equal(t, want, order(r), change)
				x := explain(t, a, r)
				require.True(t, x.Proposed)
				require.Equal(t, proposed, x.Ranking)
			}
			require.Equal(t, []string{"new", "popular", "liked"}, order(engine.ExplainRequest{Agent: "u_1"}), "nothing stays")

			yesterday := engine.ExplainRequest{Agent: "u_1", At: explainedAt.Add(-19 * time.Hour), Item: "new"}
			x := explain(t, a, yesterday)
			require.Equal(t, []string{"popular", "liked"}, withFate(x, engine.FatePaged))
			require.Equal(t, engine.FateFuture, x.Item.Fate)
			require.Equal(t, yesterday.At, x.Origin)
			require.Equal(t, int64(3600), x.Candidates[0].Age)

			// What is given out today is in no filter of yesterday's window.
			see(t, a, "liked")
			require.Equal(t, []string{"liked"}, withFate(explain(t, a, engine.ExplainRequest{Agent: "u_1"}), engine.FateSeen))
			require.Equal(t, []string{"popular", "liked"}, order(yesterday))
			next := engine.ExplainRequest{Agent: "u_1", At: explainedAt.AddDate(0, 0, 6)}
			require.Equal(t, "20260306", explain(t, a, next).Candidates[0].Day)
			next.At = next.At.AddDate(0, 0, 1)
			require.Equal(t, []string{"liked", "new", "popular"}, order(next), "it has left the window")
		})
	}
}

func TestExplainRefusesBadRequests(t *testing.T) {
	a := open(t, embedded(t), WithClock(at(explainedAt).Now))
	for name, tt := range map[string]struct {
		r    engine.ExplainRequest
		want error
	}{
		"no agent":  {engine.ExplainRequest{Limit: 1}, feed.ErrBadID},
		"no limit":  {engine.ExplainRequest{Agent: "u"}, engine.ErrBadLimit},
		"limit":     {engine.ExplainRequest{Agent: "u", Limit: 101}, engine.ErrBadLimit},
		"item":      {engine.ExplainRequest{Agent: "u", Limit: 1, Item: "a b"}, feed.ErrBadID},
		"ranking":   {engine.ExplainRequest{Agent: "u", Limit: 1, Ranking: &feed.Ranking{}}, feed.ErrBadRanking},
		"too early": {engine.ExplainRequest{Agent: "u", Limit: 1, At: time.Unix(-1, 0)}, engine.ErrBadTime},
		"too late":  {engine.ExplainRequest{Agent: "u", Limit: 1, At: time.Unix(feed.MaxItemTime+1, 0)}, engine.ErrBadTime},
	} {
		_, err := a.Engine.Explain(t.Context(), tt.r)
		assert.ErrorIs(t, err, tt.want, name)
	}
	x := explain(t, a, engine.ExplainRequest{Agent: "nobody"})
	require.NotNil(t, x.Candidates)
	require.Equal(t, engine.ExplainCounts{Rounds: 1}, x.Counts)
}

// assertClientReads checks that the client package has a field for everything
// there is in an answer, and no other.
func assertClientReads(t *testing.T, data string) {
	t.Helper()
	var x feedclient.Explanation
	require.NoError(t, json.Unmarshal([]byte(data), &x))
	again, err := json.Marshal(x)
	require.NoError(t, err)
	require.JSONEq(t, data, string(again))
}

// TestExplainOverHTTP asks as an admin in each way to tell callers apart.
func TestExplainOverHTTP(t *testing.T) {
	const token = "an-admin-token-for-tests"
	for name, tt := range map[string]struct {
		change  func(*configs.Config)
		options []Option
		header  string
		status  int
	}{
		"header mode": {func(c *configs.Config) { c.Auth.AdminToken = token }, nil, "X-Admin-Token: " + token, http.StatusOK},
		"jwt mode": {func(c *configs.Config) {
			c.Auth.AdminToken, c.Auth.Mode, c.Auth.JWT.Secret = token, configs.ModeJWT, strings.Repeat("s", 32)
		}, nil, "Authorization: Bearer " + token, http.StatusOK},
		"demo on this machine": {nil, []Option{WithDemo()}, "", http.StatusOK},
		"no token set":         {nil, nil, "X-Admin-Token: " + token, http.StatusForbidden},
		"an agent":             {func(c *configs.Config) { c.Auth.AdminToken = token }, nil, "X-Agent-ID: u_1", http.StatusForbidden},
		"nobody":               {func(c *configs.Config) { c.Auth.AdminToken = token }, nil, "", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := embedded(t)
			if tt.change != nil {
				tt.change(&cfg)
			}
			a := open(t, cfg, append(tt.options, WithClock(at(explainedAt).Now))...)
			server := httptest.NewServer(a.Handler)
			defer server.Close()
			put(t, a, feed.Item{ID: "a", Title: "t", UpdateTime: explainedAt.Add(-25 * time.Hour).Unix()})
			s := outsider{t: t, url: server.URL, n: new(int)}
			body := `{"agent_id":"u_9","item":"a","ranking":{"decay":{"decay":0.25}},"at":"2026-03-06T12:00:00Z"}`
			var headers []string
			if tt.header != "" {
				headers = append(headers, tt.header)
			}
			status, _, data := s.call(http.MethodPost, "/v1/explain", body, headers...)
			require.Equal(t, tt.status, status)
			if status != http.StatusOK {
				require.Empty(t, data)
				return
			}
			var x engine.Explanation
			require.NoError(t, json.Unmarshal([]byte(data), &x))
			if len(tt.options) == 0 { // readers of the demo click while it is explained
				assertSums(t, x)
			}
			require.NotNil(t, x.Item)
			require.InEpsilon(t, 0.25, x.Item.Decay, 1e-9)
			assertClientReads(t, data)
			require.Equal(t, 24*time.Hour, x.Ranking.Decay.Scale, "what is not named stays")
		})
	}
}
