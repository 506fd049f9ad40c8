package server

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/ranking"
)

// adminRoutes are the routes for data teams and operators, each with a valid body.
var adminRoutes = [][3]string{
	{"POST", "/v1/explain", `{"agent_id":"u_2"}`},
	{"GET", "/v1/ranking", ""},
	{"PUT", "/v1/ranking", `{"ranking":{"base":0.7},"why":"taken"}`},
	{"GET", "/v1/ranking/history", ""},
	{"POST", "/v1/ranking/revert", `{"version":0,"why":"taken"}`},
	{"GET", "/v1/ranking/report", ""},
	{"GET", "/v1/feeds", ""},
	{"GET", "/v1/feeds/taken", ""},
	{"PUT", "/v1/feeds/taken", `{"all":{"tags":["go"]},"why":"taken"}`},
	{"DELETE", "/v1/feeds/taken", ""},
	{"GET", "/v1/overview", ""},
	{"GET", "/v1/readers?item=doc_1", ""},
	{"GET", "/v1/system", ""},
	{"POST", "/v1/doctor", ""},
	{"POST", "/v1/compare", `{"agents":["u_2"]}`},
	{"POST", "/v1/replay", `{"clicks":[{"agent_id":"u_2","id":"doc_1","at":1}],"rankings":[{}]}`},
	{"GET", "/debug/pprof/", ""},
	{"GET", "/debug/pprof/heap", ""},
	{"GET", "/debug/pprof/cmdline", ""},
	{"GET", "/debug/pprof/profile?seconds=1", ""},
	{"GET", "/debug/pprof/trace?seconds=1", ""},
}

// noAdmins are the headers of callers who must not get access anywhere.
var noAdmins = [][]string{
	{},
	{asU1},
	{asU2},
	{"X-Admin-Token: "},
	{"X-Admin-Token: x"},
	{"X-Admin-Token: " + strings.ToUpper(testAdmin)},
	{"X-Admin-Token: " + testAdmin[1:]},
	{"X-Admin-Token: " + testAdmin + "x"},
	{"X-Admin-Token: x", asAdmin},
	{"X_Admin_Token: " + testAdmin},
	{"Authorization: " + testAdmin},
	{"Authorization: Basic " + testAdmin},
	{"Authorization: Bearer"},
	{"Authorization: Bearer x", "Authorization: Bearer " + testAdmin},
	{"Authorization: Bearer " + testAdmin, "Authorization: Bearer x"},
	{"X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Host: localhost", asU1},
	{"Cookie: admin_token=" + testAdmin},
	{"X-Original-URL: /livez", "X-Rewrite-URL: /livez"},
	{"X-HTTP-Method-Override: GET"},
	{"Origin: http://localhost", "Sec-Fetch-Site: same-origin"},
}

func rankingUntouched(t *testing.T, a *App, s outsider) {
	t.Helper()
	_, code, data := s.call("GET", "/v1/ranking/history", "", asAdmin)
	require.Zero(t, code)
	require.Equal(t, 1, strings.Count(data, `"version":`), "only the configuration's version: %s", data)
	require.Zero(t, a.ranking.InForce().Version)
	_, err := a.stores.rankings.Newest(t.Context())
	require.ErrorIs(t, err, feed.ErrNotFound)
}

// TestSecurityAdminRoutesClosed calls the admin routes without the admin token, with wrong ones and
// with other methods: nothing is answered or changed.
func TestSecurityAdminRoutesClosed(t *testing.T) {
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	for _, route := range adminRoutes {
		for _, as := range noAdmins {
			path := route[1] + map[bool]string{true: "&", false: "?"}[strings.Contains(route[1], "?")] + "admin_token=" + testAdmin
			status, code, data := s.call(route[0], path, route[2], as...)
			assert.Contains(t, []int{401, 403}, status, "%v as %q", route, as)
			assert.Contains(t, []int{40101, 40301}, code)
			assert.Empty(t, strings.Trim(data, "nul{}"), "%v as %q", route, as)
		}
		// Only the described methods of a route have an effect, even for an admin.
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "get"} {
			if method == route[0] || method == "GET" && route[1] == "/v1/ranking" || method == "PUT" && route[1] == "/v1/ranking" ||
				route[1] == "/v1/feeds/taken" && slices.Contains([]string{"GET", "PUT", "DELETE"}, method) {
				continue
			}
			status, code, _ := s.call(method, route[1], route[2], asAdmin)
			assert.Equal(t, 405, status, "%s %s", method, route[1])
			assert.Equal(t, 40501, code)
		}
	}
	rankingUntouched(t, a, s)
	unchanged()
}

// TestSecurityDemoAdminOnlyLocal checks that the demo's open admin routes are only for programs on
// this machine. A browser sent here by another site must not get access, and a GET that takes a
// profile for half a minute is as harmful as a POST.
func TestSecurityDemoAdminOnlyLocal(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	cfg := embedded(t)
	a := open(t, cfg, WithDemo())
	srv := httptest.NewServer(a.Handler)
	defer srv.Close()
	n := 0
	s := outsider{t, srv.URL, &n}
	status, _, _ := s.call("POST", "/v1/items", "[]")
	require.Equal(t, 200, status, "from here")
	routes := append([][3]string{{"POST", "/v1/items", ""}, {"DELETE", "/v1/items/x", ""}}, adminRoutes...)
	for _, as := range []string{
		"X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-Host: localhost", "X-Forwarded-Proto: https", "X-Real-Ip: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy",
		"X-Client-IP: 203.0.113.9", "True-Client-IP: 203.0.113.9", "CF-Connecting-IP: 203.0.113.9", "X-Original-Host: localhost",
		"Host: evil.example", "Host: localhost.evil.example", "Host: 127.0.0.1.evil.example", "Host: evil.example#localhost", "Host: 2130706433.evil", "Host: 0.0.0.0",
		"Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
	} {
		for _, route := range routes {
			status, code, data := s.call(route[0], route[1], route[2], as)
			assert.Equal(t, 403, status, "%s %s %s", as, route[0], route[1])
			assert.Equal(t, 40301, code)
			assert.Empty(t, strings.Trim(data, "nul{}"))
		}
	}
	require.Zero(t, a.ranking.InForce().Version)
	for _, as := range []string{"Accept: */*", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Origin: " + srv.URL} {
		_, code, _ := s.call("GET", "/v1/ranking", "", as)
		assert.Zero(t, code, "%s: a program, or a page of the server itself", as)
		_, code, _ = s.call("POST", "/v1/explain", `{"agent_id":"u_1"}`, as)
		assert.Zero(t, code, as)
	}
}

// hostileValues returns invalid values for numbers, texts, lists and objects.
func hostileValues() []string {
	many := func(one string, n int) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	return []string{
		`null`, `true`, `""`, `"x"`, `[]`, `{}`, `[[]]`, `[null]`, `[{}]`, `{"":0}`, `NaN`, `Infinity`, `-`, `01`, `+1`, `0x10`, `1e400`, `-1e400`, `1e-400`,
		`-1`, `1.5`, `1e3`, `9223372036854775808`, `-9223372036854775809`, strings.Repeat("9", 1000), `"\ud800"`, `"\u0000"`, "\"\xff\"",
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), strings.Repeat("[", 30_000),
		many("0", 20_000), many(`"a"`, 10_000), many("{}", 15_000), many("null", 1000), `"` + strings.Repeat("a", 30_000) + `"`,
	}
}

// TestSecurityAdminHostileFields sends invalid values in each field of the admin routes.
func TestSecurityAdminHostileFields(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	routes := []struct {
		method, path string
		body         string // of a valid call, with %s for the field under test
		fields       []string
	}{
		{"POST", "/v1/explain", `{"agent_id":"u_1",%s}`, []string{"limit", "item", "ranking", "at", "agent_id", "unknown"}},
		{"PUT", "/v1/ranking", `{%s}`, []string{"ranking", "experiments", "by", "why", "version", "unknown"}},
		{"PUT", "/v1/ranking", `{"ranking":{%s}}`, []string{"decay", "popularity", "base", "unknown"}},
		{"PUT", "/v1/ranking", `{"ranking":{"decay":{%s}}}`, []string{"scale", "offset", "decay", "floor", "unknown"}},
		{"PUT", "/v1/ranking", `{"ranking":{"popularity":{%s}}}`, []string{"weight", "unknown"}},
		{"PUT", "/v1/ranking", `{"experiments":[{"name":"a","share":1e400,%s}]}`, []string{"name", "share", "ranking", "parts", "unknown"}},
		{"POST", "/v1/ranking/revert", `{%s}`, []string{"version", "by", "why", "unknown"}},
		{"POST", "/v1/compare", `{"agents":["u_1"],%s}`, []string{"a", "b", "agents", "sample", "seed", "at", "k", "lists", "unknown"}},
		{"POST", "/v1/compare", `{%s}`, []string{"agents", "sample"}},
		{"POST", "/v1/replay", `{"rankings":[{}],%s}`, []string{"clicks", "rankings", "depth", "unknown"}},
		{"POST", "/v1/replay", `{"rankings":[{}],"clicks":[{"agent_id":"u_1","id":"doc_1","at":9,%s}]}`, []string{"agent_id", "id", "at", "unknown"}},
		{"POST", "/v1/events", `{%s}`, []string{"events", "type", "id", "unknown"}},
		{"POST", "/v1/events", `{"type":"hide",%s}`, []string{"id", "type"}},
		{"POST", "/v1/events", `{"events":[{"type":"hide","id":"doc_1"},{%s}]}`, []string{"id", "type", "unknown"}},
		{"POST", "/v1/events", `{"events":[{"type":"hide","id":"doc_1"},%s]}`, []string{""}},
	}
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	versions := 0
	for _, r := range routes {
		for _, field := range r.fields {
			for _, value := range hostileValues() {
				part := value
				if field != "" {
					part = asJSON(t, field) + ":" + value
				}
				body := fmt.Sprintf(r.body, part)
				status, code, data := s.call(r.method, r.path, body, asU1, asAdmin)
				if status != 200 {
					assert.Contains(t, []int{40001, 40003, 40004, 40401, 41301}, code, "%s %s %.200s", r.method, r.path, body)
					continue
				}
				assert.NotEqual(t, "unknown", field, "%s %s %.200s", r.method, r.path, body)
				if strings.HasPrefix(r.path, "/v1/ranking") {
					versions++ // a valid value creates a version, and so does its revert
					var v struct{ Ranking feed.Ranking }
					require.NoError(t, json.Unmarshal([]byte(data), &v))
					require.NoError(t, v.Ranking.Validate(), body)
				}
			}
		}
	}
	require.Less(t, versions, 30)
	require.Equal(t, versions, a.ranking.InForce().Version, "what is refused makes no version")
	_, _, data := s.call("GET", "/v1/agents/u_1/profile", "", asU1)
	assert.NotContains(t, data, "doc_1", "a list of events with one that is refused hides nothing")
	unchanged()
}

// TestSecurityAdminHostileNumbersAndTimes sends numbers and times at and beyond their limits to the
// admin routes.
func TestSecurityAdminHostileNumbersAndTimes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	// Rankings at the limits of the valid values can be used, and are answered as valid JSON
	// numbers.
	for _, ranking := range []string{
		`{"base":1000,"popularity":{"weight":1000}}`, `{"base":1e-300}`, `{"base":5e-324}`, `{"decay":{"decay":5e-324,"floor":0}}`, `{"decay":{"decay":0.9999999999999999}}`,
		`{"decay":{"scale":"1s","offset":"0s","floor":0}}`, `{"decay":{"scale":"2562047h47m16s"}}`, `{"decay":{"offset":"2562047h47m16s"}}`, `{"decay":{"floor":0.9999999999999999}}`,
		`{"decay":{"scale":"1.5s"}}`, `{"decay":{"scale":"1000000000001ns"}}`, `{"decay":{"offset":"1ns"}}`, `{"decay":{"floor":5e-324}}`, `{"popularity":{"weight":5e-324}}`,
	} {
		status, code, data := s.call("POST", "/v1/explain", `{"agent_id":"u_9","item":"doc_1","ranking":`+ranking+`}`, asAdmin)
		assert.Equal(t, 200, status, "%s: %d", ranking, code)
		var x api.Explanation
		assert.NoError(t, json.Unmarshal([]byte(data), &x), ranking)
		status, code, _ = s.call("POST", "/v1/compare", `{"agents":["u_9"],"lists":true,"b":`+ranking+`}`, asAdmin)
		assert.Equal(t, 200, status, "%s: %d", ranking, code)
		status, code, _ = s.call("POST", "/v1/replay", `{"clicks":[{"agent_id":"u_9","id":"doc_1","at":4102444800}],"rankings":[`+ranking+`]}`, asAdmin)
		assert.Equal(t, 200, status, "%s: %d", ranking, code)
	}
	for _, ranking := range []string{
		`{"decay":{"scale":"-24h"}}`, `{"decay":{"scale":"0s"}}`, `{"decay":{"scale":"999ms"}}`, `{"decay":{"scale":"9999999h"}}`, `{"decay":{"scale":"1e3h"}}`, `{"decay":{"scale":86400}}`,
		`{"decay":{"offset":"-1ns"}}`, `{"decay":{"decay":0}}`, `{"decay":{"decay":1}}`, `{"decay":{"decay":-0.5}}`, `{"decay":{"floor":1}}`, `{"decay":{"floor":-1e-9}}`,
		`{"popularity":{"weight":-1}}`, `{"popularity":{"weight":1001}}`, `{"base":0}`, `{"base":-1}`, `{"base":1e400}`,
	} {
		for _, call := range [][3]string{
			{"POST", "/v1/explain", `{"agent_id":"u_9","ranking":` + ranking + `}`},
			{"PUT", "/v1/ranking", `{"ranking":` + ranking + `}`},
			{"PUT", "/v1/ranking", `{"experiments":[{"name":"x","share":0.5,"ranking":` + ranking + `}]}`},
			{"POST", "/v1/compare", `{"agents":["u_9"],"a":` + ranking + `}`},
			{"POST", "/v1/replay", `{"clicks":[{"agent_id":"u_9","id":"doc_1","at":9}],"rankings":[` + ranking + `]}`},
		} {
			_, code, _ := s.call(call[0], call[1], call[2], asAdmin)
			assert.Equal(t, 40001, code, "%v", call)
		}
	}
	for _, at := range []string{`0`, `-1`, `-62135596800`, `"0001-01-01T00:00:00Z"`, `"1969-12-31T23:59:59Z"`, `253402300800`, `1e300`, `"9999-12-31T23:59:59-14:00"`, `"now"`, `"2026-03-06"`, `"2026-02-30T00:00:00Z"`} {
		for _, call := range [][2]string{
			{"/v1/explain", `{"agent_id":"u_9","at":` + at + `}`},
			{"/v1/compare", `{"agents":["u_9"],"at":` + at + `}`},
			{"/v1/replay", `{"clicks":[{"agent_id":"u_9","id":"doc_1","at":` + at + `}],"rankings":[{}]}`},
		} {
			_, code, _ := s.call("POST", call[0], call[1], asAdmin)
			assert.Equal(t, 40001, code, "%v", call)
		}
	}
	for _, at := range []string{`1`, `253402300799`, `"9999-12-31T23:59:59Z"`, `"1970-01-01T00:00:01Z"`, `"2026-03-06T00:00:00Z"`, `"2026-03-05T23:59:59.999999999+14:00"`} {
		status, _, _ := s.call("POST", "/v1/explain", `{"agent_id":"u_9","item":"doc_1","at":`+at+`}`, asAdmin)
		assert.Equal(t, 200, status, at)
		status, _, _ = s.call("POST", "/v1/compare", `{"agents":["u_9"],"lists":true,"at":`+at+`}`, asAdmin)
		assert.Equal(t, 200, status, at)
		status, _, _ = s.call("POST", "/v1/replay", `{"clicks":[{"agent_id":"u_9","id":"doc_1","at":`+at+`}],"rankings":[{}]}`, asAdmin)
		assert.Equal(t, 200, status, at)
	}
	for _, query := range []string{"limit=0", "limit=-1", "limit=101", "limit=1.5", "limit=1e3", "limit=" + strings.Repeat("9", 400), "limit=%00", "limit="} {
		_, code, _ := s.call("GET", "/v1/ranking/history?"+query, "", asAdmin)
		assert.Equal(t, 40003, code, query)
	}
	for _, query := range []string{"days=0", "days=-1", "days=91", "days=NaN", "days=" + strings.Repeat("9", 400), "days="} {
		_, code, _ := s.call("GET", "/v1/ranking/report?"+query, "", asAdmin)
		assert.Equal(t, 40001, code, query)
	}
	for _, tag := range []string{`"`, `""`, `"-1"`, `"1"`, `"0","1"`, `W/"1"`, `W/0`, `w/"0"`, `0`, `"0x0"`, `"` + strings.Repeat("9", 40) + `"`} {
		_, code, _ := s.call("PUT", "/v1/ranking", `{"ranking":{"base":0.7}}`, asAdmin, "If-Match: "+tag)
		assert.Contains(t, []int{40001, 41201}, code, tag)
	}
	rankingUntouched(t, a, s)
	unchanged()
}

// TestSecurityAdminHostileTexts sends hostile texts in the fields of the admin routes.
func TestSecurityAdminHostileTexts(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	versions := 0
	for _, text := range testenv.HostileTexts {
		quoted := asJSON(t, text)
		agentOK, itemOK := feed.CheckAgentID(text) == nil, feed.CheckItemID(text) == nil
		expect := func(what string, ok bool, bad, code int) {
			t.Helper()
			if want := map[bool]int{true: 0, false: bad}[ok]; want != code {
				assert.Equal(t, want, code, "%s %q", what, text)
			}
		}
		_, code, _ := s.call("POST", "/v1/explain", `{"agent_id":`+quoted+`}`, asAdmin)
		expect("explain agent", agentOK, 40004, code)
		_, code, _ = s.call("POST", "/v1/explain", `{"agent_id":"u_1","item":`+quoted+`}`, asAdmin)
		expect("explain item", itemOK, 40004, code)
		_, code, _ = s.call("POST", "/v1/compare", `{"agents":[`+quoted+`]}`, asAdmin)
		expect("compare agent", agentOK, 40004, code)
		_, code, _ = s.call("POST", "/v1/replay", `{"clicks":[{"agent_id":`+quoted+`,"id":"doc_1","at":9}],"rankings":[{}]}`, asAdmin)
		expect("replay agent", agentOK, 40004, code)
		_, code, _ = s.call("POST", "/v1/replay", `{"clicks":[{"agent_id":"u_1","id":`+quoted+`,"at":9}],"rankings":[{}]}`, asAdmin)
		expect("replay item", itemOK, 40004, code)
		_, code, _ = s.call("POST", "/v1/events", `{"type":"click","id":`+quoted+`}`, asU1)
		expect("event", itemOK, 40004, code)
		_, code, _ = s.call("POST", "/v1/events", `{"type":`+quoted+`,"id":"doc_1"}`, asU1)
		expect("event type", false, 40001, code)
		for _, side := range []string{"a", "b"} {
			_, code, _ = s.call("POST", "/v1/compare", `{"agents":["u_1"],"`+side+`":`+quoted+`}`, asAdmin)
			expect(side, strings.TrimSpace(text) == "", 40001, code)
		}
		_, code, _ = s.call("PUT", "/v1/ranking", `{"experiments":[{"name":`+quoted+`,"share":0.1}]}`, asAdmin)
		expect("experiment", feed.CheckVariantName(text) == nil, 40001, code)
		if code == 0 {
			versions++
		}

		fits := !strings.ContainsAny(text, "\a\b\t\n\v\f\r\x00") && len(text) <= ranking.MaxWhy
		status, code, data := s.call("PUT", "/v1/ranking", `{"ranking":{},"why":`+quoted+`}`, asAdmin)
		if !fits {
			expect("why", false, 40001, code)
		} else if status == 200 {
			versions++
			var v struct{ Why string }
			require.NoError(t, json.Unmarshal([]byte(data), &v))
			assert.Equal(t, text, v.Why)
		}
		status, _, _ = s.call("PUT", "/v1/ranking", `{"ranking":{},"by":`+quoted+`}`, asAdmin)
		if status == 200 {
			versions++
		}
	}
	_, _, data := s.call("GET", "/v1/ranking/history?limit=100", "", asAdmin)
	require.Equal(t, min(100, versions+1), strings.Count(data, `"version":`))
	require.Equal(t, versions, a.ranking.InForce().Version)
	unchanged()
}
