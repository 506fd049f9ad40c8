package gateway

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/server"
)

// guises returns headers with which a caller tries to impersonate the victim and an admin.
func guises() http.Header {
	return http.Header{
		"X-Agent-Id": {"u_victim", "u_victim"}, "x-agent-id": {"u_victim"}, "X-AGENT-ID": {"u_victim"},
		"x_agent_id": {"u_victim"}, "X_Agent_Id": {"u_victim"}, "X-Agent_ID": {"u_victim"},
		"X-Admin-Token": {admin}, "x-admin-token": {admin}, "X_Admin_Token": {admin},
		"Authorization": {"Bearer " + admin},
		"Connection":    {"X-Agent-ID"}, "X-User": {"u_victim"},
	}
}

// with adds headers, replacing those with the same spelling.
func with(h, more http.Header) http.Header {
	for name, values := range more {
		h[name] = values
	}
	return h
}

// TestGatewayImpersonation calls every route of the OpenAPI document with the headers of guises,
// signed in as another agent and not signed in.
func TestGatewayImpersonation(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{configs.ModeHeader, configs.ModeJWT} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := open(t, mode)
			victims := w.fixture()
			before := w.kept(victims)
			for _, r := range w.routes(victims) {
				t.Run(fmt.Sprintf("%s %s", r.method, r.path), func(t *testing.T) {
					w.t = t
					w.asAnother(t, r, http.Header{"X-Agent-Id": {"u_victim"}})
					w.asAnother(t, r, guises())
					w.asGuest(t, r)
				})
			}
			w.t = t
			assert.Equal(t, before, w.kept(victims), "something of the victim's, or an admin's, was changed")
		})
	}
}

func (w *world) asAnother(t *testing.T, r route, guise http.Header) {
	got := w.send(r.method, r.path, with(guise, w.login("u_evil")), r.body())
	if r.who == inside {
		assert.Equal(t, http.StatusNotFound, got.status, "%s", got.body)
		assert.Empty(t, got.seen)
		return
	}
	seen := got.one(t, "a reader's call")
	if w.mode == configs.ModeHeader {
		agent := "u_evil"
		if r.who == guests {
			agent = ""
			assert.Zero(t, got.asked, "guests do not depend on the session service")
		}
		isAgent(t, seen, agent, "a reader's call")
		assert.Empty(t, seen.Header["Authorization"])
	} else {
		isAgent(t, seen, "", "a reader's call")
		assert.Equal(t, w.login("u_evil")["Authorization"], seen.Header["Authorization"])
	}
	assert.Equal(t, "feed.example.com:8443", seen.Host)
	switch r.who {
	case owners:
		assert.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, got.status, "%s", got.body)
	default:
		assert.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, got.status, "%s", got.body)
	}
}

func (w *world) asGuest(t *testing.T, r route) {
	for _, credentials := range []string{"Bearer " + admin, "bearer  " + admin, "Bearer " + admin + " " + token("u_victim")} {
		got := w.send(r.method, r.path, with(guises(), http.Header{"Authorization": {credentials}}), r.body())
		if r.who == inside {
			assert.Equal(t, http.StatusNotFound, got.status, "%s", got.body)
			assert.Empty(t, got.seen)
			continue
		}
		seen := got.one(t, "a guest's call")
		isAgent(t, seen, "", "a guest's call")
		assert.Empty(t, seen.Header["Authorization"])
		if r.who == agents || r.who == owners || r.who == callers {
			assert.Equal(t, http.StatusUnauthorized, got.status, "%s", got.body)
		} else {
			assert.NotEqual(t, http.StatusUnauthorized, got.status, "%s", got.body)
		}
	}
	if r.who == inside {
		return
	}
	two := w.send(r.method, r.path, http.Header{"Authorization": {"Bearer " + admin, "Bearer " + token("u_evil")}}, r.body())
	for _, seen := range two.seen {
		isAgent(t, seen, "", "a call with two tokens")
	}
	if w.mode == configs.ModeHeader && r.who != guests {
		ended := w.send(r.method, r.path, with(guises(), w.login("ended")), r.body())
		assert.Equal(t, http.StatusUnauthorized, ended.status)
		assert.Empty(t, ended.seen, "a session that has ended")
	}
}

// TestGatewayAmbiguousPaths requests admin routes by paths that nginx and the server might
// interpret differently.
func TestGatewayAmbiguousPaths(t *testing.T) {
	t.Parallel()
	w := open(t, configs.ModeHeader)
	victims := w.fixture()
	before := w.kept(victims)
	for _, path := range []string{
		"/v1/posts/../items/item-1", "/v1/posts/%2e%2e/items/item-1", "/v1/posts/..%2fitems/item-1", "/v1/feed/%2e%2e/items/item-1",
		"/v1/items/../posts/item-1", "/v1/items/item-1/..%2f..%2fposts/item-1", "/v1/items/%2e%2e/posts/item-1",
		"//v1/items/item-1", "/v1//items/item-1", "/V1/items/item-1", "/v1/feed/../../metrics", "/metrics/../v1/posts/x", "/media/../metrics", "/media/%2e%2e/readyz",
		"/v1/posts/item-1/../../items/item-1", "/v1/feed%2f..%2fitems/item-1", "/v1/items%00/v1/feed", "/session", "/check",
	} {
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			got := w.send(method, path, with(guises(), w.login("u_evil")), nil)
			assert.GreaterOrEqual(t, got.status, 400, "%s %s: %s", method, path, got.body)
			for _, seen := range got.seen {
				isAgent(t, seen, "u_evil", path)
			}
		}
	}
	assert.Equal(t, before, w.kept(victims))
}

// TestGatewayDemo checks that a demo does not treat callers as programs on its machine,
// whatever Host they send.
func TestGatewayDemo(t *testing.T) {
	t.Parallel()
	w := open(t, configs.ModeHeader, server.WithDemo())
	w.direct("u_victim", "PUT", "/v1/agents/u_victim/profile", `{"interests":{"go":1}}`)
	got := w.send("DELETE", "/v1/agents/u_victim/profile", http.Header{"Host": {"localhost"}}, nil)
	assert.Equal(t, "localhost", got.one(t, "the call").Host)
	assert.Equal(t, http.StatusUnauthorized, got.status, "%s", got.body)
	w.direct("u_victim", "GET", "/v1/agents/u_victim/profile", "")
}

// TestGatewayBodyLimits sends each route a body of exactly the server's limit, and a larger one.
func TestGatewayBodyLimits(t *testing.T) {
	t.Parallel()
	w := open(t, configs.ModeJWT)
	victims := w.fixture()
	for _, tt := range []struct {
		method, path string
		most         int
	}{
		{"POST", "/v1/feed", handler.MaxFeedBody},
		{"POST", "/v1/impressions", handler.MaxImpressionsBody},
		{"POST", "/v1/events", handler.MaxEventsBody},
		{"PUT", "/v1/agents/u_victim/profile", handler.MaxProfileBody},
		{"PATCH", "/v1/agents/u_victim/profile", handler.MaxProfileBody},
		{"PUT", "/v1/authors/u_victim", handler.MaxAuthorBody},
		{"PATCH", "/v1/authors/u_victim", handler.MaxAuthorBody},
		{"PUT", "/v1/circles/rowers", handler.MaxCircleBody},
		{"PATCH", "/v1/circles/rowers", handler.MaxCircleBody},
		{"PATCH", "/v1/posts/" + victims["posts/{id}"], handler.MaxPostBody},
	} {
		fits := w.send(tt.method, tt.path, w.login("u_evil"), make([]byte, tt.most))
		fits.one(t, tt.path)
		assert.NotEqual(t, http.StatusRequestEntityTooLarge, fits.status, tt.path)
		more := w.send(tt.method, tt.path, w.login("u_evil"), make([]byte, tt.most+1))
		assert.Equal(t, http.StatusRequestEntityTooLarge, more.status, tt.path)
		assert.Empty(t, more.seen, tt.path)
	}
	require.Greater(t, 56<<20, handler.MaxImagesBody)
	require.Greater(t, 6<<20, handler.MaxAvatarBody)
	large := w.send("PUT", "/v1/authors/u_evil/image", w.login("u_evil"), make([]byte, handler.MaxAvatarBody))
	large.one(t, "an upload reaches a server")
	assert.NotEqual(t, http.StatusRequestEntityTooLarge, large.status)
}
