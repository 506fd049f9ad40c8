package doctor

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/server/connect"
)

// states answers the question how far a filter may grow, as Valkey does.
type states int64

func (states) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (states) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (most states) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if info, ok := cmd.(*redis.Cmd); ok && info.Name() == "bf.info" {
				info.SetErr(nil)
				info.SetVal(int64(most))
			}
		}
		return err
	}
}

// TestDoctorTriesRedisWrites checks that what the doctor calls ok has been tried: a server that answers
// and takes no impressions or lists is broken.
func TestDoctorTriesRedisWrites(t *testing.T) {
	t.Parallel()
	client := productionRedis(t)
	cfg := onRedis(t, client.Options().Addr)
	cfg.Timeline.RedisURL = cfg.Redis.URL
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "redis writes").Level)
	for name, test := range map[string]struct {
		refuse, end []any
		says        string
	}{
		"too few replicas": {[]any{"config", "set", "min-replicas-to-write", "1"}, []any{"config", "set", "min-replicas-to-write", "0"}, "min-replicas-to-write"},
		"memory full":      {[]any{"config", "set", "maxmemory", "1"}, []any{"config", "set", "maxmemory", "64mb"}, "raise maxmemory"},
		"no right":         {[]any{"acl", "setuser", "default", "-set", "-bf.insert"}, []any{"acl", "setuser", "default", "+@all"}, "the user lacks a right"},
	} {
		require.NoError(t, client.Do(t.Context(), test.refuse...).Err(), name)
		findings := Check(t.Context(), cfg, Options{})
		what := "redis writes"
		if name == "no right" {
			what = "redis bloom"
		}
		for _, what := range []string{what, "timeline.redis writes"} {
			found := about(t, findings, what)
			assert.Equal(t, Broken, found.Level, name)
			assert.Contains(t, found.Detail, test.says, name)
		}
		require.NoError(t, client.Do(t.Context(), test.end...).Err(), name)
	}
}

// TestDoctorFilterLimit has a server that bounds how far a filter may grow.
func TestDoctorFilterLimit(t *testing.T) {
	t.Parallel()
	client := productionRedis(t)
	cfg := onRedis(t, client.Options().Addr)
	cfg.Dedup.DailyCapacity, cfg.Dedup.Shards = 1_000_000, 1
	for most, level := range map[int64]Level{0: OK, 1_500_000: Warning, 3_000_000: OK} {
		hooked := redis.NewClient(client.Options())
		t.Cleanup(func() { _ = hooked.Close() })
		hooked.AddHook(states(most))
		store, err := redisbloom.New(hooked, connect.Dedup(cfg), redisbloom.Config{})
		require.NoError(t, err)
		d := &doctor{cfg: cfg}
		d.tryRedisWrites(t.Context(), store)
		found := about(t, d.findings, "redis writes")
		assert.Equal(t, level, found.Level, found.Detail)
	}
}

// TestDoctorReportsEachRefusedCommand has a Redis that refuses one of the commands that servers send, as one
// whose user lacks a right, or a proxy that does not know it.
func TestDoctorReportsEachRefusedCommand(t *testing.T) {
	t.Parallel()
	client := productionRedis(t)
	cfg := onRedis(t, client.Options().Addr)
	cfg.Timeline.RedisURL = cfg.Redis.URL
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "redis commands").Level)
	main, lists := rediskeys.Commands(false), rediskeys.Commands(true)
	for _, name := range main {
		require.NoError(t, client.Do(t.Context(), "acl", "setuser", "default", "-"+name).Err())
		d := &doctor{cfg: cfg, clock: time.Now}
		d.checkRedis(t.Context())
		d.checkListsRedis(t.Context())
		require.NoError(t, client.Do(t.Context(), "acl", "setuser", "default", "+@all").Err())
		says := func(redis string) bool {
			return slices.ContainsFunc(d.findings, func(f Finding) bool {
				return f.Level == Broken && strings.HasPrefix(f.What, redis) && strings.Contains(strings.ToLower(f.Detail), name) && strings.Contains(f.Detail, "the user lacks a right")
			})
		}
		assert.True(t, says("redis"), "%s in %v", name, d.findings)
		if slices.Contains(lists, name) {
			assert.True(t, says("timeline.redis"), "%s in %v", name, d.findings)
		}
	}
	left, err := client.Keys(t.Context(), "*:commands").Result()
	require.NoError(t, err)
	assert.Empty(t, left)
}
