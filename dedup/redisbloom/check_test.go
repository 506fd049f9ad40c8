package redisbloom

import (
	"context"
	"fmt"
	"sync/atomic"
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

// trips counts round trips to the server, except the handshakes of new connections.
type trips struct{ n atomic.Int64 }

func (h *trips) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.count(cmd)
		return next(ctx, cmd)
	}
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.count(cmds[0])
		return next(ctx, cmds)
	}
}

func (h *trips) count(cmd redis.Cmder) {
	if name := cmd.Name(); name != "hello" && name != "client" {
		h.n.Add(1)
	}
}

func (h *trips) during(f func()) int64 {
	before := h.n.Load()
	f()
	return h.n.Load() - before
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	var h trips
	client.AddHook(&h)
	// The server may not have the script yet; the first check loads it.
	verdicts(t, s, noon, "u_0", "a")

	groups := groupNames(0, 500)
	assert.EqualValues(t, 1, h.during(func() { verdicts(t, s, noon, "u_1", groups...) }), "check, shard counts unknown")
	record(t, s, noon, given("u_1", groups[:20]...)) // also checks the filter's fill, which is not repeated soon
	assert.EqualValues(t, 1, h.during(func() { verdicts(t, s, noon, "u_1", groups...) }), "check, shard counts known")

	var batch []dedup.Impression
	for i := range 50 {
		batch = append(batch, given(fmt.Sprintf("u_%d", i), groups[:20]...)...)
	}
	assert.EqualValues(t, 2, h.during(func() { record(t, s, noon.Add(time.Second), batch) }), "record: shard count, then the batch")
	assert.EqualValues(t, 1, h.during(func() { require.NoError(t, s.ClearPending(t.Context(), batch)) }), "settle over 50 agents")
}

// Not parallel: it changes the script hash, which all stores of the process share.
func TestCheckScriptNotLoaded(t *testing.T) {
	s, client := open(t, nil)
	// As after a restart, the server does not know this hash.
	known := pendingHash
	pendingHash = "0000000000000000000000000000000000000000"
	t.Cleanup(func() { pendingHash = known })
	var h trips
	client.AddHook(&h)
	claim(t, s, noon, "u_1", "a")
	var got []dedup.Verdict
	assert.EqualValues(t, 2, h.during(func() { got = verdicts(t, s, noon, "u_1", "a", "b") }))
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Unseen}, got)
}

func TestShardedEqualsPlain(t *testing.T) {
	t.Parallel()
	plain, _ := open(t, nil)
	sharded, _ := open(t, func(cfg *dedup.Config) { cfg.Shards = 16 })
	for day := range 8 {
		var batch []dedup.Impression
		for a := range 60 {
			batch = append(batch, given(fmt.Sprintf("u_%d", a), groupNames(day*5+a%3, day*5+5)...)...)
		}
		now := noon.AddDate(0, 0, day)
		record(t, plain, now, batch)
		record(t, sharded, now, batch)
	}
	now := noon.AddDate(0, 0, 7)
	for a := range 60 {
		agent := fmt.Sprintf("u_%d", a)
		assert.Equal(t, verdicts(t, plain, now, agent, groupNames(0, 60)...), verdicts(t, sharded, now, agent, groupNames(0, 60)...), agent)
	}
}

func TestShardCountChange(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 20_000
	before := openAt(t, client, prefix, cfg)
	cfg.Shards = 16
	after := openAt(t, client, prefix, cfg)
	today, tomorrow := noon, noon.AddDate(0, 0, 1)

	record(t, before, today, given("u_1", "a"))
	seen := []dedup.Verdict{dedup.SeenDaysAgo(0)}
	assert.Equal(t, seen, verdicts(t, after, today, "u_1", "a"), "a server with the new count finds what is written")
	record(t, after, today, given("u_2", "b"))
	assert.Equal(t, seen, verdicts(t, before, today, "u_2", "b"), "and writes as the day was begun")
	requireExists(t, client, before.keys.Filter(feed.DayOf(today), 0, 1))

	record(t, after, tomorrow, given("u_1", "c"))
	record(t, before, tomorrow, given("u_1", "d"))
	key := after.keys.Filter(feed.DayOf(tomorrow), ShardOf("u_1", 16), 16)
	requireExists(t, client, key)
	want := []dedup.Verdict{dedup.SeenDaysAgo(1), dedup.SeenDaysAgo(0), dedup.SeenDaysAgo(0), dedup.Unseen}
	for name, s := range map[string]*Store{"before": before, "after": after} {
		assert.Equal(t, want, verdicts(t, s, tomorrow, "u_1", "a", "c", "d", "e"), name)
	}
}

func requireExists(t *testing.T, client redis.UniversalClient, key string) {
	t.Helper()
	n, err := client.Exists(t.Context(), key).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, n, key)
}

func TestShardCountMissing(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	reader := openAt(t, client, prefix, cfg)
	cfg.Shards = 4
	writer := openAt(t, client, prefix, cfg)
	yesterday := noon.AddDate(0, 0, -1)

	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, verdicts(t, reader, noon, "u_1", "a"))
	record(t, writer, noon, given("u_1", "a"))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0)}, verdicts(t, reader, noon, "u_1", "a"),
		"today's absence is not remembered")

	record(t, writer, yesterday, given("u_1", "b"))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(1)}, verdicts(t, reader, noon.Add(absentFor), "u_1", "b"),
		"a past day's absence for a minute")
}

func TestShardCountInvalid(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	require.NoError(t, client.Set(t.Context(), s.keys.Shards(feed.DayOf(noon)), "many", time.Minute).Err())
	_, err := s.Check(t.Context(), "u_1", []string{"a"}, noon)
	require.ErrorContains(t, err, "delete it")
	assert.NotErrorIs(t, err, dedup.ErrUnavailable)
	unconfirmed, err := s.Record(t.Context(), given("u_1", "a"), noon)
	require.ErrorContains(t, err, "delete it")
	assert.Len(t, unconfirmed, 1)
}

// BenchmarkCheck is the dedup step of a refresh: 500 groups, seven filters.
func BenchmarkCheck(b *testing.B) {
	s, _ := open(b, func(cfg *dedup.Config) { cfg.DailyCapacity = 100_000 })
	for day := range 7 {
		record(b, s, noon.AddDate(0, 0, day), given("u_1", groupNames(day*20, day*20+20)...))
	}
	now, groups := noon.AddDate(0, 0, 6), groupNames(0, 500)
	claim(b, s, now, "u_1", groups[:20]...)
	verdicts(b, s, now, "u_1", groups...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(b.Context(), "u_1", groups, now); err != nil {
			b.Fatal(err)
		}
	}
}
