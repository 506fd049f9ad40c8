package redislist

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestSessionOfOtherVersion reads sessions stored by an older server, without marks, and by a
// possible newer one.
func TestSessionOfOtherVersion(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (redis.UniversalClient, string){
		"one server": func(t *testing.T) (redis.UniversalClient, string) { return testenv.Redis(t) },
		"cluster":    func(t *testing.T) (redis.UniversalClient, string) { return testenv.RedisCluster(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, prefix := open(t)
			s := New(client, Config{KeyPrefix: prefix, TTL: time.Hour, PendingTTL: time.Hour})
			ctx := t.Context()
			require.NoError(t, client.RPush(ctx, s.keys.Session("u", feed.ForYou), "a", "g|b", "c||2?", "h|d|1?", "e||1e", "f||2s").Err())
			call := cache.Call{RequestID: "r1", Action: "load_more", Limit: 6}
			require.NoError(t, client.Set(ctx, s.keys.Page("u", feed.ForYou, "r0"), "load_more 5 o1 1 ~0 x y|z", time.Minute).Err())

			older, found, err := s.Replay(ctx, "u", cache.Call{RequestID: "r0", Action: "load_more", Limit: 5})
			require.NoError(t, err)
			require.True(t, found)
			assert.Equal(t, []feed.Ref{{ID: "x", Group: "x"}, {ID: "z", Group: "y"}}, older.Refs)
			page, err := s.Pop(ctx, cache.Pop{Agent: "u", Limit: 6, Now: noon, Call: call})
			require.NoError(t, err)
			assert.Equal(t, []feed.Ref{
				{ID: "a", Group: "a"},
				{ID: "b", Group: "g"},
				{ID: "c", Group: "c"},
				{ID: "d", Group: "h"},
				{ID: "e", Group: "e", Source: feed.SourceExplore},
				{ID: "f", Group: "f", ShownBefore: true},
			}, page.Refs)
			held, err := client.ZRange(ctx, s.keys.Pending("u"), 0, -1).Result()
			require.NoError(t, err)
			assert.ElementsMatch(t, []string{"a", "g", "b", "c", "h", "d", "e", "~e~e", "f"}, held)
		})
	}
}

// TestRequestIDInBothFeeds reads what servers before 0.2.0 have recorded, which accepted one
// request id in both feeds: each call is still answered with its page.
func TestRequestIDInBothFeeds(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s, ctx := New(client, Config{KeyPrefix: prefix}), t.Context()
	for name, id := range map[feed.Name]string{feed.ForYou: "a", feed.HomeFeed: "b"} {
		require.NoError(t, client.Set(ctx, s.keys.Page("u", name, "r1"), "refresh 2 o1 1 ~0 "+id, time.Minute).Err())
	}
	for name, id := range map[feed.Name]string{feed.ForYou: "a", feed.HomeFeed: "b"} {
		page, found, err := s.Replay(ctx, "u", cache.Call{RequestID: "r1", Owner: "o2", Feed: name, Action: "refresh", Limit: 2})
		require.NoError(t, err)
		require.True(t, found)
		assert.Equal(t, []feed.Ref{{ID: id, Group: id}}, page.Refs)
	}
}

// TestRecordReadByOlderVersion: older servers must also be able to read the record of a first
// refresh, so its mark is in a place that they read as part of the owner.
func TestRecordReadByOlderVersion(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s, ctx := New(client, Config{KeyPrefix: prefix}), t.Context()
	call := cache.Call{RequestID: "r1", Owner: "o1", Action: "refresh", Limit: 2}
	ranked := []feed.Ref{feed.ParseRef("a"), feed.ParseRef("b"), feed.ParseRef("c")}
	page, err := s.Replace(ctx, cache.Replace{Agent: "u", Ranked: ranked, Limit: 2, Now: noon, Call: call})
	require.NoError(t, err)
	require.True(t, page.First)
	key := s.keys.Page("u", feed.ForYou, "r1")
	text, err := client.Get(ctx, key).Result()
	require.NoError(t, err)
	assert.Regexp(t, `^\S+ \S+ \S+ [01] ~0 a b$`, text)

	// The older server rewrites the record with its own call, as this one does.
	rewritten := "!o2 " + strings.Replace(text, "~0 a b", "~0 ^3^a ^3^b", 1)
	call.Owner = "o2"
	_, _, err = s.Replay(ctx, "u", call)
	require.NoError(t, err)
	assert.Equal(t, rewritten, client.Get(ctx, key).Val())
	require.NoError(t, client.Set(ctx, key, rewritten, time.Minute).Err())
	for _, owner := range []string{"o1", "o2", "o3"} {
		call.Owner = owner
		page, found, err := s.Replay(ctx, "u", call)
		require.NoError(t, err, owner)
		require.True(t, found, owner)
		assert.True(t, page.First, owner)
		assert.Equal(t, owner != "o1", page.Replayed, owner)
		assert.Equal(t, ranked[:2], page.Refs, owner)
	}
}
