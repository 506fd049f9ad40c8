package rediscards_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/rediscards"
)

func onEach(t *testing.T, test func(t *testing.T, client redis.UniversalClient, prefix string)) {
	t.Run("one server", func(t *testing.T) {
		client, prefix := testenv.Redis(t)
		test(t, client, prefix)
	})
	t.Run("cluster", func(t *testing.T) {
		client, prefix := testenv.RedisCluster(t)
		test(t, client, prefix)
	})
}

func card(id string, version int64) social.Card {
	return social.Card{
		ID: id, Visible: true, Public: true, Version: version, CreatedAt: 1_772_000_000,
		Content: json.RawMessage(fmt.Sprintf(`{"id":%q,"caption":"version %d"}`, id, version)),
		Author:  social.Author{ID: "ann", Name: "Ann"}, Likes: 3, Comments: 2, Likers: 2, Commenters: 1,
		NotRecommended: version%2 == 0,
	}
}

func kept(t *testing.T, c *rediscards.Cards, ids ...string) []social.Card {
	t.Helper()
	cards, err := c.Cached(t.Context(), ids)
	require.NoError(t, err)
	require.Len(t, cards, len(ids))
	return cards
}

func TestCardsStored(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		c := rediscards.New(client, prefix)
		assert.Empty(t, kept(t, c))
		a, b := card("post:a", 1), card("post:b", 7)
		toReader := a // the answer to one reader
		toReader.Reason, toReader.HasLiked, toReader.CanReply, toReader.CanReact = social.Follow, true, true, true
		closed, hidden, bare := card("post:closed", 1), card("post:hidden", 1), card("post:bare", 1)
		closed.Public, hidden.Visible, bare.Content = false, false, nil
		require.NoError(t, c.Put(t.Context(), []social.Card{toReader, b, closed, hidden, bare}))
		none := func(id string) social.Card { return social.Card{ID: id} }
		assert.Equal(t, []social.Card{b, none("post:closed"), none("post:hidden"), none("post:bare"), a, none("post:c"), a},
			kept(t, c, "post:b", "post:closed", "post:hidden", "post:bare", "post:a", "post:c", "post:a"), "nothing about the reader")
		ttl, err := client.PTTL(t.Context(), rediskeys.For(client, prefix).Post("post:a")).Result()
		require.NoError(t, err)
		assert.Greater(t, ttl, 59*time.Minute)
		assert.LessOrEqual(t, ttl, time.Hour)
	})
}

// TestNewestVersionStored writes versions and tombstones of a post in every order: the newest
// one is retained.
func TestNewestVersionStored(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		c := rediscards.New(client, prefix)
		writes := map[string]func(id string) error{
			"1":      func(id string) error { return c.Put(t.Context(), []social.Card{card(id, 1)}) },
			"2":      func(id string) error { return c.Put(t.Context(), []social.Card{card(id, 2)}) },
			"gone 2": func(id string) error { return c.Remove(t.Context(), []social.PostVersion{{ID: id, Version: 2}}) },
			"10":     func(id string) error { return c.Put(t.Context(), []social.Card{card(id, 10)}) },
			"gone 9": func(id string) error { return c.Remove(t.Context(), []social.PostVersion{{ID: id, Version: 9}}) },
		}
		n := 0
		for _, test := range []struct {
			writes []string
			want   int64 // 0: deleted
		}{
			{[]string{"1", "2"}, 2},
			{[]string{"1", "gone 2"}, 0},
			{[]string{"1", "2", "gone 2"}, 0},
			{[]string{"1", "2", "gone 9"}, 0},
			{[]string{"1", "gone 2", "gone 9", "10"}, 10},
		} {
			permutations(test.writes, func(order []string) {
				n++
				id := fmt.Sprintf("post:%d", n)
				for _, w := range order {
					require.NoError(t, writes[w](id))
					require.NoError(t, writes[w](id), "twice is harmless")
				}
				assert.Equal(t, test.want, kept(t, c, id)[0].Version, strings.Join(order, ", "))
			})
		}
	})
}

// TestScriptNotLoaded checks that a server gets a script it lacks when the card of another
// server, which is down, fails first.
func TestScriptNotLoaded(t *testing.T) {
	t.Parallel()
	client, serves := testenv.RedisClusterOneDown(t)
	c, keys := rediscards.New(client, ""), rediskeys.For(client, "")
	var down, up []social.Card
	for i := range 40 {
		a := card(fmt.Sprintf("post:%d", i), 1)
		if serves(keys.Post(a.ID)) {
			up = append(up, a)
		} else {
			down = append(down, a)
		}
	}
	require.NotEmpty(t, down)
	require.NotEmpty(t, up)
	require.ErrorIs(t, c.Put(t.Context(), append(down, up...)), social.ErrCacheUnavailable)
	for _, a := range up {
		require.EqualValues(t, 1, client.Exists(t.Context(), keys.Post(a.ID)).Val(), a.ID)
	}
}

func permutations(list []string, do func([]string)) {
	var walk func(k int)
	walk = func(k int) {
		if k == len(list) {
			do(list)
			return
		}
		for i := k; i < len(list); i++ {
			list[k], list[i] = list[i], list[k]
			walk(k + 1)
			list[k], list[i] = list[i], list[k]
		}
	}
	walk(0)
}

func TestErasedAuthors(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		c := rediscards.New(client, prefix)
		other := card("post:other", 1)
		other.Author.ID = "bob"
		require.NoError(t, c.Put(t.Context(), []social.Card{card("post:a", 1), other}))
		require.NoError(t, c.Erase(t.Context(), "ann"))
		require.NoError(t, c.Put(t.Context(), []social.Card{card("post:late", 1)}))
		got := kept(t, c, "post:a", "post:other", "post:late")
		assert.Equal(t, []social.Card{{ID: "post:a"}, other, {ID: "post:late"}}, got)
		ttl, err := client.PTTL(t.Context(), rediskeys.For(client, prefix).ErasedAuthor("ann")).Result()
		require.NoError(t, err)
		assert.Greater(t, ttl, time.Hour, "longer than any card of before")
	})
}

// TestConcurrentWriters has many concurrent writers of one post: the tombstone prevails, whichever
// write is last.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		c := rediscards.New(client, prefix)
		var group sync.WaitGroup
		for v := range int64(50) {
			group.Go(func() { assert.NoError(t, c.Put(t.Context(), []social.Card{card("post:a", v+1)})) })
		}
		group.Go(func() { assert.NoError(t, c.Remove(t.Context(), []social.PostVersion{{ID: "post:a", Version: 50}})) })
		group.Wait()
		assert.Equal(t, social.Card{ID: "post:a"}, kept(t, c, "post:a")[0])
	})
}

func TestRedisDown(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	c := rediscards.New(client, "")
	_, err := c.Cached(t.Context(), []string{"post:a"})
	require.ErrorIs(t, err, social.ErrCacheUnavailable)
	require.ErrorIs(t, c.Put(t.Context(), []social.Card{card("post:a", 1)}), social.ErrCacheUnavailable)
	require.ErrorIs(t, c.Remove(t.Context(), []social.PostVersion{{ID: "post:a", Version: 1}}), social.ErrCacheUnavailable)
	require.ErrorIs(t, c.Erase(t.Context(), "ann"), social.ErrCacheUnavailable)
}
