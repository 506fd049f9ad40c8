package monitoring

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/app"
	"github.com/freshet/freshet/internal/logqueue"
	"github.com/freshet/freshet/internal/testenv"
)

// scraped are the series of two looks at the metrics.
type scraped struct{ before, after map[string]*dto.MetricFamily }

// fires reports whether an alert's expression, a metric or its increase compared with a
// number, holds for a series. What an alert waits for by "for" is not waited for.
func (s scraped) fires(t *testing.T, name string) bool {
	t.Helper()
	for _, a := range alerts(t) {
		if a.Name != name {
			continue
		}
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(a.Expr)
		require.NoError(t, err)
		compared, ok := expr.(*parser.BinaryExpr)
		require.True(t, ok, a.Expr)
		limit, ok := compared.RHS.(*parser.NumberLiteral)
		require.True(t, ok, a.Expr)
		for _, value := range s.values(t, compared.LHS) {
			if compared.Op == parser.GTR && value > limit.Val || compared.Op == parser.EQLC && value == limit.Val {
				return true
			}
		}
		return false
	}
	require.Fail(t, "there is no alert "+name)
	return false
}

func (s scraped) values(t *testing.T, expr parser.Expr) (values []float64) {
	t.Helper()
	increase, isIncrease := expr.(*parser.Call)
	if isIncrease {
		require.Equal(t, "increase", increase.Func.Name)
		expr = increase.Args[0].(*parser.MatrixSelector).VectorSelector
	}
	selector, ok := expr.(*parser.VectorSelector)
	require.True(t, ok, expr.String())
	began := map[string]float64{}
	if f := s.before[selector.Name]; f != nil && isIncrease {
		for _, m := range f.GetMetric() {
			began[labelsOf(m)] = valueOf(m)
		}
	}
	require.NotNil(t, s.after[selector.Name], selector.Name)
	for _, m := range s.after[selector.Name].GetMetric() {
		values = append(values, valueOf(m)-began[labelsOf(m)])
	}
	return values
}

func labelsOf(m *dto.Metric) string {
	var all strings.Builder
	for _, l := range m.GetLabel() {
		all.WriteString(l.String())
	}
	return all.String()
}

func valueOf(m *dto.Metric) float64 {
	return m.GetGauge().GetValue() + m.GetCounter().GetValue()
}

// elasticProxy stands before Elasticsearch. Its fault answers in its place; nil: none.
type elasticProxy struct {
	fault atomic.Pointer[http.HandlerFunc]
}

func (p *elasticProxy) start(t *testing.T, cfg *configs.Config) {
	t.Helper()
	to, err := url.Parse(cfg.Elasticsearch.Addresses[0])
	require.NoError(t, err)
	through := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := p.fault.Load(); fault != nil {
			(*fault)(w, r)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	cfg.Elasticsearch.Addresses = []string{server.URL}
}

// elastic sends a request to Elasticsearch.
func elastic(t *testing.T, method, address, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Less(t, res.StatusCode, 300, string(text))
}

// TestAlertsOfFaults has each fault happen to a running server, and the alert of it fire.
func TestAlertsOfFaults(t *testing.T) {
	testenv.Full(t, "alerts")
	answer := func(status int) *http.HandlerFunc {
		f := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		return &f
	}
	for _, tt := range []struct {
		name, alert string
		prepare     func(t *testing.T, cfg *configs.Config) (fault func(a *app.App))
	}{
		{"the mapping of the index changes", "FreshetDependencyDown", func(t *testing.T, cfg *configs.Config) func(*app.App) {
			address, index := cfg.Elasticsearch.Addresses[0], cfg.Elasticsearch.Index
			cfg.Elasticsearch.ManageIndex = false
			cfg.Elasticsearch.Fields = configs.Fields{ID: "id", Title: "title", UpdateTime: "time", Tags: "tags"}
			const mapped = `{"mappings":{"properties":{"id":{"type":"keyword"},"title":{"type":"text"},"TAGS":{"type":"keyword"},"time":{"type":"date"}}}}`
			elastic(t, http.MethodPut, address+"/"+index+"-1", strings.Replace(mapped, "TAGS", "tags", 1))
			elastic(t, http.MethodPut, address+"/"+index+"-2", strings.Replace(mapped, "TAGS", "topics", 1))
			elastic(t, http.MethodPut, address+"/"+index+"-1/_alias/"+index, "")
			return func(a *app.App) {
				elastic(t, http.MethodPost, address+"/_aliases", strings.ReplaceAll(`{"actions":[{"remove":{"index":"I-1","alias":"I"}},{"add":{"index":"I-2","alias":"I"}}]}`, "I", index))
				feedOf(t, a)
			}
		}},
		{"the index is deleted", "FreshetDependencyDown", func(t *testing.T, cfg *configs.Config) func(*app.App) {
			address := cfg.Elasticsearch.Addresses[0] + "/" + cfg.Elasticsearch.Index
			return func(a *app.App) {
				elastic(t, http.MethodDelete, address, "")
				feedOf(t, a)
			}
		}},
		{"a proxy answers for Elasticsearch", "FreshetDependencyDown", func(t *testing.T, cfg *configs.Config) func(*app.App) {
			p := &elasticProxy{}
			p.start(t, cfg)
			return func(*app.App) { p.fault.Store(answer(http.StatusUnauthorized)) }
		}},
		{"connections to Elasticsearch die silently", "FreshetDependencyDown", func(t *testing.T, cfg *configs.Config) func(*app.App) {
			p := &elasticProxy{}
			p.start(t, cfg)
			hang := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-t.Context().Done() })
			return func(*app.App) { p.fault.Store(&hang) }
		}},
		{"a Redis without its module takes over", "FreshetDependencyDown", func(t *testing.T, cfg *configs.Config) func(*app.App) {
			r := testenv.StartRedis(t)
			cfg.Redis.URL = "redis://" + r.Addr
			return func(*app.App) { r.Kill(); r.StartBare() }
		}},
		{"PostgreSQL gives fewer connections", "FreshetFewConnections", func(t *testing.T, cfg *configs.Config) func(*app.App) {
			address, _ := testenv.LimitedPostgres(t, 2)
			cfg.Postgres.URL = address + "&pool_max_conns=8"
			return func(a *app.App) {
				var readers sync.WaitGroup
				for i := range 32 {
					readers.Go(func() {
						assert.Equal(t, 200, send(t, a, "GET", "/v1/timeline", "", fmt.Sprint("X-Agent-ID: r_", i)))
					})
				}
				readers.Wait()
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := services(t)
			cfg.Server.RequestTimeout = 5 * time.Second
			fault := tt.prepare(t, &cfg)
			a := open(t, cfg)
			s := scraped{before: gather(t)}
			testenv.WaitFor(t, func() bool { s.after = gather(t); return !s.fires(t, tt.alert) }, "a healthy server")
			fault(a)
			testenv.WaitFor(t, func() bool { s.after = gather(t); return s.fires(t, tt.alert) }, "%s", tt.alert)
		})
	}
}

// feedOf has somebody read.
func feedOf(t *testing.T, a *app.App) {
	t.Helper()
	send(t, a, "POST", "/v1/feed", `{"action":"refresh"}`, "X-Agent-ID: reader")
}

// stalled is a log that nobody reads.
type stalled struct{ until <-chan struct{} }

func (s stalled) Write(p []byte) (int, error) {
	<-s.until
	return len(p), nil
}

// TestTheAlertOfALogThatNobodyReads: the server answers on, and the lines that are dropped
// are counted.
func TestTheAlertOfALogThatNobodyReads(t *testing.T) {
	ctx, read := context.WithCancel(t.Context())
	defer read()
	log := logqueue.New(stalled{ctx.Done()}, 4<<10, func(int) []byte { return nil })
	cfg := embedded(t)
	a, err := app.Open(t.Context(), cfg, app.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close(context.WithoutCancel(t.Context()))) })
	s := scraped{before: gather(t)}
	for range 100 {
		feedOf(t, a)
	}
	s.after = gather(t)
	require.True(t, s.fires(t, "FreshetLogDropped"))
}

// TestTheAlertOfACallThatHangs for longer than any may.
func TestTheAlertOfACallThatHangs(t *testing.T) {
	cfg := embedded(t)
	synctest.Test(t, func(t *testing.T) {
		a, err := app.Open(t.Context(), cfg, app.WithLogger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		body, sender := io.Pipe()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/feed", body)
			r.Header.Set("X-Agent-ID", "reader")
			a.Handler.ServeHTTP(httptest.NewRecorder(), r)
		}()
		s := scraped{after: gather(t)}
		require.False(t, s.fires(t, "FreshetCallsHang"))
		time.Sleep(3 * time.Minute)
		s.after = gather(t)
		assert.True(t, s.fires(t, "FreshetCallsHang"))
		require.NoError(t, sender.Close())
		<-answered
		require.NoError(t, a.Close(t.Context()))
	})
}
