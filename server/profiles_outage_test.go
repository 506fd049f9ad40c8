package server

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func asReader(t *testing.T, a *App, method, path, body string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Agent-ID", "u_1")
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	if w.Code == http.StatusServiceUnavailable {
		assert.NotEmpty(t, w.Header().Get("Retry-After"), path)
	}
	return w.Code
}

var profileChanges = []struct{ method, path, body string }{
	{"PUT", "/v1/agents/u_1/profile", `{"muted_tags":["tag-1"]}`},
	{"PATCH", "/v1/agents/u_1/profile", `{"muted_tags":["tag-1"]}`},
	{"PUT", "/v1/agents/u_1/muted/tags/tag-1", ""},
	{"POST", "/v1/events", `{"events":[{"type":"hide","id":"doc_0001"}]}`},
	{"DELETE", "/v1/agents/u_1/profile", ""},
}

// TestAMuteThatOtherServersWouldNotSee checks that such a mute is refused and not stored: a server
// that cannot reach Redis cannot delete the old profile from the cache that other servers read.
func TestAMuteThatOtherServersWouldNotSee(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	brief(&cfg)
	direct := cfg
	direct.DataDir = t.TempDir()
	u, err := url.Parse(cfg.Redis.URL)
	require.NoError(t, err)
	k := newLink(t, u.Host)
	cfg.Redis.URL = "redis://" + k.l.Addr().String()
	a, b := open(t, cfg, WithClock(at(noon).Now), quick), open(t, direct, WithClock(at(noon).Now))
	put(t, a, madeItems(30)...)
	require.Equal(t, 200, asReader(t, a, "PUT", "/v1/agents/u_1/profile", `{"interests":{"tag-2":1}}`))
	_, err = b.Engine.Profile(t.Context(), "u_1") // now it is cached
	require.NoError(t, err)

	k.set(true)
	for _, c := range profileChanges {
		assert.Equal(t, 503, asReader(t, a, c.method, c.path, c.body), "%s %s", c.method, c.path)
	}
	for _, server := range []*App{a, b} {
		p, err := server.Engine.Profile(t.Context(), "u_1")
		require.NoError(t, err)
		assert.False(t, p.HasMutes())
	}

	k.set(false)
	healthy(t, a)
	require.Equal(t, 200, asReader(t, a, "PUT", "/v1/agents/u_1/profile", `{"muted_tags":["tag-1"]}`))
	for _, d := range ask(t, b, refresh("u_1", 30)).Docs {
		it, err := d.Item()
		require.NoError(t, err)
		assert.NotContains(t, it.Tags, "tag-1")
	}
}

// TestAMuteWithoutSessions checks that a mute applies to the next page of a session that could not
// be ended. Only sessions and filters are in Redis.
func TestAMuteWithoutSessions(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	a := open(t, cfg, WithClock(at(noon).Now), quick)
	put(t, a, madeItems(60)...)
	ask(t, a, refresh("u_1", 10))
	recorded(t, a)
	r.Freeze()
	for _, c := range profileChanges[:len(profileChanges)-1] {
		assert.Less(t, asReader(t, a, c.method, c.path, c.body), 300, "%s %s", c.method, c.path)
	}
	r.Thaw()
	healthy(t, a)
	for range 3 {
		for _, d := range ask(t, a, loadMore("u_1", 10)).Docs {
			it, err := d.Item()
			require.NoError(t, err)
			assert.NotContains(t, it.Tags, "tag-1")
		}
	}
}
