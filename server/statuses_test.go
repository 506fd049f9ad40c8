package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestStatusesOfElasticsearch checks that, whatever status Elasticsearch or a proxy before it
// answers, known readers get degraded answers, writes are refused for now, and readiness reports
// it.
func TestStatusesOfElasticsearch(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	var status atomic.Int64
	var own atomic.Bool // Elasticsearch answers itself
	behind := testenv.Forward(t, cfg.Elasticsearch.Addresses[0], nil)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := int(status.Load())
		switch {
		case code == 0:
			behind.ServeHTTP(w, r)
		case own.Load():
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"error":{"type":"security_exception","reason":"x"},"status":%d}`, code)
		default:
			w.Header().Set("Location", "/login")
			w.WriteHeader(code)
			_, _ = fmt.Fprint(w, "<html>error</html>")
		}
	}))
	t.Cleanup(proxy.Close)
	cfg.Elasticsearch.Addresses = []string{proxy.URL}
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	cacheAll(t, a)
	call := func(method, path, agent, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("X-Agent-ID", agent)
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	n := 0
	for _, answer := range []struct {
		status int
		own    bool
	}{
		{401, true},
		{403, true},
		{500, true},
		{302, false},
		{401, false},
		{403, false},
		{404, false},
		{408, false},
		{413, false},
		{500, false},
		{520, false},
		{400, false},
	} {
		n++
		agent, name := fmt.Sprintf("known_%d", n), fmt.Sprintf("%d own=%t", answer.status, answer.own)
		code, body := call("POST", "/v1/feed", agent, `{"action":"refresh","limit":10}`)
		require.Equal(t, http.StatusOK, code, body)
		own.Store(answer.own)
		status.Store(int64(answer.status))
		for _, action := range []string{"load_more", "refresh"} {
			code, body = call("POST", "/v1/feed", agent, `{"action":"`+action+`","limit":10}`)
			assert.Equal(t, http.StatusOK, code, "%s, %s: %s", name, action, body)
		}
		assert.Contains(t, body, `"degraded":["recall"]`, "%s: %s", name, body)
		code, body = call("PUT", "/v1/agents/"+agent+"/profile", agent, `{"interests":{"a":1}}`)
		assert.Equal(t, http.StatusServiceUnavailable, code, "%s: %s", name, body)
		_, body = call("GET", "/readyz", "", "")
		assert.Contains(t, body, fmt.Sprintf("responds %d", answer.status), name)
		status.Store(0)
	}
}
