package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// noon is the middle of a day, so adding a few hours stays within the day.
var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func openAt(t testing.TB, client redis.UniversalClient, prefix string, cfg dedup.Config) *Store {
	t.Helper()
	s, err := New(client, cfg, Config{KeyPrefix: prefix})
	require.NoError(t, err)
	return s
}

func open(t testing.TB, change func(*dedup.Config)) (*Store, redis.UniversalClient) {
	t.Helper()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 20_000
	if change != nil {
		change(&cfg)
	}
	return openAt(t, client, prefix, cfg), client
}

func groupNames(from, to int) []string {
	list := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("doc_%d", i))
	}
	return list
}

func given(agent string, groups ...string) []dedup.Impression {
	batch := make([]dedup.Impression, len(groups))
	for i, g := range groups {
		batch[i] = dedup.Impression{Agent: agent, Group: g}
	}
	return batch
}

func record(t testing.TB, s *Store, now time.Time, batch []dedup.Impression) {
	t.Helper()
	unconfirmed, err := s.Record(t.Context(), batch, now)
	require.NoError(t, err)
	require.Empty(t, unconfirmed)
}

func verdicts(t testing.TB, s *Store, now time.Time, agent string, groups ...string) []dedup.Verdict {
	t.Helper()
	c, err := s.Check(t.Context(), agent, groups, now)
	require.NoError(t, err)
	return c.Verdicts
}

// claiming implements Claim as the Redis sessions do.
type claiming struct{ *Store }

func (s claiming) Claim(ctx context.Context, agent string, groups []string, now time.Time) error {
	if len(groups) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	members := make([]redis.Z, len(groups))
	for i, g := range groups {
		members[i] = redis.Z{Score: float64(now.UnixMilli()), Member: g}
	}
	return s.client.ZAdd(ctx, s.keys.Pending(agent), members...).Err()
}

func claim(t testing.TB, s *Store, now time.Time, agent string, groups ...string) {
	t.Helper()
	require.NoError(t, claiming{s}.Claim(t.Context(), agent, groups, now))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) deduptest.Store {
		client, prefix := testenv.Redis(t)
		return claiming{openAt(t, client, prefix, cfg)}
	})
}

func TestFalsePositives(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	deduptest.FalsePositives(t, func(t *testing.T, cfg dedup.Config) deduptest.Store {
		client, prefix := testenv.Redis(t)
		return claiming{openAt(t, client, prefix, cfg)}
	})
}

func TestNewRefusesBadConfig(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.Shards = 0
	_, err := New(client, cfg, Config{KeyPrefix: prefix})
	assert.ErrorContains(t, err, "dedup.shards")
}

func TestVerify(t *testing.T) {
	t.Parallel()
	s, _ := open(t, nil)
	require.NoError(t, s.Verify(t.Context()))
}

// refuse makes every command fail, as on a server without the Bloom filter module.
type refuse struct{}

type unknownCommand string

func (e unknownCommand) Error() string { return "ERR unknown command '" + string(e) + "'" }
func (unknownCommand) RedisError()     {}

func (refuse) DialHook(next redis.DialHook) redis.DialHook { return next }
func (refuse) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (refuse) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		cmd.SetErr(unknownCommand("BF.EXISTS"))
		return cmd.Err()
	}
}

func TestVerifyWithoutModule(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	client.AddHook(refuse{})
	err := s.Verify(t.Context())
	require.ErrorContains(t, err, "has no Bloom filter type")
	assert.NotErrorIs(t, err, dedup.ErrUnavailable)
	assert.ErrorContains(t, err, "use Redis 8")
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
	s := openAt(t, dead, "x:", deduptest.DefaultConfig())
	batch := given("u_1", "a", "b")

	_, err := s.Check(t.Context(), "u_1", []string{"a"}, noon)
	require.ErrorIs(t, err, dedup.ErrUnavailable)
	unconfirmed, err := s.Record(t.Context(), batch, noon)
	require.ErrorIs(t, err, dedup.ErrUnavailable)
	assert.Equal(t, batch, unconfirmed)
	require.ErrorIs(t, s.ClearPending(t.Context(), batch), dedup.ErrUnavailable)
	require.ErrorIs(t, s.Forget(t.Context(), "u_1"), dedup.ErrUnavailable)
	require.ErrorIs(t, s.Verify(t.Context()), dedup.ErrUnavailable)
}

func TestCheckReturnsServerTime(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	before, err := client.Time(t.Context()).Result()
	require.NoError(t, err)
	c, err := s.Check(t.Context(), "u_1", []string{"a"}, noon)
	require.NoError(t, err)
	after, err := client.Time(t.Context()).Result()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, c.At, before.UnixMilli())
	assert.LessOrEqual(t, c.At, after.UnixMilli())
}

func TestSeenModeNothingStale(t *testing.T) {
	t.Parallel()
	s, _ := open(t, func(cfg *dedup.Config) { cfg.Served = false })
	claim(t, s, noon, "u_1", "a")
	c, err := s.Check(t.Context(), "u_1", []string{"a"}, noon.Add(time.Hour))
	require.NoError(t, err)
	assert.Empty(t, c.Stale, "what was only delivered is not to be recorded")
	assert.Equal(t, []dedup.Verdict{dedup.Pending}, c.Verdicts)
}

func TestStaleBounded(t *testing.T) {
	t.Parallel()
	s, _ := open(t, nil)
	groups := groupNames(0, 2500)
	claim(t, s, noon, "u_1", groups...)
	c, err := s.Check(t.Context(), "u_1", groups, noon.Add(2*time.Minute))
	require.NoError(t, err)
	assert.Len(t, c.Stale, mostStale)
	assert.NotContains(t, c.Verdicts, dedup.Unseen, "2,500 groups are looked up in chunks")
}

func TestConcurrentFilters(t *testing.T) {
	t.Parallel()
	s, client := open(t, func(cfg *dedup.Config) { cfg.Shards = 16 })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var batch []dedup.Impression
			for a := range 40 {
				batch = append(batch, given(fmt.Sprintf("u_%d", a), groupNames(i*10, i*10+10)...)...)
			}
			unconfirmed, err := s.Record(t.Context(), batch, noon)
			if err != nil || len(unconfirmed) > 0 {
				t.Errorf("batch %d: %v, %d unconfirmed", i, err, len(unconfirmed))
			}
		})
	}
	wg.Wait()
	for a := range 40 {
		require.NotContains(t, verdicts(t, s, noon, fmt.Sprintf("u_%d", a), groupNames(0, 80)...), dedup.Unseen)
	}
	used := 0
	for shard := range 16 {
		n, err := client.Exists(t.Context(), s.keys.Filter(feed.DayOf(noon), shard, 16)).Result()
		require.NoError(t, err)
		used += int(n)
	}
	assert.Greater(t, used, 8, "forty agents spread over the shards")
}

// TestCheckFutureDateKeepsEarlierDays checks a future date on a store that does not know the
// days in its window yet. It must not cache that a day had no shard count: by the time the day
// begins, another server may have set one.
func TestCheckFutureDateKeepsEarlierDays(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 20_000
	curious := openAt(t, client, prefix, cfg)
	groups := groupNames(0, 20)
	for _, v := range verdicts(t, curious, noon.AddDate(0, 0, 5), "u_1", groups...) {
		require.Equal(t, dedup.Unseen, v)
	}
	cfg.Shards = 97
	record(t, openAt(t, client, prefix, cfg), noon, given("u_1", groups...))
	for _, v := range verdicts(t, curious, noon.AddDate(0, 0, 1), "u_1", groups...) {
		require.Equal(t, dedup.SeenDaysAgo(1), v)
	}
}
