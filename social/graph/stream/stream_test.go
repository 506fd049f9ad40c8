package stream_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/graph"
	"github.com/freshet/freshet/social/graph/stream"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// store is a real store that can be made unavailable. It counts the follows sent to it.
type store struct {
	*socialsqlite.Store
	down  atomic.Bool
	calls atomic.Int64 // follows sent, including failed ones
}

func openStore(t *testing.T) *store {
	t.Helper()
	s, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return &store{Store: s}
}

func (s *store) Follow(ctx context.Context, agent, author string, at time.Time) (bool, error) {
	s.calls.Add(1)
	if s.down.Load() {
		return false, fmt.Errorf("%w: %w", social.ErrUnavailable, errors.New("the connection is cut"))
	}
	return s.Store.Follow(ctx, agent, author, at)
}

func (s *store) FollowAll(ctx context.Context, edges []social.Edge, at time.Time) (int, []social.Rejected, error) {
	s.calls.Add(int64(len(edges)))
	if s.down.Load() {
		return 0, nil, fmt.Errorf("%w: %w", social.ErrUnavailable, errors.New("the connection is cut"))
	}
	return s.Store.FollowAll(ctx, edges, at)
}

// env is the stream of one test and its readers.
type env struct {
	*testing.T
	client redis.UniversalClient
	prefix string
	key    string
	dead   string
	store  *store
}

func newEnv(t *testing.T, client redis.UniversalClient, prefix string) *env {
	t.Helper()
	keys := rediskeys.For(client, prefix)
	return &env{T: t, client: client, prefix: prefix, key: keys.GraphEvents(), dead: keys.DeadGraphEvents(), store: openStore(t)}
}

func each(t *testing.T, test func(*env)) {
	t.Run("single", func(t *testing.T) {
		t.Parallel()
		client, prefix := testenv.Redis(t)
		test(newEnv(t, client, prefix))
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		client, prefix := testenv.RedisCluster(t)
		test(newEnv(t, client, prefix))
	})
}

var quick = stream.Config{Block: 20 * time.Millisecond, Idle: 50 * time.Millisecond, Upkeep: 10 * time.Millisecond, Leave: time.Hour}

// start starts a server that reads until the test ends, or stop is called.
func (e *env) start(client redis.UniversalClient, cfg stream.Config) (stop func()) {
	c := stream.Start(e.Context(), client, e.prefix, graph.NewApplier(e.store, graph.Config{}), cfg)
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		c.Close(context.WithoutCancel(e.Context())) // has already stopped
	}
	e.Cleanup(stop)
	return stop
}

func (e *env) send(typ, data string) string {
	e.Helper()
	id, err := e.client.XAdd(e.Context(), &redis.XAddArgs{Stream: e.key, Values: []string{"type", typ, "data", data}}).Result()
	require.NoError(e, err)
	return id
}

func (e *env) sendFollow(agent, author string) {
	e.Helper()
	e.send("follow.created", fmt.Sprintf(`{"agent_id":%q,"author_id":%q,"at":10}`, agent, author))
}

func (e *env) followers(author string) []string {
	list, err := e.store.Followers(e.Context(), author, "", "", 10_000)
	require.NoError(e, err)
	return list
}

func (e *env) until(condition func() bool, what string, args ...any) {
	e.Helper()
	testenv.WaitFor(e.T, condition, what, args...)
}

// settled waits until all entries are acknowledged.
func (e *env) settled() {
	e.Helper()
	e.until(func() bool {
		groups, err := e.client.XInfoGroups(e.Context(), e.key).Result()
		return err == nil && len(groups) == 1 && groups[0].Pending == 0 && groups[0].Lag == 0
	}, "everything is acknowledged")
}

func TestEventsApplied(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		for i := range 250 { // before any server reads
			e.sendFollow(fmt.Sprintf("u_%d", i), "a")
		}
		stop := e.start(e.client, quick)
		e.until(func() bool { return len(e.followers("a")) == 250 }, "all are applied")
		e.send("post.created", `{"id":"post:1","author":{"id":"a","name":"Ann"},"created_at":5,"caption":"x"}`)
		e.until(func() bool {
			cards, err := e.store.Cards(e.Context(), "", []social.PostVersion{{ID: "post:1"}})
			return err == nil && cards[0].Visible && cards[0].Author.Name == "Ann"
		}, "a post is there")
		for i, ahead := range []time.Duration{100 * time.Millisecond, time.Second, 20 * time.Second} {
			e.send("follow.created", fmt.Sprintf(`{"agent_id":"ahead_%d","author_id":"b","at":"%s"}`, i, time.Now().Add(ahead).Format(time.RFC3339Nano)))
		}
		e.until(func() bool { return len(e.followers("b")) == 3 }, "of a sender whose clock is ahead")
		e.settled()
		e.until(func() bool { return e.client.XLen(e.Context(), e.key).Val() <= 1 }, "what was read is trimmed")
		stop()
		require.Empty(e, e.client.XInfoConsumers(e.Context(), e.key, stream.Group).Val(), "who leaves is no consumer any more")
	})
}

func TestRefusedEventsInDeadStream(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		e.start(e.client, quick)
		wrong := map[string]string{
			e.send("follow.created", `{"agent_id":"a","author_id":"a","at":1}`):              "a cannot follow or block themself",
			e.send("post.deletd", `{}`):                                                      `unknown type "post.deletd"`,
			e.send("follow.created", `{"agent_id":"u_1","author_id":"a","at":253402300799}`): "more than 30s ahead of this server's clock",
		}
		id, err := e.client.XAdd(e.Context(), &redis.XAddArgs{Stream: e.key, Values: []string{"type", "x", "more", "y"}}).Result()
		require.NoError(e, err)
		wrong[id] = "exactly the fields type and data"
		e.sendFollow("u_1", "a")
		e.until(func() bool { return len(e.followers("a")) == 1 }, "what comes after is applied")
		e.settled()
		dead, err := e.client.XRange(e.Context(), e.dead, "-", "+").Result()
		require.NoError(e, err)
		require.Len(e, dead, len(wrong))
		for _, d := range dead {
			require.Contains(e, d.Values["error"], wrong[d.Values["id"].(string)])
			require.NotEmpty(e, wrong[d.Values["id"].(string)])
			require.Contains(e, d.Values, "type")
		}
	})
}

func TestDeadStreamRetention(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		var later atomic.Int64
		cfg := quick
		cfg.Clock = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		e.start(e.client, cfg)
		e.send("x", "{}")
		e.settled()
		require.EqualValues(e, 1, e.client.XLen(e.Context(), e.dead).Val())
		later.Store(int64(7*24*time.Hour + time.Minute))
		e.until(func() bool { return e.client.XLen(e.Context(), e.dead).Val() == 0 }, "old ones are trimmed")
	})
}

func TestStoreDownIsNoFailedAttempt(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		e.store.down.Store(true)
		e.sendFollow("u_1", "a")
		e.send("x", "{}")
		e.sendFollow("u_2", "a")
		e.start(e.client, quick) // reads the three at once
		e.until(func() bool { return e.store.calls.Load() >= 4 }, "it is tried again")
		e.until(func() bool { return e.client.XLen(e.Context(), e.dead).Val() == 1 }, "what is wrong needs no store")
		e.store.down.Store(false)
		e.until(func() bool { return len(e.followers("a")) == 2 }, "it is applied when the store is back")
		e.settled()
		require.EqualValues(e, 1, e.client.XLen(e.Context(), e.dead).Val())
	})
}

// TestCloseStoreDown checks that the next server applies the events that could not be
// applied.
func TestCloseStoreDown(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		e.store.down.Store(true)
		stop := e.start(e.client, quick)
		e.sendFollow("u_1", "a")
		e.until(func() bool { return e.store.calls.Load() > 0 }, "it is tried")
		stop()
		e.store.down.Store(false)
		require.Len(e, e.client.XInfoConsumers(e.Context(), e.key, stream.Group).Val(), 1, "it holds an event that would be lost with it")
		e.start(e.client, quick)
		e.until(func() bool { return len(e.followers("a")) == 1 }, "the next takes it over")
		e.settled()
	})
}

func TestServersShareStream(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		cfg := quick
		cfg.Batch, cfg.Idle = 7, time.Hour // no consumer counts as dead
		for range 3 {
			e.start(e.client, cfg)
		}
		for i := range 500 {
			e.sendFollow(fmt.Sprintf("u_%d", i), "a")
		}
		e.until(func() bool { return len(e.followers("a")) == 500 }, "all are applied")
		e.settled()
		require.EqualValues(e, 500, e.store.calls.Load(), "each once")
	})
}

// TestOtherConsumerGroup checks that entries another consumer group has not yet read are
// retained.
func TestOtherConsumerGroup(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		ctx := e.Context()
		require.NoError(e, e.client.XGroupCreateMkStream(ctx, e.key, "audit", "0").Err())
		e.start(e.client, quick)
		for i := range 10 {
			e.sendFollow(fmt.Sprintf("u_%d", i), "a")
		}
		read := func(n int64) []redis.XMessage {
			got, err := e.client.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "audit", Consumer: "x", Streams: []string{e.key, ">"}, Count: n}).Result()
			require.NoError(e, err)
			return got[0].Messages
		}
		applied := func() bool { return len(e.followers("a")) == 10 }
		e.until(applied, "all are applied")
		require.EqualValues(e, 10, e.client.XLen(ctx, e.key).Val())
		three := read(3)
		require.NoError(e, e.client.XAck(ctx, e.key, "audit", three[0].ID, three[2].ID).Err())
		e.until(func() bool { return e.client.XLen(ctx, e.key).Val() == 9 }, "all before what it has not acknowledged is trimmed")
		require.NoError(e, e.client.XAck(ctx, e.key, "audit", three[1].ID).Err())
		e.until(func() bool { return e.client.XLen(ctx, e.key).Val() == 8 }, "and all but the last that it has read")
		require.Len(e, read(100), 7, "it has missed nothing")
	})
}
