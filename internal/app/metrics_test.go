package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMetricsAnswerWhileRedisDoesNot freezes Redis: reading the metrics waits
// for nobody, and tells that it is down.
func TestMetricsAnswerWhileRedisDoesNot(t *testing.T) {
	cfg, r := ownRedis(t)
	cfg.Server.RequestTimeout, cfg.Dedup.PendingGrace = 20*time.Second, 30*time.Second
	a := open(t, cfg, WithClock(at(noon).Now))
	up := func() float64 { return testutil.ToFloat64(dependencyUp.WithLabelValues("redis")) }
	require.Eventually(t, func() bool { return up() == 1 }, time.Minute, 10*time.Millisecond)
	r.Freeze()
	defer r.Thaw()
	require.Eventually(t, func() bool { return up() == 0 }, 30*time.Second, 10*time.Millisecond)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answered := make(chan int, 1)
	go func() {
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
		answered <- w.Code
	}()
	select {
	case code := <-answered:
		assert.Equal(t, http.StatusOK, code)
	case <-ctx.Done():
		t.Fatal("the metrics wait for Redis")
	}
}
