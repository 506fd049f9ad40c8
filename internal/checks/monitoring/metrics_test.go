// Package monitoring compares the metrics of servers after some load with Prometheus's conventions,
// and with the queries of the alerts, the dashboard and the documents.
package monitoring

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server"
)

const metricsToken = "an-admin-token-for-the-metrics"

func send(t *testing.T, a *server.App, method, path, body string, headers ...string) int {
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

// work makes a mixture of calls as agents whose ids begin with name: pages, retries, mistakes.
func work(t *testing.T, a *server.App, name string) {
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
	publish(t, a, name)
	require.Equal(t, 200, send(t, a, "GET", "/v1/ranking", "", admin))
	for _, probe := range []string{"/livez", "/readyz", "/metrics"} {
		require.Equal(t, 200, send(t, a, "GET", probe, ""))
	}
	require.Eventually(t, func() bool {
		totals := a.Totals()
		return totals.Recorded == totals.Delivered
	}, 20*time.Second, time.Millisecond, "recorded does not reach delivered")
}

// publish follows, posts, deletes and reads, and waits until the resulting jobs are done.
func publish(t *testing.T, a *server.App, name string) {
	t.Helper()
	const admin = "X-Admin-Token: " + metricsToken
	author, reader := "X-Agent-ID: "+name+"_0", "X-Agent-ID: "+name+"_1"
	require.Equal(t, 200, send(t, a, "GET", "/v1/timeline", "", reader))
	require.Equal(t, 200, send(t, a, "PUT", "/v1/agents/"+name+"_1/following/"+name+"_0", "", reader))
	events := fmt.Sprintf(`{"type":"post.created","data":{"id":"post:%s","author":{"id":"%s_0"},"caption":"Gone","created_at":%d}}
{"type":"post.deleted","data":{"id":"post:%s","at":"2026-03-06T11:00:01Z"}}
`, name, name, noon.Add(-time.Hour).Unix(), name)
	require.Equal(t, 200, send(t, a, "POST", "/v1/graph/events", events, admin, "Content-Type: application/x-ndjson"))
	require.Equal(t, 201, send(t, a, "POST", "/v1/posts", `{"caption":"Hello","mentions":["`+name+`_2"]}`, author))
	require.Eventually(t, func() bool {
		return send(t, a, "GET", "/v1/timeline", "", reader) == 200 && settled(t, a)
	}, 30*time.Second, 5*time.Millisecond, "the queue is never empty")
}

func settled(t *testing.T, a *server.App) bool {
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/jobs?limit=1", nil)
	r.Header.Set("X-Admin-Token", metricsToken)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Equal(t, 200, w.Code)
	var answer struct {
		Data struct {
			Queue struct {
				Rows []struct{ State string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return !slices.ContainsFunc(answer.Data.Queue.Rows, func(r struct{ State string }) bool { return r.State != "completed" })
}

// worked returns a system after a mixed load.
func worked(t *testing.T, cfg configs.Config) *server.App {
	t.Helper()
	cfg.Auth.AdminToken = metricsToken
	a := open(t, cfg)
	fill(t, a, cfg)
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

// TestMetrics checks the metrics of a server after a mixed load: their names and types follow
// Prometheus's conventions, and more agents, items and mistakes add no series.
func TestMetrics(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := worked(t, m.config(t))
			problems, err := testutil.GatherAndLint(prometheus.DefaultGatherer)
			require.NoError(t, err)
			for _, p := range problems {
				assert.False(t, strings.HasPrefix(p.Metric, "freshet_"), "%s: %s", p.Metric, p.Text)
			}

			count := func() map[string]int {
				series := map[string]int{}
				for name, f := range gather(t) {
					if strings.HasPrefix(name, "freshet_") {
						series[name] = len(f.GetMetric())
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
