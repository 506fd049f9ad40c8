package server

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// ask calls the feed as a request whose round trips count.
func (h *trips) ask(t *testing.T, a *App, r engine.Request) engine.Answer {
	t.Helper()
	answer, err := a.Engine.Feed(context.WithValue(t.Context(), requested{}, true), r)
	require.NoError(t, err)
	return answer
}

// atMost checks the number of round trips since the last check.
func (h *trips) atMost(t *testing.T, n int, what string) {
	t.Helper()
	sent := h.take()
	assert.LessOrEqual(t, len(sent), n, what, sent)
}

func (h *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if ctx.Value(requested{}) != nil && cmd.Name() != "hello" { // which opens a connection
			h.note(cmd.Name())
		}
		return next(ctx, cmd)
	}
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if ctx.Value(requested{}) != nil && cmds[0].Name() != "client" {
			h.note(fmt.Sprintf("pipeline of %d", len(cmds)))
		}
		return next(ctx, cmds)
	}
}

// requested marks the context of a request, as background work also calls Redis.
type requested struct{}

// TestRedisRoundTripBudget checks the budget: one round trip for a load_more, three for a refresh,
// and one more to hydrate the page. The items of a page leave the session of the other feed in the
// same round trip, and a timeline needs one to record what it shows.
func TestRedisRoundTripBudget(t *testing.T) {
	testenv.WithoutRace(t)
	cfg := withPostgres(t)
	held := WithRecorder(dedup.RecorderConfig{Linger: time.Hour}) // the recorder's round trips are not counted
	a := open(t, cfg, WithClock(at(noon).Now), held)
	put(t, a, madeItems(200)...)
	fillHome(t, a)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"tag-1": 2}}))
	require.NoError(t, a.Catalog.Learn(t.Context(), "u_1", func(l *feed.Learning) bool { // loaded with the profile
		tag := feed.WeightedFeature{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "tag-2"}, Weight: 1}
		return l.Add([]feed.LearningAct{{Kind: feed.Liked, Group: "a", At: noon, Features: []feed.WeightedFeature{tag}}}, 0, noon)
	}))
	for _, author := range []string{"ann", "bob"} {
		_, err := a.network.fanout.Store().Follow(t.Context(), "warm", author, time.Time{})
		require.NoError(t, err)
	}
	waitSettled(t, a)
	// A write leaves a mark that prevents caching for some seconds.
	clearCache(t, a, "item")
	// Warm up: build lists, cache contents and cards, load scripts and read shard counts.
	ask(t, a, engine.Request{Agent: "warm", Action: engine.ActionRefresh, Limit: 5, RequestID: "r"})
	for _, reader := range []string{"warm", "u"} {
		ask(t, a, refresh(reader, 5))
		ask(t, a, ofHome(refresh(reader, 5)))
		ask(t, a, loadMore(reader, 5))
	}
	for range 4 {
		ask(t, a, loadMore("warm", 100))
	}
	readTimeline(t.Context(), t, a, "warm", 60)
	readTimeline(t.Context(), t, a, "u", 2)
	h := &trips{}
	a.clients.redis.AddHook(h)
	h.ask(t, a, refresh("u_1", 20))
	h.atMost(t, 4, "refresh: profile, dedup, page, hydrate: %v")
	h.ask(t, a, loadMore("u_1", 20))
	h.atMost(t, 2, "load_more: page, hydrate: %v")
	explained := loadMore("u_1", 20)
	explained.Why = true
	require.Len(t, h.ask(t, a, explained).Why, 20)
	h.atMost(t, 2, "reasons cost Redis nothing: %v")
	h.ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 20, RequestID: "r"})
	h.atMost(t, 5, "with a request id the retry check is sent beside the profile: %v")
	h.ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 20, Silent: true})
	h.atMost(t, 4, "silent: last refresh, profile, dedup, hydrate: %v")
	h.ask(t, a, loadMore("u", 5))
	h.atMost(t, 2, "load_more of who reads two feeds: page, hydrate: %v")
	h.ask(t, a, ofHome(loadMore("u", 5)))
	h.atMost(t, 2, "load_more of home: page, hydrate: %v")
	readTimeline(context.WithValue(t.Context(), requested{}, true), t, a, "u", 20)
	sent := h.take()
	assert.Len(t, sent, 3, "a timeline: profile, list, what it shows: %v", sent)
}

func ofHome(r engine.Request) engine.Request {
	r.Feed = feed.HomeFeed
	return r
}

func readTimeline(ctx context.Context, t *testing.T, a *App, reader string, limit int) {
	t.Helper()
	page, err := a.network.timelines.Timeline(ctx, timeline.Request{Agent: reader, Limit: limit})
	require.NoError(t, err)
	require.Len(t, page.Posts, limit)
	require.Empty(t, page.Degraded)
}

// BenchmarkRefreshManySeen measures a refresh of readers who have seen the given number of real
// posts, the best ones first. The clock stands still, so that no refresh runs out of time.
func BenchmarkRefreshManySeen(b *testing.B) {
	posts := testenv.Posts(b)
	now := time.Unix(posts[len(posts)-1].UpdateTime, 0).Add(time.Hour)
	for _, m := range modes {
		a := open(b, m.config(b), WithClock(at(now).Now))
		put(b, a, posts...)
		_, lists, err := a.Engine.Rank(b.Context(), "anybody", now, len(posts), a.cfg.Ranking)
		require.NoError(b, err)
		for _, seen := range []int{0, 2000, 10_000, len(posts)} {
			b.Run(fmt.Sprintf("%s/seen=%d", m.name, seen), func(b *testing.B) {
				const readers = 10
				for r := range readers {
					haveSeen(b, a, fmt.Sprintf("u_%d_%d", seen, r), lists[0][:seen], now)
				}
				var took []time.Duration
				for b.Loop() {
					agent := fmt.Sprintf("u_%d_%d", seen, len(took)%readers)
					begun := time.Now()
					answer, err := a.Engine.Feed(b.Context(), refresh(agent, 20))
					took = append(took, time.Since(begun))
					if err != nil || (len(answer.Docs) < 20) != (seen == len(posts)) {
						b.Fatal(len(answer.Docs), err)
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}

func haveSeen(b *testing.B, a *App, agent string, list []feed.Candidate, now time.Time) {
	for part := range slices.Chunk(list, 1000) {
		batch := make([]dedup.Impression, len(part))
		for i, c := range part {
			batch[i] = dedup.Impression{Agent: agent, Group: c.Group}
		}
		_, err := a.stores.dedup.Record(b.Context(), batch, now)
		require.NoError(b, err)
	}
}
