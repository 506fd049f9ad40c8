package server

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type askedTimes struct{ n atomic.Int64 }

func (h *askedTimes) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *askedTimes) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { h.n.Add(1); return next(ctx, cmd) }
}

func (h *askedTimes) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { h.n.Add(1); return next(ctx, cmds) }
}

// TestMetricsAnswerWhileRedisDoesNot stops Redis: reading the metrics makes no call to it, and
// reports it as down.
func TestMetricsAnswerWhileRedisDoesNot(t *testing.T) {
	cfg, r := redisAlone(t)
	h := &askedTimes{}
	still := func(s *settings) { s.pauses.notes, s.pauses.spool, s.pauses.watch = time.Hour, time.Hour, time.Hour }
	a := open(t, cfg, WithClock(at(noon).Now), WithHooks(Hooks{Redis: h}), still)
	up := func() float64 { return metricOf(t, "freshet_dependency_up", "redis") }
	a.checks.CheckAll(t.Context())
	require.EqualValues(t, 1, up())
	r.Kill()
	a.checks.CheckAll(t.Context())
	require.Zero(t, up())

	before := h.n.Load()
	require.Positive(t, before)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), `freshet_dependency_up{dependency="redis"} 0`)
	assert.Equal(t, before, h.n.Load(), "who reads the metrics would wait for Redis")
}

// metricOf returns the gauge whose only label has this value.
func metricOf(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && m.GetLabel()[0].GetValue() == label {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no %s of %s", name, label)
	return 0
}
