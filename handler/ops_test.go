package handler

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
)

func TestLiveness(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	require.Equal(t, 200, f.do(t, "GET", "/livez", "").status)
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, httptest.NewRequest("HEAD", "/livez", nil))
	require.Equal(t, 200, w.Code)
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 6379}, Err: syscall.ECONNREFUSED}
	for _, tt := range []struct {
		name   string
		deps   map[string]Dependency
		status int
		code   int
		want   string
	}{
		{
			"all up",
			map[string]Dependency{"catalog": {}, "redis": {Optional: true}},
			200, 0,
			`{"catalog":{"state":"up"},"redis":{"state":"up","optional":true}}`,
		},
		{
			"one down",
			map[string]Dependency{"catalog": {}, "redis": {Err: refused}},
			503, 50301,
			`{"catalog":{"state":"up"},"redis":{"state":"down","error":"connection refused"}}`,
		},
		{
			"one down that can be done without",
			map[string]Dependency{"redis": {Err: refused, Optional: true}},
			200, 0,
			`{"redis":{"state":"down","optional":true,"error":"connection refused"}}`,
		},
		{
			"one down for which something stands in",
			map[string]Dependency{"es": {Err: refused, Optional: true, Left: 59*time.Second + time.Millisecond}},
			200, 0,
			`{"es":{"state":"degraded","optional":true,"error":"connection refused","seconds_left":60}}`,
		},
		{
			"one that is needed, for which something stands in",
			map[string]Dependency{"es": {Err: refused, Left: time.Minute, Reason: "the index is wrong"}},
			503, 50301,
			`{"es":{"state":"down","error":"the index is wrong"}}`,
		},
		{
			"up, with a warning",
			map[string]Dependency{"redis": {Optional: true, Warning: "its clock is wrong"}},
			200, 0,
			`{"redis":{"state":"up","optional":true,"warning":"its clock is wrong"}}`,
		},
		{
			"timed out",
			map[string]Dependency{"es": {Err: fmt.Errorf("GET http://u:pw@10.0.0.7: %w", context.DeadlineExceeded)}},
			503, 50301,
			`{"es":{"state":"down","error":"timed out"}}`,
		},
		{
			"unknown name",
			map[string]Dependency{"es": {Err: &net.DNSError{Name: "secret.internal", IsNotFound: true}}},
			503, 50301,
			`{"es":{"state":"down","error":"unknown host name"}}`,
		},
		{
			"unknown name, and further calls are refused",
			map[string]Dependency{"es": {Err: fmt.Errorf("u:pw@10.0.0.7: %w: %w", catalog.ErrUnavailable, refusedCall{&net.DNSError{Name: "secret.internal", IsNotFound: true}})}},
			503, 50301,
			`{"es":{"state":"down","error":"unknown host name"}}`,
		},
		{
			"certificate",
			map[string]Dependency{"es": {Err: fmt.Errorf("10.0.0.7: %w", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "es-1.internal"})}},
			503, 50301,
			`{"es":{"state":"down","error":"its certificate has no subject alternative name"}}`,
		},
		{
			"unavailable",
			map[string]Dependency{"es": {Err: fmt.Errorf("u:pw@10.0.0.7: %w", catalog.ErrUnavailable)}},
			503, 50301,
			`{"es":{"state":"down","error":"catalog is unavailable"}}`,
		},
		{
			"anything",
			map[string]Dependency{"es": {Err: errors.New("WRONGPASS for user u with password pw at 10.0.0.7")}},
			503, 50301,
			`{"es":{"state":"down","error":"the check failed; see the log"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, func(_ *Config, d *Deps) {
				d.Health = healthFunc(func(context.Context) map[string]Dependency { return tt.deps })
			})
			got := f.do(t, "GET", "/readyz", "")
			require.Equal(t, tt.status, got.status)
			require.Equal(t, tt.code, got.Code)
			require.JSONEq(t, `{"dependencies":`+tt.want+`}`, string(got.Data))
			require.Equal(t, tt.status == 503, got.header.Get("Retry-After") == "1")
		})
	}
}

// refusedCall is the error of a call that is refused because an earlier one has failed.
type refusedCall struct{ last error }

func (refusedCall) Error() string        { return "circuit breaker is open" }
func (r refusedCall) LastFailure() error { return r.last }

func TestDependencyDownLoggedOnce(t *testing.T) {
	t.Parallel()
	down := errors.New("dial redis://user:p@ss@10.0.0.7: refused")
	state := Dependency{}
	f := newFixture(t, func(_ *Config, d *Deps) {
		d.Health = healthFunc(func(context.Context) map[string]Dependency { return map[string]Dependency{"redis": state} })
	})
	for _, err := range []error{nil, down, down, nil, nil} {
		state.Err = err
		f.do(t, "GET", "/readyz", "")
	}
	log := f.log.String()
	require.Equal(t, 1, strings.Count(log, "dependency is down"))
	require.Equal(t, 1, strings.Count(log, "dependency is up again"))
	require.Contains(t, log, "10.0.0.7")
	require.NotContains(t, log, "p@ss")
}

// TestProbeCanceled checks that checks canceled by the end of a probe do not count
// as failures of a dependency.
func TestProbeCanceled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(_ *Config, d *Deps) {
		d.Health = healthFunc(func(ctx context.Context) map[string]Dependency {
			return map[string]Dependency{"redis": {Err: ctx.Err()}}
		})
	})
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	f.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/readyz", nil))
	require.NotContains(t, f.log.String(), "dependency is down")
}

func TestMetricsEveryCall(t *testing.T) {
	f := newFixture(t, nil)
	count := func(route, code string) float64 {
		return testutil.ToFloat64(requestsTotal.WithLabelValues(route, code))
	}
	before, unmatched := count("POST /v1/feed", "400"), count("unmatched", "404")
	f.do(t, "POST", "/v1/feed", `{`, asAgent)
	f.do(t, "POST", "/v1/feed", `{"action":"x"}`, asAgent)
	f.do(t, "GET", "/whatever/u_1", "")
	require.Equal(t, before+2, count("POST /v1/feed", "400"))
	require.Equal(t, unmatched+1, count("unmatched", "404"))

	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), `freshet_http_requests_total{code="400",route="POST /v1/feed"}`)
	require.Contains(t, w.Body.String(), `freshet_http_request_seconds_count{route="POST /v1/feed"}`)
}

func TestLogOneLinePerRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	got := f.do(t, "POST", "/v1/feed", `{"action":"load_more","request_id":"retry-7"}`, asAgent, "X-Request-ID: trace-1", "Authorization: Bearer tok123")
	require.Equal(t, "trace-1", got.header.Get("X-Request-ID"))
	lines := strings.Split(strings.TrimSpace(f.log.String()), "\n")
	require.Len(t, lines, 1)
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &line))
	require.Contains(t, line, "ms")
	delete(line, "ms")
	delete(line, "time")
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "request", "method": "POST", "route": "/v1/feed", "status": 200.0, "code": 0.0,
		"agent": "u_1", "bytes": float64(len(got.body)), "request_id": "trace-1",
	}, line)

	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) {
		return engine.Answer{}, errors.New("GET https://elastic:pw@10.0.0.7/: Authorization: Basic abcd== refused")
	}
	got = f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
	lines = strings.Split(strings.TrimSpace(f.log.String()), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[1], `"level":"ERROR"`)
	require.Contains(t, lines[1], got.header.Get("X-Request-ID"))
	require.NotContains(t, lines[1], "pw@")
	require.NotContains(t, lines[1], "abcd")
}

func logLines(t *testing.T, f *fixture) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for text := range strings.Lines(f.log.String()) {
		line := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		lines = append(lines, line)
	}
	return lines
}

func TestLogDegradedParts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) {
		return engine.Answer{Degraded: []string{"dedup", "session"}}, nil
	}
	f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
	f.feed.answer = nil
	f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
	lines := logLines(t, f)
	require.Len(t, lines, 2)
	require.Equal(t, "dedup,session", lines[0]["degraded"])
	require.NotContains(t, lines[1], "degraded", "the next call that uses the buffers")
}

func TestLogProbes(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		f := newFixture(t, nil)
		handler, err := New(Config{Auth: Auth{AdminToken: adminToken}}, Deps{
			Engine: fakeEngine{}, Items: f.items, List: f.items, Ingest: catalog.NewIngest(f.items, catalog.IngestConfig{}),
			Rankings: noRankings{}, Offline: noOffline{}, Counts: countsFunc(nil), Guest: noGuest{},
			Health: healthFunc(func(context.Context) map[string]Dependency {
				return map[string]Dependency{"redis": {Err: errors.New("down")}}
			}),
			Log: slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: level})),
		})
		require.NoError(t, err)
		for range 3 {
			for _, path := range []string{"/livez", "/readyz", "/metrics"} {
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
			}
		}
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/nowhere", nil))
		requests, changes := 0, 0
		for _, line := range logLines(t, f) {
			if line["msg"] == "request" {
				requests++
				require.Equal(t, line["route"] != "unmatched", line["level"] == "DEBUG")
			} else {
				changes++
			}
		}
		require.Equal(t, 1, changes, "that redis is down")
		if level == slog.LevelDebug {
			require.Equal(t, 10, requests)
		} else {
			require.Equal(t, 1, requests, "only the one that is no probe")
		}
	}
}

func TestLogServerErrorRequestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for status, cause := range map[int]error{500: errors.New("a bug"), 503: catalog.ErrUnavailable} {
		f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) { return engine.Answer{}, cause }
		got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent, "X-Request-ID: call-7")
		require.Equal(t, status, got.status)
		require.Contains(t, got.Msg, "(request id call-7)")
		got = f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
		require.Contains(t, got.Msg, "(request id "+got.header.Get("X-Request-ID")+")")
	}
	got := f.do(t, "POST", "/v1/feed", `{"action":"x"}`, asAgent, "X-Request-ID: call-8")
	require.NotContains(t, got.Msg, "call-8", "the caller's own mistake")
}

func TestLogLongMethod(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.do(t, strings.Repeat("A", 5000), "/v1/feed", "")
	line := logLines(t, f)[0]
	require.Equal(t, strings.Repeat("A", maxMethod), line["method"])
}

// BenchmarkMeter measures the cost of counting a request. The baseline looks up the label each
// time.
func BenchmarkMeter(b *testing.B) {
	m := newMeter("GET /bench")
	b.Run("resolved", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.counter(200).Inc()
		}
	})
	b.Run("looked up", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.total.WithLabelValues(strconv.Itoa(200)).Inc()
		}
	})
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a-B_9.:/+=@", requestID([]string{"a-B_9.:/+=@"}))
	seen := map[string]bool{}
	for _, unfit := range []string{"", "a b", "a\nb", "ü", `a"b`, strings.Repeat("a", 129)} {
		id := requestID([]string{unfit})
		require.Regexp(t, "^[0-9a-f]{16}$", id)
		seen[id] = true
	}
	require.Len(t, seen, 6)
}
