package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/freshet/freshet/internal/version"
)

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
)

type collector struct {
	mu    sync.Mutex
	spans []*tracepb.Span
	// versions are the values of service.version, one per batch.
	versions []string
}

// collect starts a collector and makes systems opened from now on send to it.
func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		raw, _ := io.ReadAll(body)
		var sent collectortrace.ExportTraceServiceRequest
		if assert.NoError(t, proto.Unmarshal(raw, &sent)) {
			c.take(&sent)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return c
}

func (c *collector) take(sent *collectortrace.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range sent.GetResourceSpans() {
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.version" {
				c.versions = append(c.versions, a.GetValue().GetStringValue())
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// paths returns each span of the caller's trace with the names of its parents, except the caller's
// own.
func (c *collector) paths(t *testing.T) []string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	byID := map[string]*tracepb.Span{}
	for _, s := range c.spans {
		byID[hex.EncodeToString(s.GetSpanId())] = s
	}
	var paths []string
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) != callersTrace {
			continue
		}
		path := s.GetName()
		for parent := hex.EncodeToString(s.GetParentSpanId()); parent != callersSpan; {
			above := byID[parent]
			if !assert.NotNil(t, above, "%s hangs in the air", path) {
				break
			}
			path = above.GetName() + " > " + path
			parent = hex.EncodeToString(above.GetParentSpanId())
		}
		paths = append(paths, path)
	}
	return paths
}

func callTraced(t *testing.T, a *App, body string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/feed", strings.NewReader(body))
	req.Header.Set("X-Agent-ID", "u_1")
	req.Header.Set("X-Request-ID", "call-7")
	req.Header.Set("traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, req)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
}

// TestTracing sends requests with a trace context to a server with a collector: the request, its
// stages and the calls of each are connected, below the caller's span.
func TestTracing(t *testing.T) {
	const refresh = "POST /v1/feed > feed refresh > "
	const loadMore = "POST /v1/feed > feed load_more > "
	stages := []string{
		"POST /v1/feed", refresh + "turn", refresh + "open", refresh + "recall", refresh + "dedup", refresh + "page", refresh + "hydrate",
		loadMore + "page", loadMore + "hydrate",
	}
	for mode, want := range map[string][]string{
		"embedded": stages,
		"services": append(stages,
			refresh+"open > redis pipeline", refresh+"recall > elasticsearch search", refresh+"dedup > redis pipeline",
			refresh+"page > redis evalsha", refresh+"hydrate > redis pipeline", refresh+"hydrate > elasticsearch mget",
			loadMore+"page > redis evalsha", loadMore+"hydrate > redis pipeline"),
	} {
		t.Run(mode, func(t *testing.T) {
			config := embedded
			if mode == "services" {
				config = services
			}
			cfg := config(t)
			got := collect(t)
			a := open(t, cfg, WithClock(at(noon).Now))
			put(t, a, madeItems(60)...)
			for range 2 { // the second time scripts are loaded
				callTraced(t, a, `{"action":"refresh"}`)
				callTraced(t, a, `{"action":"load_more"}`)
			}
			for _, probe := range []string{"/livez", "/readyz", "/metrics"} {
				a.Handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, probe, nil))
			}
			require.NoError(t, a.Close(context.WithoutCancel(t.Context())))

			paths := got.paths(t)
			for _, path := range want {
				assert.Contains(t, paths, path)
			}
			for _, s := range got.spans {
				assert.Equal(t, callersTrace, hex.EncodeToString(s.GetTraceId()), "%s: what belongs to no request is not traced", s.GetName())
				if s.GetKind() == tracepb.Span_SPAN_KIND_CLIENT {
					assert.NotContains(t, s.String(), "u_1", "calls do not tell whose they are")
				}
				if s.GetName() == "POST /v1/feed" {
					assert.Contains(t, s.String(), "call-7", "the id in the log finds the trace")
				}
			}
		})
	}
}

// TestTracingCollectorHangsAtShutdown checks that a hanging trace collector neither blocks the stop
// nor makes it fail.
func TestTracingCollectorHangsAtShutdown(t *testing.T) {
	forever := make(chan struct{})
	asked := make(chan struct{}, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-forever
	}))
	defer collector.Close()
	defer close(forever)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	var log bytes.Buffer
	a, err := Open(t.Context(), embedded(t), WithLogger(slog.New(slog.NewTextHandler(&log, nil))), func(s *settings) { s.pauses.spans = 50 * time.Millisecond })
	require.NoError(t, err)
	callTraced(t, a, `{"action":"refresh"}`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	require.NoError(t, a.Close(ctx))
	<-asked
	assert.Contains(t, log.String(), "the last spans were not sent")
	assert.Contains(t, log.String(), "msg=stopped delivered=")
}

type callCounter struct{ n atomic.Int64 }

func (h *callCounter) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *callCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { h.n.Add(1); return next(ctx, cmd) }
}

func (h *callCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { h.n.Add(1); return next(ctx, cmds) }
}

// TestMetricsWhileRedisDown stops Redis: reading the metrics makes no call to it, and reports it as
// down.
func TestMetricsWhileRedisDown(t *testing.T) {
	cfg, r := redisAlone(t)
	h := &callCounter{}
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

// TestVersionIsConsistent compares the version in the metrics, the OpenAPI document and the
// resource of the traces. The test of the command is in cmd/freshet.
func TestVersionIsConsistent(t *testing.T) {
	got := collect(t)
	a := open(t, embedded(t))
	get := func(path string) string {
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, w.Code)
		return w.Body.String()
	}
	assert.Regexp(t, `(?m)^freshet_build_info\{[^}]*version="\Q`+version.String()+`\E"\} 1$`, get("/metrics"))

	var document struct{ Info struct{ Version string } }
	require.NoError(t, json.Unmarshal([]byte(get("/openapi.json")), &document))
	assert.Equal(t, version.String(), document.Info.Version)

	require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	require.NotEmpty(t, got.versions)
	for _, v := range got.versions {
		assert.Equal(t, version.String(), v)
	}
}
