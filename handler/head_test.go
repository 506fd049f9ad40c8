package handler_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// HEAD is GET without the body (RFC 9110, 9.3.2) on every route with a GET: it has the same status
// and headers, also when refused, and ends at once.
func TestHeadAnswersAsGet(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir := t.TempDir()
	c := openContract(t, func(cfg *configs.Config) { cfg.DataDir = dir })
	seedSocial(t, c.social)
	seedImage(t, c.social, dir)
	seedExports(t, c.social, dir)
	srv := httptest.NewServer(c.server)
	t.Cleanup(srv.Close)
	cases := contractCases()
	for _, op := range slices.Sorted(maps.Keys(c.operations())) {
		_, path, get := strings.Cut(op, "GET ")
		if !get {
			continue
		}
		calls := map[string]exchange{"good": cases[op].good[0], "nobody's": cases[op].good[0].with("X-Other: 1")}
		for name, e := range calls {
			t.Run(name+" "+path, func(t *testing.T) {
				for _, b := range e.before {
					c.call(t, b.op, b)
				}
				get, head := ask(t, srv, "GET", e.request(t, op)), ask(t, srv, "HEAD", e.request(t, op))
				require.Equal(t, get.StatusCode, head.StatusCode)
				for _, name := range []string{"Content-Type", "Cache-Control", "Vary", "Www-Authenticate", "X-Content-Type-Options", "Accept-Ranges"} {
					require.Equal(t, get.Header.Get(name), head.Header.Get(name), name)
				}
				require.NotEmpty(t, head.Header.Get("X-Request-Id"))
				body, err := io.ReadAll(head.Body)
				require.NoError(t, err)
				require.Empty(t, body)
			})
		}
	}
	require.Equal(t, 405, ask(t, srv, "HEAD", httptest.NewRequest("HEAD", "/v1/feed", nil)).StatusCode, "there is no GET")
	require.Equal(t, 404, ask(t, srv, "HEAD", httptest.NewRequest("HEAD", "/v1/no_such", nil)).StatusCode)

	hasty := openContract(t, func(cfg *configs.Config) { cfg.Server.RateLimit = 0.001 })
	const op = "GET /v1/timeline"
	limited := httptest.NewServer(hasty.server)
	t.Cleanup(limited.Close)
	require.Equal(t, 200, ask(t, limited, "HEAD", cases[op].good[0].request(t, op)).StatusCode)
	require.Equal(t, 429, ask(t, limited, "GET", cases[op].good[0].request(t, op)).StatusCode, "HEAD counts as GET does")
}

// ask makes a call over the network, and closes it without reading a stream.
func ask(t *testing.T, srv *httptest.Server, method string, like *http.Request) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL+like.URL.RequestURI(), nil)
	require.NoError(t, err)
	r.Header = like.Header
	res, err := srv.Client().Transport.RoundTrip(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// A body of a type that no route reads is refused. A form's type, which curl -d sends, is
// accepted, and so are the types used for JSON.
func TestBodyContentTypes(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	for kind, status := range map[string]int{
		"": 200, "application/json": 200, "application/json; charset=utf-8": 200, "text/json": 200, "application/vnd.feed+json": 200,
		"application/x-www-form-urlencoded": 200, "text/plain;charset=UTF-8": 200, "application/octet-stream": 200, "nonsense;;": 200,
		"multipart/form-data; boundary=x": 415, "MULTIPART/form-data": 415, "multipart/mixed; boundary=x": 415,
		"image/png": 415, "video/mp4": 415, "audio/ogg": 415, "font/woff2": 415,
		"text/html": 415, "text/xml": 415, "application/xml; charset=utf-8": 415, "application/atom+xml": 415, "application/yaml": 415, "text/csv": 415,
	} {
		for path, body := range map[string]string{"/v1/feed": `{"action":"refresh"}`, "/v1/items": `[]`} {
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			r.Header = http.Header{"X-Agent-Id": {"u_1"}, "X-Admin-Token": {contractToken}}
			if kind != "" {
				r.Header.Set("Content-Type", kind)
			}
			w := httptest.NewRecorder()
			c.server.ServeHTTP(w, r)
			require.Equal(t, status, w.Code, "%s %q: %s", path, kind, w.Body)
			if status == 415 {
				require.Contains(t, w.Body.String(), `"code":41501`)
			}
		}
	}
}
