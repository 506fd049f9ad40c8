package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

const adminToken = "a-token-for-tests"

// TestLoad loads a server for some seconds in both modes: no errors, no repeats, and every delivery
// is accounted for. The long run is manual; see docs/reliability.md.
func TestLoad(t *testing.T) {
	for mode, configure := range map[string]func(*testing.T, *configs.Config){
		"embedded": func(*testing.T, *configs.Config) {}, "services": inServices,
	} {
		t.Run(mode, func(t *testing.T) {
			cfg := configs.Default()
			cfg.DataDir, cfg.Auth.AdminToken = t.TempDir(), adminToken
			// Calls to Redis get a share of this timeout, and the machine may be busy.
			cfg.Server.RequestTimeout = 20 * time.Second
			configure(t, &cfg)
			a, address, stop := serve(t, cfg)
			fill(t, a, 3000)
			var out, errs strings.Builder
			code := run(t.Context(), []string{
				"load", "--server", address, "--token", adminToken, "--rate", "100", "--for", "3s", "--agents", "100", "--ingest", "250ms",
			}, &out, &errs)
			require.Zero(t, code, "%s%s", &out, &errs)
			t.Logf("%s", &out)
			assert.NotContains(t, out.String(), "ingest:", "no item was refused")
			assert.Regexp(t, `\ngoroutines +[1-9]`, out.String(), "the server's metrics are read")
			require.NoError(t, stop())
			totals := a.Totals()
			assert.Positive(t, totals.Delivered)
			assert.Equal(t, totals.Delivered, totals.Recorded+totals.Deferred)
		})
	}
}

// inServices configures the real services, with names unique to this test.
func inServices(t *testing.T, cfg *configs.Config) {
	cfg.Redis.URL = testenv.RedisURL(t)
	_, cfg.Redis.KeyPrefix = testenv.Redis(t)
	address, index := testenv.Elastic(t)
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{address}, index
}

// serve runs Freshet as the serve command does. stop ends it.
func serve(t *testing.T, cfg configs.Config) (a *server.App, address string, stop func() error) {
	t.Helper()
	cfg.Server.Drain = 0
	require.NoError(t, cfg.Validate())
	a, err := server.Open(t.Context(), cfg, server.WithLogger(testenv.Logger(t)))
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, l) }()
	stop = sync.OnceValue(func() error { end(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return a, "http://" + l.Addr().String(), stop
}

// fill stores n items with times in the past, and waits until recall finds them.
func fill(t *testing.T, a *server.App, n int) {
	t.Helper()
	now := time.Now().Unix()
	items := make([]feed.Item, n)
	for i := range items {
		items[i] = feed.Item{ID: fmt.Sprintf("doc_%d", i), Title: fmt.Sprintf("Item number %d", i), UpdateTime: now - int64(i) - 10}
	}
	errs, err := a.Catalog.Put(t.Context(), items)
	require.NoError(t, err)
	for _, err := range errs {
		require.NoError(t, err)
	}
	testenv.WaitFor(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), engine.Request{Agent: "u_probe", Action: engine.ActionRefresh, Silent: true, Limit: 10})
		return err == nil && len(answer.Docs) > 0
	}, "the items in recall")
}
