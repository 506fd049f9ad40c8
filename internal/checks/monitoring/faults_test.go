package monitoring

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/logqueue"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

// elasticProxy is a proxy in front of Elasticsearch. Its fault answers instead; nil means none.
type elasticProxy struct {
	fault atomic.Pointer[http.HandlerFunc]
}

func (p *elasticProxy) start(t *testing.T, cfg *configs.Config) {
	t.Helper()
	through := testenv.Forward(t, cfg.Elasticsearch.Addresses[0], nil)
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

// TestAlertsOnFaults triggers each fault on a running server, and checks that Prometheus fires its
// alert.
func TestAlertsOnFaults(t *testing.T) {
	testenv.Full(t, "alerts")
	answer := func(status int) *http.HandlerFunc {
		f := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		return &f
	}
	for _, tt := range []struct {
		name, down string
		prepare    func(t *testing.T, cfg *configs.Config) (fault func(a *server.App))
	}{
		{"the mapping of the index changes", "elasticsearch", func(t *testing.T, cfg *configs.Config) func(*server.App) {
			address, index := cfg.Elasticsearch.Addresses[0], cfg.Elasticsearch.Index
			cfg.Elasticsearch.ManageIndex = false
			cfg.Elasticsearch.Fields = configs.Fields{ID: "id", Title: "title", UpdateTime: "time", Tags: "tags"}
			const mapped = `{"mappings":{"properties":{"id":{"type":"keyword"},"title":{"type":"text"},"TAGS":{"type":"keyword"},"time":{"type":"date"}}}}`
			elastic(t, http.MethodPut, address+"/"+index+"-1", strings.Replace(mapped, "TAGS", "tags", 1))
			elastic(t, http.MethodPut, address+"/"+index+"-2", strings.Replace(mapped, "TAGS", "topics", 1))
			elastic(t, http.MethodPut, address+"/"+index+"-1/_alias/"+index, "")
			return func(a *server.App) {
				elastic(t, http.MethodPost, address+"/_aliases", strings.ReplaceAll(`{"actions":[{"remove":{"index":"I-1","alias":"I"}},{"add":{"index":"I-2","alias":"I"}}]}`, "I", index))
				feedOf(t, a)
			}
		}},
		{"the index is deleted", "elasticsearch", func(t *testing.T, cfg *configs.Config) func(*server.App) {
			address := cfg.Elasticsearch.Addresses[0] + "/" + cfg.Elasticsearch.Index
			return func(a *server.App) {
				elastic(t, http.MethodDelete, address, "")
				feedOf(t, a)
			}
		}},
		{"the index is closed", "elasticsearch", func(t *testing.T, cfg *configs.Config) func(*server.App) {
			address := cfg.Elasticsearch.Addresses[0] + "/" + cfg.Elasticsearch.Index
			return func(a *server.App) {
				elastic(t, http.MethodPost, address+"/_close", "")
				feedOf(t, a)
			}
		}},
		{"a proxy answers for Elasticsearch", "elasticsearch", func(t *testing.T, cfg *configs.Config) func(*server.App) {
			p := &elasticProxy{}
			p.start(t, cfg)
			return func(*server.App) { p.fault.Store(answer(http.StatusUnauthorized)) }
		}},
		{"connections to Elasticsearch die silently", "elasticsearch", func(t *testing.T, cfg *configs.Config) func(*server.App) {
			p := &elasticProxy{}
			p.start(t, cfg)
			hang := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-t.Context().Done() })
			return func(*server.App) { p.fault.Store(&hang) }
		}},
		{"a Redis without its module takes over", "redis", func(t *testing.T, cfg *configs.Config) func(*server.App) {
			r := testenv.StartRedis(t)
			cfg.Redis.URL = "redis://" + r.Addr
			return func(*server.App) { r.Kill(); r.StartBare() }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := services(t)
			cfg.Server.RequestTimeout = 5 * time.Second
			fault := tt.prepare(t, &cfg)
			a := open(t, cfg)
			p := newMonitor(t)
			is := func(state rules.AlertState) func() bool {
				return func() bool {
					p.scrape(t, a)
					return p.state(t, "FreshetDependencyDown", tt.down) == state
				}
			}
			testenv.WaitFor(t, is(rules.StateInactive), "a healthy server")
			fault(a)
			testenv.WaitFor(t, is(rules.StatePending), "a server that knows of the fault")
			testenv.WaitFor(t, is(rules.StateFiring), "the alert")
		})
	}
}

// TestAlertPostgresConnectionsRefused has a PostgreSQL that refuses connections again and again.
func TestAlertPostgresConnectionsRefused(t *testing.T) {
	testenv.Full(t, "alerts")
	cfg := services(t)
	address, _ := testenv.LimitedPostgres(t, 2)
	cfg.Postgres.URL = address + "&pool_max_conns=8"
	a, p := open(t, cfg), newMonitor(t)
	refused := func() float64 {
		return gather(t)["freshet_postgres_connections_refused_total"].GetMetric()[0].GetCounter().GetValue()
	}
	burst := func() {
		p.scrape(t, a)
		before := refused()
		testenv.WaitFor(t, func() bool {
			var readers sync.WaitGroup
			for i := range 32 {
				readers.Go(func() {
					assert.Equal(t, 200, send(t, a, "GET", "/v1/timeline", "", fmt.Sprint("X-Agent-ID: r_", i)))
				})
			}
			readers.Wait()
			return refused() > before
		}, "PostgreSQL refuses a connection")
		p.scrape(t, a)
	}
	state := func() rules.AlertState { return p.state(t, "FreshetFewConnections", "") }
	burst()
	p.scrapeFor(t, a, 9*time.Minute)
	require.Equal(t, rules.StatePending, state())
	burst()
	p.scrapeFor(t, a, 2*time.Minute)
	require.Equal(t, rules.StateFiring, state())
}

func feedOf(t *testing.T, a *server.App) {
	t.Helper()
	send(t, a, "POST", "/v1/feed", `{"action":"refresh"}`, "X-Agent-ID: reader")
}

// stalled is a log without a reader.
type stalled struct{ until <-chan struct{} }

func (s stalled) Write(p []byte) (int, error) {
	<-s.until
	return len(p), nil
}

// TestAlertLogReaderStalled checks that the server continues to answer, and that dropped
// lines are counted.
func TestAlertLogReaderStalled(t *testing.T) {
	ctx, read := context.WithCancel(t.Context())
	defer read()
	log := logqueue.New(stalled{ctx.Done()}, 4<<10, func(int) []byte { return nil })
	cfg := embedded(t)
	a, err := server.Open(t.Context(), cfg, server.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close(context.WithoutCancel(t.Context()))) })
	p := newMonitor(t)
	p.scrape(t, a)
	require.Equal(t, rules.StateInactive, p.state(t, "FreshetLogDropped", ""))
	for range 100 {
		feedOf(t, a)
	}
	p.scrape(t, a)
	require.Equal(t, rules.StatePending, p.state(t, "FreshetLogDropped", ""))
	p.scrapeFor(t, a, 5*time.Minute)
	require.Equal(t, rules.StateFiring, p.state(t, "FreshetLogDropped", ""))
}

// TestAlertCallHangs has a call that takes longer than any call may.
func TestAlertCallHangs(t *testing.T) {
	cfg, p := embedded(t), newMonitor(t)
	synctest.Test(t, func(t *testing.T) {
		a, err := server.Open(t.Context(), cfg, server.WithLogger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		body, sender := io.Pipe()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/feed", body)
			r.Header.Set("X-Agent-ID", "reader")
			a.Handler.ServeHTTP(httptest.NewRecorder(), r)
		}()
		p.scrape(t, a)
		assert.Equal(t, rules.StateInactive, p.state(t, "FreshetCallsHang", ""))
		for range 4 * time.Minute / p.every {
			time.Sleep(p.every)
			p.scrape(t, a)
		}
		assert.Equal(t, rules.StateFiring, p.state(t, "FreshetCallsHang", ""))
		require.NoError(t, sender.Close())
		<-answered
		require.NoError(t, a.Close(t.Context()))
	})
}
