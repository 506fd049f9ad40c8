package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/breaker"
)

// TestRedisDownFailOpen kills and freezes Redis during a session. The feed continues and repeats
// nothing that this process remembers. Its deliveries meanwhile are in a filter once Redis is back,
// even an empty one. A retry gets the same page, during the outage and after it.
func TestRedisDownFailOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		config     func(*testing.T) (configs.Config, *testenv.OwnRedis)
		down, back func(*testenv.OwnRedis)
		forgets    bool // impressions recorded before the outage
	}{
		{"killed, back empty", redisAlone, (*testenv.OwnRedis).Kill, (*testenv.OwnRedis).Start, true},
		{"frozen", ownRedis, (*testenv.OwnRedis).Freeze, (*testenv.OwnRedis).Thaw, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg, r := c.config(t)
			a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
			put(t, a, madeItems(300)...)
			before := ask(t, a, refresh("u_1", 10))
			require.Nil(t, before.Degraded)
			retries := beginRetries(t, a)
			waitRecorded(t, a)

			c.down(r)
			seen := newOnce()
			seen.add(t, "before", ids(before)) // this process remembers them
			firstWithoutRedis(t, a, seen)
			retries.whileDown(t, a)
			withoutRedis(t, a, seen)
			state := a.checks.Check(t.Context())["redis"]
			assert.Error(t, state.Err)
			assert.True(t, state.Optional, "failing open, the server stays ready")

			c.back(r)
			if !c.forgets { // the old session is back, with the items delivered without it
				testenv.WaitFor(t, func() bool { return a.clients.redis.Ping(t.Context()).Err() == nil }, "Redis is asked again")
				testenv.WaitFor(t, func() bool {
					answer := ask(t, a, loadMore("u_1", 10))
					seen.add(t, "the old session", ids(answer))
					return answer.Degraded == nil
				}, "an answer from the old session")
			}
			waitHealthy(t, a)
			retries.afterwards(t, a, !c.forgets)
			if c.forgets {
				for _, id := range ids(before) {
					delete(seen.seen, id)
				}
			}
			after := ask(t, a, refresh("u_1", 50))
			seen.add(t, "after it came back", ids(after))
			var groups []string
			for id := range seen.seen {
				groups = append(groups, id)
			}
			waitAccounted(t, a, groups)
		})
	}
}

// firstWithoutRedis checks that the first call is answered within its deadline, although it waits
// for Redis.
func firstWithoutRedis(t *testing.T, a *App, seen *once) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), a.cfg.Server.RequestTimeout)
	defer cancel()
	first, err := a.Engine.Feed(ctx, refresh("u_1", 10))
	require.NoError(t, err)
	require.Len(t, first.Docs, 10)
	seen.add(t, "the first call", ids(first))
}

// withoutRedis continues to read while Redis is down.
func withoutRedis(t *testing.T, a *App, seen *once) {
	t.Helper()
	openBreaker(t, a.clients.breaker.Breaker, "command")
	_, err := a.stores.sessions.Pop(t.Context(), cache.Pop{Agent: "u_1", Limit: 1, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	for range 5 {
		for _, r := range []engine.Request{refresh("u_1", 10), loadMore("u_1", 10)} {
			answer := ask(t, a, r)
			assert.Equal(t, []string{"dedup", "session"}, answer.Degraded)
			assert.True(t, answer.HasMore)
			require.Len(t, answer.Docs, 10)
			seen.add(t, "while down", ids(answer))
		}
	}
	badge := ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 10, Silent: true})
	assert.Empty(t, badge.Docs)
	assert.NotNil(t, badge.Degraded)
}

// TestRedisDownFailClosed checks that a server that fails closed refuses calls without dedup.
func TestRedisDownFailClosed(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	cfg.Dedup.OnFailure = configs.FailClosed
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	put(t, a, madeItems(50)...)
	first := ask(t, a, refresh("u_1", 10))
	r.Freeze()
	for _, request := range []engine.Request{refresh("u_1", 10), loadMore("u_1", 10)} {
		_, err := a.Engine.Feed(t.Context(), request)
		require.Error(t, err)
		openBreaker(t, a.clients.breaker.Breaker, "command")
	}
	assert.False(t, a.checks.Check(t.Context())["redis"].Optional, "failing closed, the server is not ready")
	r.Thaw()
	waitHealthy(t, a)
	seen := newOnce()
	seen.add(t, "before", ids(first))
	seen.add(t, "after", ids(ask(t, a, loadMore("u_1", 10))))
}

// TestRedisDownFailClosedRefusesStart checks that a server that fails closed does not start without
// Redis.
func TestRedisDownFailClosedRefusesStart(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), onRedis(t, "", "127.0.0.1:1"))
	require.ErrorContains(t, err, "redis")
}

func named(r engine.Request, id string) engine.Request {
	r.RequestID = id
	return r
}

// retries is a reader who retries calls while Redis is down and afterwards: this server answers the
// same page, and nothing is repeated.
type retries struct {
	seen  *once
	calls []engine.Request
	first []engine.Answer
}

// beginRetries creates a session of the reader in Redis.
func beginRetries(t *testing.T, a *App) *retries {
	t.Helper()
	r := &retries{seen: newOnce()}
	r.seen.add(t, "before", ids(ask(t, a, refresh("u_again", 10))))
	return r
}

// whileDown sends each call several times concurrently.
func (r *retries) whileDown(t *testing.T, a *App) {
	t.Helper()
	for _, call := range []engine.Request{named(loadMore("u_again", 10), "r1"), named(refresh("u_again", 7), "r2")} {
		answers := make([]engine.Answer, 4)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				answer, err := a.Engine.Feed(t.Context(), call)
				assert.NoError(t, err)
				answers[i] = answer
			})
		}
		wg.Wait()
		for _, other := range answers {
			assert.Equal(t, ids(answers[0]), ids(other))
		}
		r.calls, r.first = append(r.calls, call), append(r.first, answers[0])
		r.seen.add(t, "while Redis is down", ids(answers[0]))
	}
	r.refused(t, a)
}

// refused sends the ids of calls in different calls.
func (r *retries) refused(t *testing.T, a *App) {
	t.Helper()
	silent, home := refresh("u_again", 10), loadMore("u_again", 10)
	silent.Silent, home.Feed = true, feed.HomeFeed
	for _, call := range []engine.Request{refresh("u_again", 7), loadMore("u_again", 9), silent, home} {
		_, err := a.Engine.Feed(t.Context(), named(call, "r1"))
		require.ErrorIs(t, err, cache.ErrConflict, "%+v", call)
	}
}

// afterwards repeats the calls once Redis is back, and pages to the end. If Redis has retained its
// data, items that it had popped for calls which continued without it are restored.
func (r *retries) afterwards(t *testing.T, a *App, kept bool) {
	t.Helper()
	for i, call := range r.calls {
		assert.Equal(t, ids(r.first[i]), ids(ask(t, a, call)), "after the outage")
	}
	r.refused(t, a)
	for {
		answer := ask(t, a, loadMore("u_again", 50))
		if len(answer.Docs) == 0 {
			break
		}
		r.seen.add(t, "after the outage", ids(answer))
	}
	if kept {
		testenv.WaitFor(t, func() bool {
			answer := ask(t, a, refresh("u_again", 50))
			r.seen.add(t, "given back", ids(answer))
			return r.seen.len() == 300
		}, "what was taken for a page that nobody got is given back")
	}
}

var feedBodies = map[string]string{
	"refresh":   `{"action":"refresh","limit":10}`,
	"load_more": `{"action":"load_more","limit":10}`,
	"silent":    `{"action":"refresh","silent":true,"limit":10}`,
}

// tripsOf is the context key of a request's [trips].
type tripsOf struct{}

// tripsHook records the calls of requests that have [trips]. The handshake of a new connection is a
// part of a call.
type tripsHook struct{}

func (tripsHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (tripsHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if of, ok := ctx.Value(tripsOf{}).(*trips); ok && cmd.Name() != "hello" {
			of.note(cmd.Name())
		}
		return next(ctx, cmd)
	}
}

func (tripsHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if of, ok := ctx.Value(tripsOf{}).(*trips); ok {
			of.note(fmt.Sprintf("pipeline of %d", len(cmds)))
		}
		return next(ctx, cmds)
	}
}

// TestRedisFrozenCalledOncePerRequest counts the calls that one request makes to a Redis that does
// not answer.
func TestRedisFrozenCalledOncePerRequest(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	a.clients.redis.AddHook(tripsHook{}) // after the breaker: calls it refuses do not get here
	t.Cleanup(r.Thaw)                    // closing would wait for it
	for _, cached := range []bool{false, true} {
		if cached {
			waitRedisUsed(t, a)
			cacheAllItems(t, a)
		}
		agent := func(action string) string { return fmt.Sprintf("u_%s_%t", action, cached) }
		for action := range feedBodies {
			ask(t, a, refresh(agent(action), 10))
		}
		waitRecorded(t, a)
		waitRedisUsed(t, a)
		r.Freeze()
		var all sync.WaitGroup
		for action, body := range feedBodies {
			all.Go(func() {
				sent := &trips{}
				status, answer := feedCall(context.WithValue(t.Context(), tripsOf{}, sent), a, agent(action), body)
				assert.Equal(t, http.StatusOK, status, answer)
				assert.Contains(t, answer, `"degraded"`, agent(action))
				assert.Len(t, slices.Compact(sent.take()), 1, "%s: one call, and its retries", agent(action))
			})
		}
		all.Wait()
		r.Thaw()
	}
}

// TestRedisFrozenFailsFast sends many concurrent requests, the first of which find out that Redis
// is frozen. None may run out of time.
func TestRedisFrozenFailsFast(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	cfg.Server.RequestTimeout = 10 * time.Second // only Redis may be slow, not a busy machine
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	const agents = 3 * breaker.LeastCalls // by three actions
	for i := range agents {
		ask(t, a, refresh(fmt.Sprintf("u_%d", i), 10))
	}
	cacheAllItems(t, a)
	waitRecorded(t, a)
	r.Freeze()
	t.Cleanup(r.Thaw)
	for round := range 2 { // in the second round the breaker is open
		var wg sync.WaitGroup
		for i := range agents {
			for action, body := range feedBodies {
				wg.Go(func() {
					status, answer := feedCall(t.Context(), a, fmt.Sprintf("u_%d", i), body)
					assert.Equal(t, http.StatusOK, status, "round %d: %s: %s", round, action, answer)
				})
			}
		}
		wg.Wait()
	}
	r.Thaw()
	waitRedisUsed(t, a)
}

// TestRedisConnectionLostIsRetried cuts idle connections: the client's retry succeeds, and the
// request uses Redis.
func TestRedisConnectionLostIsRetried(t *testing.T) {
	t.Parallel()
	k := newLink(t, redisAddrs(t)[0])
	_, prefix := testenv.Redis(t)
	a := open(t, onRedis(t, prefix, k.l.Addr().String()), WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	waitRedisUsed(t, a)
	k.set(true)
	k.set(false)
	status, answer := feedCall(t.Context(), a, "u_1", feedBodies["refresh"])
	require.Equal(t, http.StatusOK, status, answer)
	assert.NotContains(t, answer, `"degraded"`)
}
