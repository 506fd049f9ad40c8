package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/breaker"
)

// feedCall makes a call of the feed over HTTP with the server's own deadline. It returns the status
// and the body.
func feedCall(ctx context.Context, a *App, agent, body string) (int, string) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/feed", strings.NewReader(body))
	r.Header.Set("X-Agent-ID", agent)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
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

// asked waits until the server sends all calls to Redis again. Answers may still report the outage
// during the grace period (see healthy).
func asked(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), refresh("u_probe", 1))
		// While the half-open breaker lets a few calls through, it refuses concurrent ones.
		return err == nil && !sessionless(answer) && a.clients.breaker.State() == gobreaker.StateClosed
	}, "Redis to be asked")
}

// TestARequestAsksAFrozenRedisOnce counts the calls that one request makes to a
// Redis that does not answer.
func TestARequestAsksAFrozenRedisOnce(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	a.clients.redis.AddHook(tripsHook{}) // after the breaker: calls it refuses do not get here
	t.Cleanup(r.Thaw)                    // closing would wait for it
	for _, cached := range []bool{false, true} {
		if cached {
			asked(t, a)
			cacheAll(t, a)
		}
		agent := func(action string) string { return fmt.Sprintf("u_%s_%t", action, cached) }
		for action := range feedBodies {
			ask(t, a, refresh(agent(action), 10))
		}
		recorded(t, a)
		asked(t, a)
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

// TestNobodyWaitsInVainForAFrozenRedis sends many concurrent requests, the first of which find out
// that Redis is frozen. None may run out of time.
func TestNobodyWaitsInVainForAFrozenRedis(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	cfg.Server.RequestTimeout = 10 * time.Second // only Redis may be slow, not a busy machine
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	const agents = 3 * breaker.LeastCalls // by three actions
	for i := range agents {
		ask(t, a, refresh(fmt.Sprintf("u_%d", i), 10))
	}
	cacheAll(t, a)
	recorded(t, a)
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
	asked(t, a)
}

// TestACutConnectionIsNoReasonToGiveUp cuts idle connections: the client's retry succeeds, and the
// request uses Redis.
func TestACutConnectionIsNoReasonToGiveUp(t *testing.T) {
	t.Parallel()
	k := newLink(t, oneRedis(t)[0])
	_, prefix := testenv.Redis(t)
	a := open(t, onRedis(t, prefix, k.l.Addr().String()), WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	asked(t, a)
	k.set(true)
	k.set(false)
	status, answer := feedCall(t.Context(), a, "u_1", feedBodies["refresh"])
	require.Equal(t, http.StatusOK, status, answer)
	assert.NotContains(t, answer, `"degraded"`)
}
