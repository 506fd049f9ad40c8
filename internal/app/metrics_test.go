package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

const metricsToken = "an-admin-token-for-the-metrics"

// send calls a route and returns the status.
func send(t *testing.T, a *App, method, path, body string, headers ...string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	return w.Code
}

// work sends a bit of everything as agents of a name: pages, retries, mistakes.
func work(t *testing.T, a *App, name string) {
	t.Helper()
	const admin = "X-Admin-Token: " + metricsToken
	for i := range 8 {
		agent := fmt.Sprintf("X-Agent-ID: %s_%d", name, i)
		profile := fmt.Sprintf("/v1/agents/%s_%d/profile", name, i)
		require.Equal(t, 200, send(t, a, "PUT", profile, `{"interests":{"tag-1":2},"keywords":["item"]}`, agent))
		require.Equal(t, 200, send(t, a, "POST", "/v1/feed", `{"action":"load_more"}`, agent), "without a session")
		require.Equal(t, 200, send(t, a, "POST", "/v1/feed", `{"action":"refresh"}`, agent))
		for range 2 {
			require.Equal(t, 200, send(t, a, "POST", "/v1/feed", `{"action":"load_more","request_id":"r1"}`, agent))
		}
		require.Equal(t, 200, send(t, a, "POST", "/v1/feed", `{"action":"refresh","silent":true}`, agent))
		require.Equal(t, 200, send(t, a, "POST", "/v1/impressions", `{"ids":["doc_0001"]}`, agent))
		require.Equal(t, 400, send(t, a, "POST", "/v1/feed", `{"action":"`+name+`"}`, agent))
		require.Equal(t, 404, send(t, a, "GET", "/v1/items/"+name, "", admin))
		require.Equal(t, 404, send(t, a, "GET", "/"+name, ""))
	}
	require.Equal(t, 200, send(t, a, "POST", "/v1/items", `{"id":"`+name+`/1","title":"New","update_time":1}`+"\n{}\n", admin))
	require.Equal(t, 401, send(t, a, "POST", "/v1/items", ``))
	require.Equal(t, 200, send(t, a, "GET", "/v1/ranking", "", admin))
	for _, probe := range []string{"/livez", "/readyz", "/metrics"} {
		require.Equal(t, 200, send(t, a, "GET", probe, ""))
	}
	recorded(t, a)
}

// worked is a system that has worked through a mixed load.
func worked(t *testing.T, cfg configs.Config) *App {
	t.Helper()
	cfg.Auth.AdminToken = metricsToken
	cfg.Recall.CacheTTL = time.Second
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, catalogue(300)...)
	work(t, a, "first")
	return a
}

func gather(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	byName := map[string]*dto.MetricFamily{}
	for _, f := range families {
		byName[f.GetName()] = f
	}
	return byName
}

// TestMetrics looks at what a server exports that has done a bit of everything:
// names and types are as Prometheus's conventions have them, and more agents,
// items and mistakes do not make more series.
func TestMetrics(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := worked(t, m.config(t))
			problems, err := testutil.GatherAndLint(prometheus.DefaultGatherer)
			require.NoError(t, err)
			for _, p := range problems {
				// It is a number of days, not a time measured in days.
				if p.Metric != "freshet_mirror_days" {
					assert.False(t, strings.HasPrefix(p.Metric, "freshet_"), "%s: %s", p.Metric, p.Text)
				}
			}

			count := func() (series int) {
				for name, f := range gather(t) {
					if strings.HasPrefix(name, "freshet_") {
						series += len(f.GetMetric())
					}
				}
				return series
			}
			before := count()
			work(t, a, "second")
			assert.Equal(t, before, count(), "series")
			for name, f := range gather(t) {
				for _, metric := range f.GetMetric() {
					for _, l := range metric.GetLabel() {
						assert.NotRegexp(t, `first|second|doc_|tag-|http:|127\.0`, l.GetValue(), "label %s of %s", l.GetName(), name)
					}
				}
			}
		})
	}
}

// TestMetricsAnswerWhileRedisDoesNot freezes Redis: reading the metrics waits
// for nobody, and tells that it is down.
func TestMetricsAnswerWhileRedisDoesNot(t *testing.T) {
	cfg, r := ownRedis(t)
	cfg.Server.RequestTimeout, cfg.Dedup.PendingGrace = 20*time.Second, 30*time.Second
	a := open(t, cfg, WithClock(at(noon).Now))
	up := func() float64 { return testutil.ToFloat64(dependencyUp.WithLabelValues("redis")) }
	require.Eventually(t, func() bool { return up() == 1 }, 20*time.Second, 10*time.Millisecond)
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
