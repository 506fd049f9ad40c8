package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/server"
)

// cookieGateway is a gateway in front of a server. It identifies readers by a cookie, which
// browsers also send with forms of other sites, and passes Host on unchanged. It counts the changes
// passed on for readers.
func cookieGateway(t *testing.T, server string, changes *atomic.Int64) string {
	t.Helper()
	to, err := url.Parse(server)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header.Del("X-Agent-ID")
		r.Out.Header.Del("Cookie")
		if session, err := r.In.Cookie("session"); err == nil {
			r.Out.Header.Set("X-Agent-ID", session.Value)
			if r.In.Method == http.MethodPost {
				changes.Add(1)
			}
		}
	}, ModifyResponse: func(r *http.Response) error {
		r.StatusCode = http.StatusOK // the body has the result, and the browser logs no error
		return nil
	}}
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "u_victim", Path: "/", SameSite: http.SameSiteNoneMode, Secure: true, HttpOnly: true})
			servePage(w, "logged in")
		case "/favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		case "/own":
			servePage(w, "a page behind the gateway")
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(gate.Close)
	return strings.Replace(gate.URL, "127.0.0.1", "localhost", 1)
}

func servePage(w http.ResponseWriter, title string) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = fmt.Fprintf(w, "<!doctype html><link rel=icon href='data:,'><title>%s</title>", title)
}

// another serves a separate page at an address that begins with host.
func another(t *testing.T, host string) string {
	t.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { servePage(w, "a page") }))
	t.Cleanup(page.Close)
	return strings.Replace(page.URL, "127.0.0.1", host, 1)
}

// TestCrossSiteFormsInBrowser has a signed-in reader open pages that post on their behalf: by a
// form, which needs no permission of the server, and by a script with cookies.
func TestCrossSiteFormsInBrowser(t *testing.T) {
	t.Parallel()
	foreign, neighbour, listed := another(t, "127.0.0.1"), another(t, "localhost"), another(t, "127.0.0.1")
	cfg := configs.Default()
	cfg.DataDir, cfg.Server.CORSOrigins = t.TempDir(), []string{listed}
	a, err := server.Open(t.Context(), cfg, server.WithDemo())
	require.NoError(t, err)
	srv := httptest.NewServer(a.Handler)
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	})
	var changes atomic.Int64
	gate := cookieGateway(t, srv.URL, &changes)

	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(gate + "/login")
	for _, page := range []struct {
		name, url string
		taken     bool
	}{
		{"another site", foreign + "/", false},
		{"another port of the same host", neighbour + "/", false},
		{"a listed app", listed + "/", true},
		{"a page behind the gateway", gate + "/own", true},
	} {
		for _, kind := range []string{"text/plain", "multipart/form-data"} {
			before := changes.Load()
			tab.Go(page.url)
			chromium.Eval[bool](tab, fmt.Sprintf(`{
				const form = Object.assign(document.createElement('form'), { method: 'POST', action: %q, enctype: %q });
				const field = form.enctype === 'text/plain'
					? { name: '{"caption":"Not mine","tags":["a', value: '"]}' }
					: { name: 'post', value: '{"caption":"Not mine"}' };
				form.append(Object.assign(document.createElement('input'), field));
				document.body.append(form);
				form.submit();
			} true`, gate+"/v1/posts", kind))
			tab.Until(`location.pathname === '/v1/posts' && document.readyState === 'complete'`)
			answer := chromium.Eval[string](tab, `document.body.textContent`)
			assert.Equal(t, before+1, changes.Load(), "%s, %s: the gateway knew the reader", page.name, kind)
			assert.Equal(t, !page.taken, strings.Contains(answer, "40301"), "%s, %s: %s", page.name, kind, answer)
			assert.Equal(t, page.taken, strings.Contains(answer, "post:"), "%s, %s: %s", page.name, kind, answer)
		}
	}
	resp, err := http.Get(srv.URL + "/v1/authors/u_victim/posts")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var kept struct {
		Data struct{ Items []json.RawMessage }
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&kept))
	assert.Len(t, kept.Data.Items, 4, "what the listed app and the own page have posted")
}
