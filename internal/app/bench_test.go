package app

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// The benchmarks of the budgets. Each measures Freshet and its baseline in
// turns; docs/performance.md says what came out and how to repeat it.

// BenchmarkLoadMoreServices compares with a handler that pops twenty ids and
// reads twenty items.
func BenchmarkLoadMoreServices(b *testing.B) {
	const agents = 10 * benchClients
	client, _ := testenv.Redis(b)
	cfg := services(b)
	a, addr := running(b, cfg)
	items := sessionItems()
	put(b, a, items...)
	keys := rediskeys.For(client, cfg.Redis.KeyPrefix)
	least := cached(b, client, keys, items)
	refs := make([]any, len(items))
	for i, it := range items {
		refs[i] = it.ID
	}
	prepare := func(agents []string, session func(string) string) {
		pipe := client.Pipeline()
		for _, agent := range agents {
			pipe.RPush(b.Context(), session(agent), refs...)
			pipe.PExpire(b.Context(), session(agent), cfg.Sessions.TTL)
			pipe.Set(b.Context(), keys.Profile(agent), "null", time.Hour)
		}
		_, err := pipe.Exec(b.Context())
		require.NoError(b, err)
	}
	list := func(agent string) string { return cfg.Redis.KeyPrefix + "bare:" + agent }
	bareAddr := bare(b, popAndRead(client, list, keys.Item))
	ratios(b, func(round int) float64 {
		names := benchAgents(round, agents)
		prepare(names, list)
		return load(b, bareAddr, names, least)
	}, func(round int) float64 {
		names := benchAgents(round, agents)
		prepare(names, keys.Session)
		return load(b, addr, names, least)
	})
}

// cached puts the items' JSON where the content cache has it, and returns the
// least that a page of them has.
func cached(b *testing.B, client redis.UniversalClient, keys rediskeys.Keys, items []feed.Item) int {
	b.Helper()
	pipe := client.Pipeline()
	shortest := 1 << 20
	for _, it := range items {
		text, err := it.MarshalJSON()
		require.NoError(b, err)
		shortest = min(shortest, len(text))
		pipe.Set(b.Context(), keys.Item(it.ID), text, time.Hour)
	}
	_, err := pipe.Exec(b.Context())
	require.NoError(b, err)
	return benchPage * shortest
}

// popAndRead is the least a feed can do with Redis: LPOP, MGET, answer.
func popAndRead(client redis.UniversalClient, list, item func(string) string) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx := c.Request.Context()
		ids, err := client.LPopCount(ctx, list(c.GetHeader("X-Agent-ID")), benchPage).Result()
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		for i, id := range ids {
			ids[i] = item(id)
		}
		values, err := client.MGet(ctx, ids...).Result()
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		page := append(make([]byte, 0, 16<<10), `{"code":0,"msg":"success","data":{"items":[`...)
		for i, v := range values {
			if i > 0 {
				page = append(page, ',')
			}
			text, _ := v.(string)
			page = append(page, text...)
		}
		write(c, append(page, `],"has_more":true}}`...))
	}
}

// BenchmarkLoadMoreEmbedded compares with a handler that writes the same JSON
// from memory.
func BenchmarkLoadMoreEmbedded(b *testing.B) {
	const agents = 25 * benchClients
	a, addr := running(b, embedded(b))
	items := sessionItems()
	put(b, a, items...)
	refs := refsOf(items)
	var page bytes.Buffer
	page.WriteString(`{"code":0,"msg":"success","data":{"items":`)
	require.NoError(b, json.NewEncoder(&page).Encode(items[:benchPage]))
	page.WriteString(`,"has_more":true}}`)
	least := page.Len() / 2
	bareAddr := bare(b, func(c *gin.Context) { write(c, page.Bytes()) })
	ratios(b, func(round int) float64 {
		return load(b, bareAddr, benchAgents(round, agents), least)
	}, func(round int) float64 {
		names := benchAgents(round, agents)
		for _, agent := range names {
			_, err := a.stores.sessions.Replace(b.Context(), cache.Replace{Agent: agent, Ranked: refs, Now: time.Now()})
			require.NoError(b, err)
		}
		return load(b, addr, names, least)
	})
}
