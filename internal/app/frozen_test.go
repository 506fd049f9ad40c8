package app

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
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// feedCall is a call of the feed over HTTP, within the server's own deadline.
// It returns the status and the body.
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

// requestTrips writes down the calls of requests. Greeting the server on a new
// connection is a part of a call.
type requestTrips struct{ trips }

func (h *requestTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if requestOf(ctx) != nil && cmd.Name() != greeting {
			h.note(cmd.Name())
		}
		return next(ctx, cmd)
	}
}

func (h *requestTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if requestOf(ctx) != nil {
			h.note(fmt.Sprintf("pipeline of %d", len(cmds)))
		}
		return next(ctx, cmds)
	}
}

// TestARequestAsksAFrozenRedisOnce counts the calls that one request makes to a
// Redis that does not answer.
func TestARequestAsksAFrozenRedisOnce(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	sent := &requestTrips{}
	a.clients.redis.AddHook(sent) // behind the breaker: what it refuses does not come here
	t.Cleanup(r.Thaw)             // closing would wait for it
	for _, cached := range []bool{false, true} {
		if cached {
			healthy(t, a)
			cacheAll(t, a)
		}
		for action, body := range feedBodies {
			agent := fmt.Sprintf("u_%s_%t", action, cached)
			ask(t, a, refresh(agent, 10))
			recorded(t, a)
			healthy(t, a)
			sent.take()
			r.Freeze()
			status, answer := feedCall(t.Context(), a, agent, body)
			r.Thaw()
			require.Equal(t, http.StatusOK, status, answer)
			assert.Contains(t, answer, `"degraded"`, agent)
			assert.Len(t, slices.Compact(sent.take()), 1, "%s: one call, and its retries", agent)
		}
	}
}

// TestNobodyWaitsInVainForAFrozenRedis sends many requests at once, the first
// of which find out that Redis is frozen: none runs out of time.
func TestNobodyWaitsInVainForAFrozenRedis(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	cfg.Server.RequestTimeout = 10 * time.Second // what is to be slow is Redis, not a busy machine
	cfg.Dedup.PendingGrace = 15 * time.Second
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	const agents = 3 * breakerCalls // by three actions
	for i := range agents {
		ask(t, a, refresh(fmt.Sprintf("u_%d", i), 10))
	}
	cacheAll(t, a)
	recorded(t, a)
	r.Freeze()
	t.Cleanup(r.Thaw)
	for round := range 2 { // in the second the breaker is open
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
	healthy(t, a)
}

// TestACutConnectionIsNoReasonToGiveUp cuts what is idle: the client's retry
// heals it, and the request goes on with Redis.
func TestACutConnectionIsNoReasonToGiveUp(t *testing.T) {
	t.Parallel()
	k := newLink(t, oneRedis(t)[0])
	_, prefix := testenv.Redis(t)
	a := open(t, onRedis(t, prefix, k.l.Addr().String()), WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	healthy(t, a)
	k.set(true)
	k.set(false)
	status, answer := feedCall(t.Context(), a, "u_1", feedBodies["refresh"])
	require.Equal(t, http.StatusOK, status, answer)
	assert.NotContains(t, answer, `"degraded"`)
}
