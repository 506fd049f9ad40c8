package handler

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func (f *fixture) profile(path, header string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

func TestPprofNeedsAdmin(t *testing.T) {
	t.Parallel()
	on := newFixture(t, nil)
	closed := newFixture(t, func(c *Config, _ *Deps) { c.Auth.AdminToken = "" })
	for _, path := range []string{
		"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/pprof/profile?seconds=1",
		"/debug/pprof/cmdline", "/debug/pprof/symbol", "/debug/pprof/trace?seconds=1",
	} {
		for _, c := range []struct {
			name   string
			server *fixture
			header string
			status int
		}{
			{"nobody", on, "", 401},
			{"a wrong token", on, "Authorization: Bearer wrong", 401},
			{"an agent", on, asAgent, 403},
			{"no token is configured", closed, asAdmin, 403},
		} {
			require.Equal(t, c.status, c.server.profile(path, c.header).Code, "%s: %s", c.name, path)
		}
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/symbol"} {
		got := on.profile(path, asAdmin)
		require.Equal(t, 200, got.Code, path)
		require.NotEmpty(t, got.Body.String())
		require.Equal(t, "no-store", got.Header().Get("Cache-Control"))
	}
	require.Equal(t, 404, on.profile("/debug/pprof/nothing", asAdmin).Code)
	require.Equal(t, 404, on.profile("/debug/pprof/cmdline", asAdmin).Code, "secrets may be among the flags")

	unzip, err := gzip.NewReader(on.profile("/debug/pprof/heap", asAdmin).Body)
	require.NoError(t, err, "a profile is gzipped protocol buffers")
	heap, err := io.ReadAll(unzip)
	require.NoError(t, err)
	require.Contains(t, string(heap), "inuse_space")
}

func TestPprofInDemo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config, _ *Deps) { c.Auth.AdminToken, c.Auth.Demo = "", true })
	for _, tt := range []struct {
		name, peer, forwarded string
		status                int
	}{
		{"this machine", "127.0.0.1:1000", "", 200},
		{"another machine", "10.0.0.7:1000", "", 403},
		{"another machine, through a proxy on this one", "127.0.0.1:1000", "10.0.0.7", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/debug/pprof/", nil)
		r.RemoteAddr = tt.peer
		if tt.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, tt.name)
	}
}
