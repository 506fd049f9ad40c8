package handler

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const app, otherOrigin = "https://app.example.com", "https://evil.example.com"

func corsFixture(t *testing.T, cfg CORS) *fixture {
	t.Helper()
	return newFixture(t, func(c *Config, _ *Deps) { c.CORS = cfg })
}

// ask makes a call from a page of an origin and returns the raw answer: a
// preflight has no envelope.
func (f *fixture) ask(method, path, origin string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, strings.NewReader(`{"action":"refresh"}`))
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w.Result()
}

func varies(h http.Header, on string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(h["Vary"], ","), ","), func(v string) bool { return strings.EqualFold(strings.TrimSpace(v), on) })
}

func TestCORSPreflight(t *testing.T) {
	t.Parallel()
	exact, cookies, all := CORS{Origins: []string{app, "http://localhost:3000"}}, CORS{Origins: []string{app}, Credentials: true}, CORS{Origins: []string{"*"}}
	for _, tt := range []struct {
		name                 string
		cfg                  CORS
		path, origin, method string
		headers              string
		allowed, credentials string // Access-Control-Allow-…
	}{
		{"listed", exact, "/v1/feed", app, "POST", "content-type,x-agent-id", app, ""},
		{"listed, the other", exact, "/v1/feed", "http://localhost:3000", "POST", "content-type", "http://localhost:3000", ""},
		{"a token", exact, "/v1/feed", app, "POST", "authorization,content-type,idempotency-key,x-request-id", app, ""},
		{"traced", exact, "/v1/impressions", app, "POST", "traceparent,tracestate", app, ""},
		{"traced by others", exact, "/v1/feed", app, "POST", "baggage,content-type,sentry-trace", app, ""},
		{"a header of the app's own", cookies, "/v1/feed", app, "POST", "x-app-version", app, "true"},
		{"the same, of everyone", all, "/v1/feed", otherOrigin, "POST", "baggage,x-app-version", "*", ""},
		{"a profile", exact, "/v1/agents/u_1/profile", app, "PUT", "content-type", app, ""},
		{"an admin's tool", exact, "/v1/ranking", app, "PUT", "content-type,if-match,x-admin-token", app, ""},
		{"deleting", exact, "/v1/items/a/b", app, "DELETE", "x-admin-token", app, ""},
		{"editing", exact, "/v1/posts/post:1", app, "PATCH", "content-type,x-agent-id", app, ""},
		{"a stream that goes on", exact, "/v1/stream", app, "GET", "last-event-id,x-agent-id", app, ""},
		{"no other headers", exact, "/v1/events", app, "POST", "", app, ""},
		{"cookies", cookies, "/v1/feed", app, "POST", "content-type", app, "true"},
		{"everyone", all, "/v1/feed", otherOrigin, "POST", "content-type,x-agent-id", "*", ""},

		{"not listed", exact, "/v1/feed", otherOrigin, "POST", "content-type", "", ""},
		{"not listed, cookies", cookies, "/v1/feed", otherOrigin, "POST", "content-type", "", ""},
		{"another scheme", exact, "/v1/feed", "http://app.example.com", "POST", "content-type", "", ""},
		{"another port", exact, "/v1/feed", app + ":8443", "POST", "content-type", "", ""},
		{"a longer host", exact, "/v1/feed", app + ".evil.example.com", "POST", "content-type", "", ""},
		{"null", exact, "/v1/feed", "null", "POST", "content-type", "", ""},
		{"not listed, a header of its own", exact, "/v1/feed", otherOrigin, "POST", "x-app-version", "", ""},
		{"an unknown method", exact, "/v1/feed", app, "TRACE", "", "", ""},
		{"operators' routes", all, "/metrics", otherOrigin, "GET", "authorization", "", ""},
		{"nobody", CORS{}, "/v1/feed", app, "POST", "content-type", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := corsFixture(t, tt.cfg)
			ask := []string{"Access-Control-Request-Method: " + tt.method}
			if tt.headers != "" {
				ask = append(ask, "Access-Control-Request-Headers: "+tt.headers)
			}
			res := f.ask("OPTIONS", tt.path, tt.origin, ask...)
			h := res.Header
			assert.Equal(t, tt.allowed, h.Get("Access-Control-Allow-Origin"))
			assert.Equal(t, tt.credentials, h.Get("Access-Control-Allow-Credentials"))
			require.Zero(t, f.feed.asked(), "a preflight does nothing")
			if tt.allowed == "" {
				assert.Empty(t, h.Get("Access-Control-Allow-Methods"))
				assert.Empty(t, h.Get("Access-Control-Allow-Headers"))
				return
			}
			assert.Equal(t, http.StatusNoContent, res.StatusCode)
			assert.Equal(t, tt.method, h.Get("Access-Control-Allow-Methods"))
			assert.Equal(t, tt.headers, h.Get("Access-Control-Allow-Headers"))
			assert.Equal(t, "7200", h.Get("Access-Control-Max-Age"))
			assert.True(t, varies(h, "Origin"))
			assert.NotEmpty(t, h.Get("X-Request-Id"), "it is logged as every call is")
		})
	}
}

func TestCORSAnswers(t *testing.T) {
	t.Parallel()
	exact, all := CORS{Origins: []string{app}, Credentials: true}, CORS{Origins: []string{"*"}}
	for _, tt := range []struct {
		name                 string
		cfg                  CORS
		method, path, origin string
		status               int
		allowed, credentials string
	}{
		{"listed", exact, "POST", "/v1/feed", app, 200, app, "true"},
		{"everyone may read", all, "GET", "/v1/agents/u_1/profile", otherOrigin, 404, "*", ""},
		{"and act in nobody's name", all, "POST", "/v1/feed", otherOrigin, 403, "*", ""},
		{"a page must read refusals, too", exact, "POST", "/v1/explain", app, 403, app, "true"},
		{"no such route", exact, "GET", "/v1/no/such", app, 404, app, "true"},
		{"no such method", exact, "GET", "/v1/feed", app, 405, app, "true"},
		{"the description", all, "GET", "/openapi.json", otherOrigin, 200, "*", ""},
		{"the description's header", all, "HEAD", "/openapi.json", otherOrigin, 200, "*", ""},
		{"not listed", exact, "POST", "/v1/feed", otherOrigin, 403, "", ""},
		{"no page", exact, "POST", "/v1/feed", "", 200, "", ""},
		{"metrics", all, "GET", "/metrics", otherOrigin, 200, "", ""},
		{"readiness", all, "GET", "/readyz", otherOrigin, 200, "", ""},
		{"our pages", all, "GET", "/console", otherOrigin, 200, "", ""},
		{"nobody", CORS{}, "POST", "/v1/feed", app, 403, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := corsFixture(t, tt.cfg).ask(tt.method, tt.path, tt.origin, asAgent)
			assert.Equal(t, tt.status, res.StatusCode)
			assert.Equal(t, tt.allowed, res.Header.Get("Access-Control-Allow-Origin"))
			assert.Equal(t, tt.credentials, res.Header.Get("Access-Control-Allow-Credentials"))
			if tt.allowed != "" {
				assert.Equal(t, "Etag, Retry-After, X-Request-Id", res.Header.Get("Access-Control-Expose-Headers"))
			}
			wantsVary := len(tt.cfg.Origins) > 0 && (strings.HasPrefix(tt.path, "/v1") || tt.path == "/openapi.json")
			assert.Equal(t, wantsVary, varies(res.Header, "Origin"), "a cache must not give one origin's answer to another")
		})
	}
}

func TestCORSNoOriginsAllowed(t *testing.T) {
	t.Parallel()
	res := corsFixture(t, CORS{}).ask("OPTIONS", "/v1/feed", app)
	require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
	_, err := New(Config{Adjustable: Adjustable{CORS: CORS{Origins: []string{"*"}, Credentials: true}}}, Deps{})
	require.ErrorContains(t, err, "credentials to all origins")
}
