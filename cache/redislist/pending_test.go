package redislist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestPendingDropped: whether the pending set is read whole or looked up in, Replace and Pop hand
// out the refs of which neither group nor id is pending, and nothing else. A claim is pending for an
// hour.
func TestPendingDropped(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s := New(client, Config{KeyPrefix: prefix, PendingTTL: time.Hour})
	ctx, random := t.Context(), rand.New(rand.NewPCG(7, 47))
	for round := range 60 {
		agent := "u_" + strconv.Itoa(round)
		var ranked, free []feed.Ref
		pending := map[string]bool{}
		key := func(age time.Duration, name string) {
			at := noon.Add(-age).UnixMilli()
			require.NoError(t, client.ZAdd(ctx, s.keys.Pending(agent), redis.Z{Score: float64(at), Member: name}).Err())
			pending[name] = age <= time.Hour
		}
		for i := range random.IntN(4) * 30 {
			key(time.Duration(random.IntN(2))*time.Minute, "other_"+strconv.Itoa(i))
		}
		for i := range 1 + random.IntN(60) {
			ref := feed.Ref{ID: "doc_" + strconv.Itoa(i)}
			ref.Group = []string{ref.ID, ref.ID, "group_" + strconv.Itoa(i)}[random.IntN(3)]
			ref.Source = []feed.Source{feed.SourceScore, feed.SourceScore, feed.SourceTrending}[random.IntN(3)]
			switch random.IntN(8) {
			case 0:
				key(time.Hour, ref.ID)
			case 1:
				key(time.Hour, ref.Group)
			case 2:
				key(time.Hour+time.Millisecond, ref.ID) // no longer
			case 3:
				key(0, "~t~"+ref.Group) // says who gave it out, not that it was
			}
			ranked = append(ranked, ref)
			if !pending[ref.ID] && !pending[ref.Group] {
				free = append(free, ref)
			}
		}
		list := make([]any, len(ranked))
		for i, ref := range ranked {
			list[i] = ref.String()
		}
		require.NoError(t, client.RPush(ctx, s.keys.Session(agent, feed.HomeFeed), list...).Err())
		limit := 1 + random.IntN(len(ranked))
		replaced, err := s.Replace(ctx, cache.Replace{Agent: agent, Ranked: ranked, Limit: limit, Now: noon, Call: cache.Call{Feed: feed.ForYou}})
		require.NoError(t, err)
		n := min(limit, len(free))
		require.Equal(t, free[:n], append([]feed.Ref{}, replaced.Refs...), "round %d", round)
		require.Equal(t, n < len(free), replaced.HasMore)
		for rest := free[n:]; ; {
			limit := 1 + random.IntN(30)
			popped, err := s.Pop(ctx, cache.Pop{Agent: agent, Limit: limit, Now: noon, Call: cache.Call{Feed: feed.HomeFeed}})
			require.NoError(t, err)
			n := min(limit, len(rest))
			require.Equal(t, rest[:n], append([]feed.Ref{}, popped.Refs...), "round %d: what was handed out has left the other session", round)
			rest = rest[n:]
			if !popped.HasMore {
				require.Empty(t, rest)
				break
			}
		}
		left, err := s.Next(ctx, agent, feed.ForYou, 100)
		require.NoError(t, err)
		require.Empty(t, left, "and so has what the second session handed out")
		held, err := client.ZRange(ctx, s.keys.Pending(agent), 0, -1).Result()
		require.NoError(t, err)
		for _, key := range feed.ClaimKeys(free) {
			require.True(t, slices.Contains(held, key), key)
		}
	}
}

// ownRedis starts a Redis of the test, whose commands are counted.
func ownRedis(t testing.TB) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(t).Addr})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestCommandsOfAPage counts what the page steps make Redis do.
func TestCommandsOfAPage(t *testing.T) {
	t.Parallel()
	client := ownRedis(t)
	s := New(client, Config{})
	ranked := make([]feed.Ref, 100)
	for i := range ranked {
		ranked[i] = refs("doc_" + strconv.Itoa(i))[0]
	}
	call := cache.Call{RequestID: "r1", Owner: "o1", Action: "refresh", Limit: 20}
	_, err := s.Replace(t.Context(), cache.Replace{Agent: "u", Ranked: ranked, Limit: 20, Now: noon, Call: call})
	require.NoError(t, err)
	require.NoError(t, client.ConfigResetStat(t.Context()).Err())
	call = cache.Call{RequestID: "r2", Owner: "o2", Action: "load_more", Limit: 20}
	page, err := s.Pop(t.Context(), cache.Pop{Agent: "u", Limit: 20, Now: noon, Call: call, Ahead: 20})
	require.NoError(t, err)
	require.Equal(t, ranked[20:40], page.Refs)
	require.Equal(t, ranked[40:60], page.Ahead, "what a prefetch would ask for")
	for command, most := range map[string]int{"zmscore": 0, "zrangebyscore": 1, "zadd": 2, "lpop": 1, "lrange": 2, "llen": 0, "get": 1, "set": 1, "lrem": 0} {
		calls := testenv.CommandStats(t, client)[command].Calls
		assert.LessOrEqual(t, calls, most, command)
	}
}

// BenchmarkPending measures the page steps of readers with pending groups, as listpacks and as
// skiplists: a refresh with 500 candidates, and a load_more of 20. It reports the time of Redis in
// the script.
func BenchmarkPending(b *testing.B) {
	client := ownRedis(b)
	s := New(client, Config{})
	all := make([]feed.Ref, 500)
	for i := range all {
		all[i] = refs("doc_" + strconv.Itoa(i))[0]
	}
	pages := 0
	for _, entries := range []string{"128", "512"} {
		require.NoError(b, client.ConfigSet(b.Context(), "zset-max-listpack-entries", entries).Err())
		for _, size := range []int{0, 20, 120, 480} {
			claimed := make([]redis.Z, size)
			for i := range claimed {
				claimed[i] = redis.Z{Score: float64(noon.UnixMilli() + int64(i)), Member: "other_" + strconv.Itoa(i)}
			}
			fill := func(agent string) {
				require.NoError(b, client.Del(b.Context(), s.keys.Pending(agent)).Err())
				if size > 0 {
					require.NoError(b, client.ZAdd(b.Context(), s.keys.Pending(agent), claimed...).Err())
				}
			}
			refresh := func() error {
				_, err := s.Replace(b.Context(), cache.Replace{Agent: "u", Ranked: all, Limit: 20, Now: noon, Call: cache.Call{Owner: "o" + strconv.Itoa(pages)}})
				return err
			}
			loadMore := func() error {
				_, err := s.Pop(b.Context(), cache.Pop{Agent: "u", Limit: 20, Now: noon, Call: cache.Call{
					RequestID: "r" + strconv.Itoa(pages), Owner: "o" + strconv.Itoa(pages), Action: "load_more", Limit: 20,
				}})
				return err
			}
			for name, step := range map[string]func() error{"refresh": refresh, "load_more": loadMore} {
				b.Run(fmt.Sprintf("%s/zset-max-listpack-entries=%s/pending=%d", name, entries, size), func(b *testing.B) {
					b.ReportAllocs()
					var spent, steps float64
					for b.Loop() {
						b.StopTimer()
						pages++
						if pages%20 == 0 {
							fill("u")
							require.NoError(b, refresh())
						}
						fill("u")
						before := testenv.CommandStats(b, client)["evalsha"]
						b.StartTimer()
						require.NoError(b, step())
						b.StopTimer()
						after := testenv.CommandStats(b, client)["evalsha"]
						spent, steps = spent+float64(after.Microseconds-before.Microseconds), steps+float64(after.Calls-before.Calls)
						b.StartTimer()
					}
					b.ReportMetric(spent/steps, "redis-script-µs/op")
				})
			}
		}
	}
}
