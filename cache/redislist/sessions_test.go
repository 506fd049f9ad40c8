package redislist

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/cache/cachetest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

var noon = cachetest.Start

func refs(names ...string) []feed.Ref {
	list := make([]feed.Ref, len(names))
	for i, n := range names {
		list[i] = feed.Ref{ID: n, Group: n}
	}
	return list
}

func open(t testing.TB) (*Sessions, redis.UniversalClient) {
	t.Helper()
	client, prefix := testenv.Redis(t)
	return New(client, Config{KeyPrefix: prefix}), client
}

// advance simulates the passing of time by shortening the TTL of every key under the prefix.
func advance(t *testing.T, client redis.UniversalClient, prefix string, d time.Duration) {
	t.Helper()
	err := testenv.EachMaster(t.Context(), client, func(ctx context.Context, c *redis.Client) error {
		keys := c.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for keys.Next(ctx) {
			ttl, err := c.PTTL(ctx, keys.Val()).Result()
			if err != nil {
				return err
			}
			assert.Greater(t, ttl, time.Duration(0), "%s has no TTL", keys.Val())
			if err := c.PExpire(ctx, keys.Val(), ttl-d).Err(); err != nil {
				return err
			}
		}
		return keys.Err()
	})
	require.NoError(t, err)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		client, prefix := testenv.Redis(t)
		return env(t, client, redis.NewClient(client.(*redis.Client).Options()), prefix, Config{TTL: ttl})
	})
}

func TestReplaceWithOldCheckRefused(t *testing.T) {
	t.Parallel()
	s, client := open(t)
	replace := func(age time.Duration, ranked ...string) (cache.Page, error) {
		now, err := client.Time(t.Context()).Result()
		require.NoError(t, err)
		return s.Replace(t.Context(), cache.Replace{
			Agent: "u_1", Ranked: refs(ranked...), Limit: 1, Now: noon, CheckedAt: now.Add(-age).UnixMilli(),
			Call: cache.Call{RequestID: "r-" + ranked[0], Owner: age.String(), Action: "refresh", Limit: 1},
		})
	}
	page, err := replace(0, "a", "b", "c")
	require.NoError(t, err)
	assert.Equal(t, refs("a"), page.Refs)

	_, err = replace(s.cfg.Grace, "d", "e")
	require.ErrorIs(t, err, feed.ErrUnavailable)
	require.NotErrorIs(t, err, cache.ErrUnavailable, "the store answers")
	page, err = replace(s.cfg.Grace, "a")
	require.NoError(t, err, "a page that was handed out is answered however late")
	assert.True(t, page.Replayed)

	page, err = s.Pop(t.Context(), cache.Pop{Agent: "u_1", Limit: 5, Now: noon})
	require.NoError(t, err)
	assert.Equal(t, refs("b", "c"), page.Refs, "the old session stands")
	assert.Empty(t, client.ZScore(t.Context(), s.keys.Pending("u_1"), "d").Val())
}

func TestStoredFormat(t *testing.T) {
	t.Parallel()
	s, client := open(t)
	ctx := t.Context()
	require.NoError(t, client.ZAdd(ctx, s.keys.Pending("u_1"),
		redis.Z{Member: "long_ago", Score: float64(noon.AddDate(0, 0, -8).UnixMilli())}).Err())
	ranked := append(refs("a"), feed.Ref{Group: "story", ID: "doc"}, feed.Ref{Group: "b", ID: "b"})
	call := cache.Call{RequestID: "r1", Action: "refresh", Limit: 2}
	_, err := s.Replace(ctx, cache.Replace{Agent: "u_1", Ranked: ranked, Limit: 2, Now: noon, Call: call})
	require.NoError(t, err)

	assert.Equal(t, []string{"b"}, client.LRange(ctx, s.keys.Session("u_1", feed.ForYou), 0, -1).Val())
	ms := float64(noon.UnixMilli())
	assert.Equal(t, []redis.Z{{Member: "a", Score: ms}, {Member: "doc", Score: ms}, {Member: "story", Score: ms}},
		client.ZRangeWithScores(ctx, s.keys.Pending("u_1"), 0, -1).Val(), "expired entries are gone")
	assert.Equal(t, "refresh 2 -! 1 ~0 a story|doc", client.Get(ctx, s.keys.Page("u_1", feed.ForYou, "r1")).Val())
	for key, want := range map[string]time.Duration{
		s.keys.Session("u_1", feed.ForYou):    30 * time.Minute,
		s.keys.Pending("u_1"):                 8 * 24 * time.Hour,
		s.keys.Refreshed("u_1", feed.ForYou):  8 * 24 * time.Hour,
		s.keys.Page("u_1", feed.ForYou, "r1"): time.Minute,
	} {
		ttl := client.PTTL(ctx, key).Val()
		assert.LessOrEqual(t, ttl, want, key)
		assert.Greater(t, ttl, want-30*time.Second, key)
	}
}

// trips counts round trips to the server, except the handshakes of new connections.
type trips struct{ n atomic.Int64 }

func (h *trips) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if name := cmd.Name(); name != "hello" && name != "client" {
			h.n.Add(1)
		}
		return next(ctx, cmd)
	}
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	s, client := open(t)
	var h trips
	call := cache.Call{RequestID: "r1", Action: "refresh", Limit: 20}
	page := refs("a", "b", "c")
	for round, agent := range []string{"u_1", "u_2"} {
		if round == 1 {
			client.AddHook(&h) // the scripts are loaded by now
		}
		_, err := s.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: page, Limit: 1, Now: noon, Call: call})
		require.NoError(t, err)
		_, err = s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 1, Now: noon})
		require.NoError(t, err)
		require.NoError(t, s.Restore(t.Context(), agent, page[:1], call))
	}
	assert.EqualValues(t, 3, h.n.Load(), "one each")
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	dead := redis.NewClient(&redis.Options{
		Addr: "redis.invalid:1", MaxRetries: -1, DialerRetries: 1,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		},
	})
	t.Cleanup(func() { _ = dead.Close() })
	s := New(dead, Config{})
	ctx := t.Context()
	_, err := s.Replace(ctx, cache.Replace{Agent: "u_1", Limit: 1, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	_, err = s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 1, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	_, _, err = s.Replay(ctx, "u_1", cache.Call{RequestID: "r"})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	_, err = s.Refreshed(ctx, "u_1", feed.ForYou)
	require.ErrorIs(t, err, cache.ErrUnavailable)
	require.ErrorIs(t, s.Restore(ctx, "u_1", refs("a"), cache.Call{}), cache.ErrUnavailable)
	require.ErrorIs(t, s.Delete(ctx, "u_1"), cache.ErrUnavailable)
}

func FuzzParseRecord(f *testing.F) {
	for _, seed := range []string{
		"refresh 20 o1 1 ~0 a story|doc ~1 b", "- 0 - 0 ~0", "!o2=1,o3=1 load_more 5 o1 0 ~0 ^x +y z", "! !load_more 5 o1 0 ~0 x", "refresh 5 o1! 1 ~0 x", "!", "", "a b c d", "- 0 - 0 ~0 |", "- 0 - 0 ~0 a  b", "x", "a b c 0 ~-1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRecord(text)
		if err != nil {
			return
		}
		again := r.head + " " + r.owner + map[bool]string{true: "!"}[r.first] + " " + map[bool]string{false: "0", true: "1"}[r.more]
		for _, s := range r.steps {
			again += " ~" + strconv.Itoa(s.number)
			for _, ref := range s.refs {
				again += " " + ref.String()
			}
		}
		reread, err := parseRecord(again)
		require.NoError(t, err)
		require.Equal(t, r, reread)
	})
}

// BenchmarkPop measures the session step of a load_more: 20 refs are popped, made pending and
// recorded under a request id. The session is refilled from time to time, outside the measurement.
func BenchmarkPop(b *testing.B) {
	s, _ := open(b)
	benchmarkPop(b, s)
}

// BenchmarkPopOnCluster is BenchmarkPop on a cluster, without and with waiting for a replica.
func BenchmarkPopOnCluster(b *testing.B) {
	for replicas := range 2 {
		b.Run("replicas="+strconv.Itoa(replicas), func(b *testing.B) {
			client, prefix := testenv.RedisCluster(b)
			benchmarkPop(b, New(client, Config{KeyPrefix: prefix, Replicas: rediskeys.Replicas{N: replicas, Timeout: time.Second}}))
		})
	}
}

func benchmarkPop(b *testing.B, s *Sessions) {
	all := make([]feed.Ref, 20_000)
	for i := range all {
		id := "doc_" + time.Duration(i).String()
		all[i] = feed.Ref{ID: id, Group: id}
	}
	b.ReportAllocs()
	left := 0
	now := noon
	for b.Loop() {
		if left < 20 {
			b.StopTimer()
			now = now.AddDate(0, 0, 8) // nothing is pending anymore
			if _, err := s.Replace(b.Context(), cache.Replace{Agent: "u_1", Ranked: all, Limit: 0, Now: now}); err != nil {
				b.Fatal(err)
			}
			left = len(all)
			b.StartTimer()
		}
		page, err := s.Pop(b.Context(), cache.Pop{
			Agent: "u_1", Limit: 20, Now: now, Call: cache.Call{RequestID: feed.DayOf(now).String() + strconv.Itoa(left), Action: "load_more", Limit: 20},
		})
		if err != nil || len(page.Refs) != 20 {
			b.Fatal(len(page.Refs), err)
		}
		left -= 20
	}
}

// BenchmarkTwoFeeds measures popping 20 refs, and withdrawing 20 that a timeline shows. The agents
// have no other sessions, or sessions of 480 refs of which none or all are affected; the last run
// withdraws the same groups twice. It also reports the CPU time of Redis.
func BenchmarkTwoFeeds(b *testing.B) {
	own := testenv.StartRedis(b)
	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	b.Cleanup(func() { _ = client.Close() })
	s := New(client, Config{})
	all, others := make([]feed.Ref, 480), make([]feed.Ref, 480)
	for i := range all {
		all[i], others[i] = refs("doc_" + strconv.Itoa(i))[0], refs("other_" + strconv.Itoa(i))[0]
		others[i].Source = feed.SourceFollowing
	}
	pop := func(agent string) error {
		page, err := s.Pop(b.Context(), cache.Pop{Agent: agent, Limit: 20, Now: noon})
		if err == nil && len(page.Refs) != 20 {
			err = errors.New("the page is short")
		}
		return err
	}
	at := noon
	withdraw := func(agent string) error {
		at = at.Add(time.Millisecond)
		return s.Withdraw(b.Context(), agent, cachetest.Groups(all[:20]), at)
	}
	for _, run := range []struct {
		name         string
		do           func(agent string) error
		forYou, home []feed.Ref
	}{
		{"pop, no home", pop, all, nil},
		{"pop, nothing in both", pop, all, others},
		{"pop, all in both", pop, all, all},
		{"withdraw, no session", withdraw, nil, nil},
		{"withdraw, in neither", withdraw, others, others},
		{"withdraw, in both", withdraw, all, all},
		{"withdraw twice, in neither", func(agent string) error { return errors.Join(withdraw(agent), withdraw(agent)) }, others, others},
	} {
		b.Run(run.name, func(b *testing.B) {
			const readers = 200
			cpu := redisCPU(b, client) // used so far, including by refills
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%readers == 0 {
					b.StopTimer()
					fills := redisCPU(b, client)
					for i := range readers {
						fillBoth(b, s, "u_"+strconv.Itoa(i), run.forYou, run.home)
					}
					cpu += redisCPU(b, client) - fills
					b.StartTimer()
				}
				if err := run.do("u_" + strconv.Itoa(n%readers)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1e6*(redisCPU(b, client)-cpu)/float64(b.N), "redis-µs/op")
		})
	}
}

func fillBoth(b *testing.B, s *Sessions, agent string, forYou, home []feed.Ref) {
	b.Helper()
	require.NoError(b, s.client.Del(b.Context(), s.keys.Pending(agent)).Err())
	for name, ranked := range map[feed.Name][]feed.Ref{feed.ForYou: forYou, feed.HomeFeed: home} {
		_, err := s.Replace(b.Context(), cache.Replace{Agent: agent, Ranked: ranked, Now: noon, Call: cache.Call{Feed: name}})
		require.NoError(b, err)
	}
}

// redisCPU returns the CPU seconds used by the Redis thread that runs commands.
func redisCPU(b *testing.B, client redis.UniversalClient) (seconds float64) {
	b.Helper()
	info, err := client.Info(b.Context(), "cpu").Result()
	require.NoError(b, err)
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && strings.HasSuffix(name, "_main_thread") {
			n, err := strconv.ParseFloat(value, 64)
			require.NoError(b, err)
			seconds += n
		}
	}
	return seconds
}

// BenchmarkReplace measures the page step of a refresh with 500 candidates.
func BenchmarkReplace(b *testing.B) {
	s, _ := open(b)
	all := make([]feed.Ref, 500)
	for i := range all {
		id := "doc_" + strconv.Itoa(i)
		all[i] = feed.Ref{ID: id, Group: id}
	}
	now := noon
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Hour) // two refs an hour: 336 are pending, the oldest expire
		if _, err := s.Replace(b.Context(), cache.Replace{Agent: "u_1", Ranked: all, Limit: 2, Now: now}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRestoreSentTwice: the client sends a script again if it lost the reply.
func TestRestoreSentTwice(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ctx := t.Context()
	page, err := s.Replace(ctx, cache.Replace{Agent: "u_1", Ranked: refs("a", "b", "c"), Limit: 2, Now: cachetest.Start})
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, s.Restore(ctx, "u_1", page.Refs, cache.Call{}))
	}
	all, err := s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 2, Now: cachetest.Start})
	require.NoError(t, err)
	assert.Equal(t, refs("a", "b"), all.Refs)
	rest, err := s.client.LRange(ctx, s.keys.Session("u_1", feed.ForYou), 0, -1).Result()
	require.NoError(t, err)
	assert.Equal(t, []string{"c"}, rest, "nothing is in the session twice")
}
