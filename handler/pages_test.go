package handler

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func get(t *testing.T, f *fixture, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

var loaded = regexp.MustCompile(`(?:src|href)="([^"#]+)"`)

// Every file that a page loads exists, comes from this server, and has a type that browsers
// require.
func TestPagesLoadOnlyServedFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for page, least := range map[string]int{"/": 3, "/console": 4} {
		w := get(t, f, page)
		require.Equal(t, http.StatusOK, w.Code, page)
		assert.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
		assert.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
		again := get(t, f, page, "If-None-Match: "+w.Header().Get("ETag"))
		assert.Equal(t, http.StatusNotModified, again.Code)
		assert.Equal(t, "no-cache", again.Header().Get("Cache-Control"), "as with the page")
		assert.NotContains(t, w.Body.String(), "<script>", "the policy forbids it")
		assert.NotContains(t, w.Body.String(), "style=", "the policy forbids it")
		assets := 0
		for _, m := range loaded.FindAllStringSubmatch(w.Body.String(), -1) {
			if m[1] == "data:," {
				continue
			}
			require.True(t, strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "//"), "%s names %s", page, m[1])
			if !strings.HasPrefix(m[1], "/assets/") {
				continue
			}
			assets++
			a := get(t, f, m[1])
			assert.Equal(t, http.StatusOK, a.Code, m[1])
			assert.Regexp(t, "^text/(css|javascript); charset=utf-8$", a.Header().Get("Content-Type"))
			assert.Equal(t, "nosniff", a.Header().Get("X-Content-Type-Options"))
		}
		assert.GreaterOrEqual(t, assets, least, page)
	}
}

func TestPagesMoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for path, to := range map[string]string{
		"/docs/": "/docs", "/console/": "/console", "/lab": "/console#/ranking", "/lab/": "/console#/ranking",
	} {
		w := get(t, f, path)
		assert.Equal(t, http.StatusPermanentRedirect, w.Code, path)
		assert.Equal(t, to, w.Header().Get("Location"))
	}
	assert.Equal(t, http.StatusNotFound, get(t, f, "/livez/").Code)
	assert.Equal(t, http.StatusMethodNotAllowed, f.do(t, "POST", "/docs", "").status)
	assert.Equal(t, http.StatusNotFound, f.do(t, "POST", "/docs/", "").status)
}

func TestPagesNoOtherFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, path := range []string{"/assets/", "/assets/web.go", "/assets/../web.go", "/assets/feed", "/assets/feed/", "/assets//etc/passwd", "/assets/feed/nothing.js"} {
		w := get(t, f, path)
		assert.Equal(t, http.StatusNotFound, w.Code, path)
		assert.Contains(t, w.Body.String(), "40401", path)
	}
}
