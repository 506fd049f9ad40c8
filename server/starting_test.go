package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// runs is a server that is starting, or runs.
type runs struct {
	url  string
	done chan error
	stop context.CancelFunc
}

func run(t *testing.T, cfg configs.Config, options ...Option) runs {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancelCause(t.Context())
	r := runs{"http://" + l.Addr().String(), make(chan error, 1), func() { stop(ErrAtOnce) }}
	go func() { r.done <- Run(ctx, l, cfg, options...) }()
	return r
}

// call returns the status and the text of an answer.
func (r runs) call(t *testing.T, method, path, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Agent-ID", "u_1")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(all)
}

// waitsFor returns the dependencies that /readyz names.
func (r runs) waitsFor(t *testing.T) (names []string) {
	t.Helper()
	status, text := r.call(t, "GET", "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, status, text)
	var answer struct {
		Code int
		Data struct {
			Dependencies map[string]struct{ State, Error string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &answer), text)
	require.Equal(t, 50301, answer.Code)
	for name, d := range answer.Data.Dependencies {
		assert.Equal(t, "down", d.State)
		assert.NotEmpty(t, d.Error)
		names = append(names, name)
	}
	return names
}

// TestStartingAnswersProbes has services that accept connections and say nothing: a server that waits
// for one lives, is not ready, and says for which it waits.
func TestStartingAnswersProbes(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(cfg *configs.Config, address string){
		"elasticsearch": func(cfg *configs.Config, address string) {
			cfg.Elasticsearch.Addresses = []string{"http://" + address}
		},
		"redis": func(cfg *configs.Config, address string) { cfg.Redis.URL = "redis://" + address },
		"social": func(cfg *configs.Config, address string) {
			cfg.Postgres.URL = "postgres://x@" + address + "/x?sslmode=disable"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := services(t)
			cfg.Server.RequestTimeout = 20 * time.Second
			silent, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = silent.Close() })
			silence(&cfg, silent.Addr().String())
			r := run(t, cfg)
			status, text := r.call(t, "GET", "/livez", "")
			assert.Equal(t, http.StatusOK, status, text)
			assert.JSONEq(t, `{"code":0,"msg":"success","data":{}}`, text)
			testenv.WaitFor(t, func() bool { return fmt.Sprint(r.waitsFor(t)) == "["+name+"]" }, "a server that waits for %s", name)
			status, text = r.call(t, "GET", "/metrics", "")
			assert.Equal(t, http.StatusOK, status)
			assert.Contains(t, text, "go_goroutines")
			r.stop()
			require.NoError(t, <-r.done, "it has cut off nothing")
		})
	}
}

// TestStartingWaitsForMigration starts on tables that are to be migrated and that a transaction uses:
// /readyz says what the start waits for.
func TestStartingWaitsForMigration(t *testing.T) {
	t.Parallel()
	cfg := withoutElastic(t)
	r := run(t, cfg)
	testenv.WaitFor(t, func() bool { status, _ := r.call(t, "GET", "/readyz", ""); return status == http.StatusOK }, "a server that is ready")
	r.stop()
	require.NoError(t, <-r.done)

	reader, err := pgx.Connect(t.Context(), strings.ReplaceAll(cfg.Postgres.URL, fewConns, ""))
	require.NoError(t, err)
	defer func() { _ = reader.Close(context.WithoutCancel(t.Context())) }()
	for _, text := range []string{`DELETE FROM freshet_migrations WHERE version_id >= 7`, `BEGIN`, `SELECT count(*) FROM posts`} {
		_, err = reader.Exec(t.Context(), text)
		require.NoError(t, err)
	}
	r = run(t, cfg)
	testenv.WaitFor(t, func() bool {
		_, text := r.call(t, "GET", "/readyz", "")
		return strings.Contains(text, "a migration of PostgreSQL waits for a transaction that uses its tables")
	}, "a reason in /readyz")
	assert.Equal(t, []string{"social"}, r.waitsFor(t))
	status, text := r.call(t, "GET", "/livez", "")
	assert.Equal(t, http.StatusOK, status, text)
	_, err = reader.Exec(t.Context(), `COMMIT`)
	require.NoError(t, err)
	testenv.WaitFor(t, func() bool { status, _ := r.call(t, "GET", "/readyz", ""); return status == http.StatusOK }, "a server that is ready")
	r.stop()
	require.NoError(t, <-r.done)
}

// TestStartingHoldsCalls checks that calls wait for a server that starts, and are refused after
// server.request_timeout.
func TestStartingHoldsCalls(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	begin := make(chan struct{})
	r := run(t, cfg, WithHooks(Hooks{Elastic: func(c esindex.Client) esindex.Client { <-begin; return c }}))
	answered := make(chan int, 1)
	go func() {
		status, _ := r.call(t, "GET", "/openapi.json", "")
		answered <- status
	}()
	r.waitsFor(t)
	select {
	case status := <-answered:
		t.Fatalf("a call was answered with %d before the server was open", status)
	case <-time.After(50 * time.Millisecond):
	}
	close(begin)
	assert.Equal(t, http.StatusOK, <-answered)
	testenv.WaitFor(t, func() bool { status, _ := r.call(t, "GET", "/readyz", ""); return status == http.StatusOK }, "a server that is ready")
	r.stop()
	require.NoError(t, <-r.done)

	cfg.Server.RequestTimeout = 50 * time.Millisecond
	begin = make(chan struct{})
	r = run(t, cfg, WithHooks(Hooks{Elastic: func(c esindex.Client) esindex.Client { <-begin; return c }}))
	status, text := r.call(t, "GET", "/openapi.json", "")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, text, "the server is starting")
	r.stop()
	close(begin)
	<-r.done
}
