package handler

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func TestHeaderModeAgentID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		headers []string
		status  int
		code    int
	}{
		{"good", []string{"X-Agent-ID: u.1@x-y_Z"}, 200, 0},
		{"longest", []string{"X-Agent-ID: " + strings.Repeat("a", 128)}, 200, 0},
		{"missing", nil, 401, 40101},
		{"empty", []string{"X-Agent-ID: "}, 401, 40101},
		{"a bearer is no agent here", []string{"Authorization: Bearer x"}, 401, 40101},
		{"colon", []string{"X-Agent-ID: u:1"}, 400, 40004},
		{"space", []string{"X-Agent-ID: u 1"}, 400, 40004},
		{"too long", []string{"X-Agent-ID: " + strings.Repeat("a", 129)}, 400, 40004},
		{"not ASCII", []string{"X-Agent-ID: ü"}, 400, 40004},
		{"two of them", []string{"X-Agent-ID: u_1", "X-Agent-ID: u_2"}, 400, 40004},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, tt.headers...)
			require.Equal(t, tt.status, got.status)
			require.Equal(t, tt.code, got.Code)
			require.Equal(t, tt.status == 401, got.header.Get("WWW-Authenticate") == "Bearer")
		})
	}
}

func TestAdminRoutesNeedToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		token   string // configured
		headers []string
		code    int
	}{
		{"own header", adminToken, []string{asAdmin}, 0},
		{"bearer", adminToken, []string{"Authorization: Bearer " + adminToken}, 0},
		{"bearer in other case", adminToken, []string{"authorization: bEARER " + adminToken}, 0},
		{"beside an agent", adminToken, []string{asAgent, asAdmin}, 0},
		{"nothing", adminToken, nil, 40101},
		{"empty", adminToken, []string{"X-Admin-Token: "}, 40101},
		{"wrong", adminToken, []string{"X-Admin-Token: " + adminToken + "x"}, 40101},
		{"prefix", adminToken, []string{"X-Admin-Token: " + adminToken[:5]}, 40101},
		{"wrong bearer", adminToken, []string{asAgent, "Authorization: Bearer x"}, 40101},
		{"wrong scheme", adminToken, []string{"Authorization: Basic " + adminToken}, 40101},
		{"an agent", adminToken, []string{asAgent}, 40301},
		{"not configured", "", []string{asAdmin}, 40301},
		{"not configured, empty", "", []string{"X-Admin-Token: "}, 40301},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, func(c *Config, _ *Deps) { c.Auth.AdminToken = tt.token })
			f.items["a"] = `{"id":"a"}`
			for _, call := range [][2]string{{"POST", "/v1/items"}, {"GET", "/v1/items/a"}, {"DELETE", "/v1/items/a"}} {
				got := f.do(t, call[0], call[1], "[]", tt.headers...)
				require.Equal(t, tt.code, got.Code, "%v: %s", call, got.body)
				require.Equal(t, max(tt.code/100, 200), got.status)
				require.NotContains(t, got.body, adminToken)
			}
			require.NotContains(t, f.log.String(), adminToken)
		})
	}
}

func TestDemoAdminRoutesLocalOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		peer    string
		host    string
		headers []string
		token   string
		noDemo  bool
		code    int
	}{
		{name: "IPv4", peer: "127.0.0.1:5000", host: "127.0.0.1:8080"},
		{name: "IPv4, another loopback", peer: "127.8.8.8:5000", host: "localhost:8080"},
		{name: "IPv6", peer: "[::1]:5000", host: "[::1]:8080"},
		{name: "mapped", peer: "[::ffff:127.0.0.1]:5000", host: "localhost"},
		{name: "same site page", peer: "127.0.0.1:5000", host: "localhost:8080", headers: []string{"Sec-Fetch-Site: same-origin"}},
		{name: "away", peer: "192.0.2.1:5000", host: "localhost:8080", code: 40301},
		{name: "away, says it is here", peer: "192.0.2.1:5000", host: "localhost", headers: []string{"X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1"}, code: 40301},
		{name: "forwarded by a proxy here", peer: "127.0.0.1:5000", host: "localhost", headers: []string{"X-Forwarded-For: 192.0.2.1"}, code: 40301},
		{name: "page of another site", peer: "127.0.0.1:5000", host: "localhost:8080", headers: []string{"Sec-Fetch-Site: cross-site"}, code: 40301},
		{name: "old browser, another site", peer: "127.0.0.1:5000", host: "localhost:8080", headers: []string{"Origin: https://evil.example"}, code: 40301},
		{name: "name made to point here", peer: "127.0.0.1:5000", host: "evil.example:8080", code: 40301},
		{name: "no address", peer: "@", host: "localhost", code: 40301},
		{name: "not a demo", peer: "127.0.0.1:5000", host: "localhost", noDemo: true, code: 40301},
		{name: "a token is set", peer: "127.0.0.1:5000", host: "localhost", token: adminToken, code: 40101},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, func(c *Config, _ *Deps) { c.Auth.Demo, c.Auth.AdminToken = !tt.noDemo, tt.token })
			r := httptest.NewRequest("POST", "/v1/items", strings.NewReader("{}\n"))
			r.RemoteAddr, r.Host = tt.peer, tt.host
			for _, h := range tt.headers {
				name, value, _ := strings.Cut(h, ": ")
				r.Header.Set(name, value)
			}
			require.Equal(t, tt.code, f.serve(t, r).Code)
		})
	}
}

// TestCrossSiteRequestsRefused sends requests that a form or a script of another site can send,
// for an agent that a gateway identifies by a cookie.
func TestCrossSiteRequestsRefused(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const listed = "https://app.example.com"
	routes := []struct{ method, path, kind, body string }{
		{"POST", "/v1/feed", "text/plain", `{"action":"refresh"}`},
		{"POST", "/v1/events", "text/plain", `{"events":[{"type":"hide","id":"doc_1"}]}`},
		{"POST", "/v1/impressions", "text/plain", `{"ids":["doc_1"]}`},
		{"PUT", "/v1/agents/u_1/profile", "application/json", `{"keywords":["rust"]}`},
		{"DELETE", "/v1/agents/u_1/profile", "", ""},
		{"DELETE", "/v1/agents/u_1", "", ""},
		{"DELETE", "/v1/agents/u_1/learned", "", ""},
		{"POST", "/v1/posts", "text/plain", `{"caption":"Not mine","tags":["a="]}`},
		{"POST", "/v1/posts", "multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-data; name=\"post\"\r\n\r\n{\"caption\":\"Not mine\"}\r\n--B--\r\n"},
		{"POST", "/v1/posts", "application/x-www-form-urlencoded", `{"caption":"Not mine"}`},
		{"PUT", "/v1/agents/u_1/following/a_1", "", ""},
		{"POST", "/v1/agents/u_1/following", "text/plain", `{"authors":["a_1"]}`},
		{"POST", "/v1/timeline/warm", "", ""},
		{"POST", "/v1/items", "text/plain", "[]"}, // for a gateway that identifies admins by a cookie
		{"POST", "/v1/ranking/revert", "text/plain", `{"version":1}`},
		{"DELETE", "/v1/items/doc_1", "", ""},
		{"GET", "/v1/timeline", "", ""}, // the posts in its answer count as shown
		{"GET", "/v1/authors/a_1/posts", "", ""},
	}
	for _, tt := range []struct {
		name    string
		headers []string
		refused bool
	}{
		{name: "a program"},
		{name: "our page", headers: []string{"Sec-Fetch-Site: same-origin", "Origin: https://feed.example.com"}},
		{name: "typed into the address bar", headers: []string{"Sec-Fetch-Site: none"}},
		{name: "a listed app", headers: []string{"Sec-Fetch-Site: cross-site", "Origin: " + listed}},
		{name: "a listed app, old browser", headers: []string{"Origin: " + listed}},
		{name: "our page, old browser", headers: []string{"Origin: https://feed.example.com"}},
		{name: "another site", headers: []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, refused: true},
		{name: "another site, no origin", headers: []string{"Sec-Fetch-Site: cross-site"}, refused: true},
		{name: "another subdomain", headers: []string{"Sec-Fetch-Site: same-site", "Origin: https://evil.example.com"}, refused: true},
		{name: "another site, old browser", headers: []string{"Origin: https://evil.example"}, refused: true},
		{name: "a sandboxed frame", headers: []string{"Sec-Fetch-Site: cross-site", "Origin: null"}, refused: true},
		{name: "nearly the listed app", headers: []string{"Sec-Fetch-Site: cross-site", "Origin: https://app.example.com.evil.example"}, refused: true},
		{name: "the listed app without TLS", headers: []string{"Sec-Fetch-Site: cross-site", "Origin: http://app.example.com"}, refused: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, origins := range [][]string{{listed}, {"*"}} {
				f, _ := socialFixture(t, func(c *Config, _ *Deps) { c.CORS.Origins = origins })
				refused := tt.refused || origins[0] == "*" && strings.HasPrefix(tt.name, "a listed app")
				for _, route := range routes {
					r := httptest.NewRequest(route.method, route.path, strings.NewReader(route.body))
					r.Host = "feed.example.com"
					r.Header.Set("X-Agent-ID", "u_1")
					if strings.HasPrefix(route.path, "/v1/items") || strings.HasPrefix(route.path, "/v1/ranking") {
						r.Header.Set("X-Admin-Token", adminToken)
					}
					r.Header.Set("Content-Type", route.kind)
					for _, h := range tt.headers {
						name, value, _ := strings.Cut(h, ": ")
						r.Header.Set(name, value)
					}
					code := f.serve(t, r).Code
					require.Equal(t, refused, code == 40301, "%s %s: %d, origins %v", route.method, route.path, code, origins)
				}
			}
		})
	}
}

// TestCrossSiteBearerTokens checks that requests with a bearer token are not refused for their
// origin: only the app that holds the token can send it.
func TestCrossSiteBearerTokens(t *testing.T) {
	t.Parallel()
	f := newJWTFixture(t, JWT{Secret: hmacSecret})
	for method, path := range map[string]string{"POST": "/v1/feed", "PUT": "/v1/agents/u_1/profile"} {
		r := httptest.NewRequest(method, path, strings.NewReader(`{}`))
		r.Header.Set("Authorization", "Bearer "+sign(t, hs256, []byte(hmacSecret), goodClaims(), nil))
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Origin", "https://evil.example")
		require.NotEqual(t, 40301, f.serve(t, r).Code, path)
	}
}

func TestProfileOfOtherAgentRefused(t *testing.T) {
	t.Parallel()
	const path = "/v1/agents/u_1/profile"
	for _, tt := range []struct {
		name    string
		headers []string
		code    int
	}{
		{"its agent", []string{asAgent}, 0},
		{"an admin", []string{asAdmin}, 0},
		{"another agent", []string{"X-Agent-ID: u_2"}, 40301},
		{"nobody", nil, 40101},
		{"a malformed agent", []string{"X-Agent-ID: u 1"}, 40004},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.profiles.all["u_1"] = feed.Profile{Keywords: feed.Keywords("go")}
			require.Equal(t, tt.code, f.do(t, "GET", path, "", tt.headers...).Code)
			require.Equal(t, tt.code, f.do(t, "PUT", path, `{"keywords":["rust"]}`, tt.headers...).Code)
			want := "go"
			if tt.code == 0 {
				want = "rust"
			}
			require.Equal(t, feed.Keywords(want), f.profiles.all["u_1"].Keywords)
			require.Equal(t, tt.code, f.do(t, "DELETE", path, "", tt.headers...).Code)
			require.Equal(t, tt.code != 0, len(f.profiles.all) == 1)
		})
	}
}
