package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type route struct {
	method, path string
	who          string
}

// Who may call a route.
const (
	agents  = "agents"  // readers only
	owners  = "owners"  // a reader, or an admin on their behalf
	callers = "callers" // readers and admins, about nobody's data in particular
	anybody = "anybody" // also guests
	guests  = "guests"  // without identification
	inside  = "inside"  // admins, and routes that are not for apps
)

// routes returns the operations of the server's own document, with the victim's ids as path
// parameters.
func (w *world) routes(victims map[string]string) []route {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.app.Handler.ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &doc))
	var all []route
	for path, operations := range doc.Paths {
		for method, raw := range operations {
			if method == "parameters" {
				continue
			}
			var op struct{ Security []map[string][]string }
			require.NoError(w.t, json.Unmarshal(raw, &op))
			all = append(all, route{strings.ToUpper(method), fill(w.t, path, victims), who(path, op.Security)})
		}
	}
	for _, group := range []string{agents, owners, callers, anybody, guests, inside} {
		require.True(w.t, slices.ContainsFunc(all, func(r route) bool { return r.who == group }), "no route is for %s", group)
	}
	slices.SortFunc(all, func(a, b route) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

func who(path string, security []map[string][]string) string {
	schemes := map[string]bool{}
	for _, one := range security {
		if len(one) == 0 {
			schemes["nobody"] = true
		}
		for name := range one {
			schemes[name] = true
		}
	}
	switch {
	case schemes["nobody"]:
		return anybody
	case schemes["agent"] && schemes["adminToken"] && !strings.Contains(path, "{"):
		return callers
	case schemes["agent"] && schemes["adminToken"]:
		return owners
	case schemes["agent"]:
		return agents
	case len(schemes) == 0 && strings.HasPrefix(path, "/v1/"):
		return guests
	}
	return inside
}

// fill replaces the parameters of a path by their family: below /v1/posts {id} is the id of a post.
func fill(t *testing.T, path string, victims map[string]string) string {
	t.Helper()
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			value, ok := victims[parts[i-1]+"/"+part]
			require.True(t, ok, "%s: say in the test what is to stand for %s/%s", path, parts[i-1], part)
			parts[i] = value
		}
	}
	return strings.Join(parts, "/")
}

// fixture stores the victim's data and returns the values of the parameters.
func (w *world) fixture() map[string]string {
	w.t.Helper()
	w.direct("", "POST", "/v1/items", `{"id":"item-1","title":"One","update_time":1772791200}`)
	w.direct("u_victim", "PUT", "/v1/agents/u_victim/profile", `{"interests":{"go":1}}`)
	w.direct("u_victim", "PUT", "/v1/agents/u_victim/following/u_friend", "")
	w.direct("u_victim", "PUT", "/v1/circles/rowers", `{"name":"Rowers","kind":"group"}`)
	w.direct("u_victim", "PUT", "/v1/circles/rowers/invitations/u_friend", "")
	w.direct("u_friend", "PUT", "/v1/circles/rowers/members/u_friend", "")
	w.direct("u_victim", "PUT", "/v1/authors/u_victim", `{"name":"Vic"}`)
	post := w.direct("u_victim", "POST", "/v1/posts", `{"caption":"`+strings.Repeat("Low water. ", 150)+`"}`)["id"].(string)
	return map[string]string{
		"agents/{agent_id}": "u_victim", "authors/{id}": "u_victim", "circles/{id}": "rowers", "posts/{id}": post, "invitations/{agent}": "u_guest",
		"members/{agent}": "u_friend", "following/{author}": "u_friend", "blocked/{agent}": "u_friend",
		"media/{key}": "0123456789abcdef0123456789abcdef.jpg", "items/{id}": "item-1", "promoted/{id}": "item-1",
		"jobs/{id}": "1", "assets/{path}": "feed/index.html",
		"authors/{author}": "u_friend", "tags/{tag}": "ads", "items/{item}": "item-1",
		"circles/{circle}": "rowers", "words/{word}": "spoiler", "notifications/{kind}": "like", "feeds/{name}": "news",
	}
}

// kept returns all of the victim's data for comparison.
func (w *world) kept(victims map[string]string) []any {
	w.t.Helper()
	var all []any
	for _, path := range []string{
		"/v1/agents/u_victim/profile", "/v1/agents/u_victim/following", "/v1/circles/rowers",
		"/v1/circles/rowers/members", "/v1/authors/u_victim", "/v1/posts/" + victims["posts/{id}"],
	} {
		data := w.direct("u_victim", "GET", path, "")
		delete(data, "likes") // which anybody may change
		all = append(all, data)
	}
	return append(all, w.direct("", "GET", "/v1/items", ""), w.direct("", "GET", "/v1/ranking", ""), w.direct("", "GET", "/v1/promoted", ""))
}

// body returns a body that the route accepts.
func (r route) body() []byte {
	bodies := map[string]string{
		"/v1/feed": `{"action":"refresh"}`, "/v1/impressions": `{"item_ids":["item-1"]}`,
		"/v1/events": `{"events":[{"type":"click","item_id":"item-1"}]}`,
		"/v1/posts":  `{"caption":"Mine"}`, "/v1/circles/rowers": `{"name":"Rowers, no more"}`,
		"/v1/authors/u_victim": `{"name":"Evil"}`, "/v1/agents/u_victim/profile": `{"interests":{"evil":1}}`,
		"/v1/agents/u_victim/following": `{"authors":["u_evil"]}`, "/v1/authors/cards": `{"authors":["u_victim"]}`,
		"/v1/ranking": `{}`, "/v1/promoted/item-1": `{}`, "/v1/items": `{"id":"item-2","title":"Two","update_time":1772791200}`,
		"/v1/items/item-1": `{"title":"Evil"}`,
	}
	switch {
	case r.method == http.MethodGet || r.method == http.MethodDelete:
		return nil
	case r.method == http.MethodPatch && strings.HasPrefix(r.path, "/v1/posts/"):
		return []byte(`{"caption":"Evil"}`)
	}
	return []byte(bodies[r.path])
}
