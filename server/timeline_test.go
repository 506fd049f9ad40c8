package server

import (
	"testing"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/jobs"
)

// networks are the modes with posts, follows and timelines.
var networks = []mode{{"embedded", embedded}, {"services", withPostgres}}

// fewConns limits the connections of a system, because many concurrent systems share the server.
const fewConns = "&pool_max_conns=8"

// withPostgres returns services mode with a schema that no concurrent test uses.
func withPostgres(t testing.TB) configs.Config {
	cfg := services(t)
	cfg.Postgres.URL = testenv.ReusedPostgres(t) + fewConns
	return cfg
}

// withoutElastic is withPostgres with a separate catalog for each server: the data of timelines is
// in Redis and PostgreSQL.
func withoutElastic(t testing.TB) configs.Config {
	_, prefix := testenv.Redis(t)
	cfg := embedded(t)
	cfg.Server.RequestTimeout = 20 * time.Second // as in services
	cfg.Redis.URL, cfg.Redis.KeyPrefix = testenv.RedisURL(t), prefix
	cfg.Postgres.URL = testenv.Postgres(t) + fewConns
	return cfg
}

// settled waits until no job is due or running, and the lists are in use and complete.
func settled(t testing.TB, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		retryFailed(t, a)
		stats, err := a.network.store.Stats(t.Context())
		if err != nil {
			return false
		}
		for _, row := range stats.Rows {
			if row.Kind != jobs.Count && row.State != jobs.Completed { // counts are gathered for a while
				return false
			}
		}
		// A slow Redis can make lists late at any time, and a slow machine keeps jobs waiting.
		return !a.network.completeness.Incomplete() && !a.network.completeness.QueueBehind()
	}, "the queue is empty, and the lists are answered from")
}

// retryFailed retries at once the jobs that failed because a service was slow or down: the clock
// that they wait for stands still in tests.
func retryFailed(t testing.TB, a *App) {
	failed, _ := a.network.store.List(t.Context(), jobs.Filter{State: jobs.Failed})
	for _, j := range failed {
		_ = a.network.store.Retry(t.Context(), j.ID)
	}
}

// TestTimelines runs the cases of a timeline over whole systems, in both modes.
func TestTimelines(t *testing.T) {
	t.Parallel()
	for _, m := range []mode{{"embedded", embedded}, {"services", withoutElastic}} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			enginetest.RunTimelines(t, func(t *testing.T, lists bool, clock feed.Clock) (enginetest.TimelineSystem, bool) {
				if lists && m.name == "embedded" {
					return enginetest.TimelineSystem{}, false
				}
				cfg := m.config(t)
				var r *testenv.OwnRedis
				if lists {
					r = testenv.StartRedis(t)
					cfg.Redis.URL = "redis://" + r.Addr
				}
				a := open(t, cfg, WithClock(clock))
				return enginetest.TimelineSystem{
					Store: a.network.fanout.Store(), Timelines: a.network.timelines,
					Settle: func(t *testing.T) { settled(t, a) }, Lists: func(t *testing.T, up bool) {
						away(t, a, r, up)
						if !up {
							trip(t, a.clients.breaker.Breaker, "command")
						}
					},
				}, true
			})
		})
	}
}

// away stops or starts the Redis of a system.
func away(t *testing.T, a *App, r *testenv.OwnRedis, up bool) {
	t.Helper()
	if !up {
		r.Kill()
		return
	}
	r.Start()
	testenv.WaitFor(t, func() bool { return a.clients.redis.Ping(t.Context()).Err() == nil }, "Redis is asked again")
}
