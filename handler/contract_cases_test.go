package handler_test

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/freshet/freshet/feed"
)

// contractRoute has the calls that test one route. Calls that anyway generates need no case here.
type contractRoute struct {
	good []exchange       // valid calls; the first is the one that is altered
	bad  map[int]exchange // by the code of the refusal
}

func (contractRoute) described(c *contract, op string) *openapi3.Operation {
	return c.operations()[op].Operation
}

const (
	asAgent = "X-Agent-ID: u_1"
	asAdmin = "X-Admin-Token: " + contractToken
	bearer  = "Authorization: Bearer " + contractToken
)

// contractCases returns the cases of all routes, by method and described path.
func contractCases() map[string]contractRoute {
	stored := func(ids ...string) []exchange {
		var items strings.Builder
		for _, id := range ids {
			items.WriteString(`{"id":"` + id + `","title":"A river in spring","update_time":1772791200,"tags":["water"],"reading_minutes":4,"x":{"y":[null]}}` + "\n")
		}
		return []exchange{{op: "POST /v1/items", headers: []string{asAdmin}, kind: "application/x-ndjson", body: items.String()}}
	}
	cases := map[string]contractRoute{}
	for _, family := range []func(stored func(...string) []exchange) map[string]contractRoute{
		feedCases, profileCases, mutedCases, itemCases, rankingCases, offlineCases, operationsCases,
		postCases, timelineCases, authorCases, followCases, circleCases, socialMuteCases, notificationCases, exportCases, moderationCases, graphCases, jobCases, promotionCases,
	} {
		for op, route := range family(stored) {
			cases[op] = route
		}
	}
	return cases
}

func feedCases(stored func(...string) []exchange) map[string]contractRoute {
	ask := func(body string) exchange { return exchange{headers: []string{asAgent}, body: body} }
	page := ask(`{"action":"refresh","limit":1}`)
	page.before = stored("a", "b", "c", "d")
	keyed := ask(`{"action":"load_more","limit":1}`).with(asAgent, "Idempotency-Key: k1")
	named := ask(`{"action":"refresh","limit":1,"request_id":"r1"}`)
	named.op = "POST /v1/feed"
	reused := ask(`{"action":"refresh","limit":2,"request_id":"r1"}`)
	reused.before = []exchange{named}
	why := ask(`{"action":"refresh","limit":3,"why":true}`).with("X-Agent-ID: why")
	why.before = append(stored("a", "b"), exchange{
		op: "PUT /v1/agents/{agent_id}/profile", path: map[string]string{"agent_id": "why"}, headers: []string{asAdmin},
		body: `{"interests":{"water":2},"keywords":["river"]}`,
	})
	clicked := ask(`{"type":"click","id":"a"}`)
	clicked.before = append(stored("a"), named)
	return map[string]contractRoute{
		"POST /v1/feed": {
			good: []exchange{
				page, ask(`{"action":"load_more"}`), ask(`{"action":"refresh","feed":"tag:Water"}`), ask(`{"action":"refresh","silent":true,"limit":100}`), keyed, named,
				ask(`{"action":"refresh"}`).with("X-Agent-ID: nobody_knows", "X-Request-ID: trace/1"), why,
			},
			bad: map[int]exchange{
				40002: ask(`{"action":"reload"}`),
				40003: ask(`{"action":"refresh","limit":101}`),
				40004: ask(`{"action":"refresh","request_id":"a b"}`),
				40401: ask(`{"action":"refresh","feed":"never-stored"}`),
				40901: reused,
			},
		},
		"GET /v1/feed/guest": {
			good: []exchange{{}, {query: "?limit=100"}, {headers: []string{"If-None-Match: *"}}, {headers: []string{"Authorization: Bearer x.y.z"}}},
			bad:  map[int]exchange{40001: {query: "?page=2"}, 40003: {query: "?limit=101"}},
		},
		"POST /v1/impressions": {
			good: []exchange{ask(`{"ids":["a","post/77"]}`)},
			bad:  map[int]exchange{40004: ask(`{"ids":["a b"]}`)},
		},
		"POST /v1/events": {
			good: []exchange{clicked, ask(`{"events":[{"type":"like","id":"a"},{"type":"hide","id":"post/77"}]}`)},
			bad:  map[int]exchange{40004: ask(`{"type":"click","id":"a b"}`), 42202: hidesTooMuch()},
		},
	}
}

func profileCases(stored func(...string) []exchange) map[string]contractRoute {
	const route, body = "/v1/agents/{agent_id}/profile", `{"interests":{"space":3,"climate":0},"keywords":["solar"],"langs":["en"],` +
		`"muted_authors":["x"],"muted_tags":["politics"],"muted_items":["post/1"]}`
	of := map[string]string{"agent_id": "u_1"}
	put := exchange{op: "PUT " + route, path: of, headers: []string{asAgent}, body: body}
	get := exchange{path: of, headers: []string{asAgent}, before: []exchange{put}}
	kept := put.with(asAgent, "If-Match: *")
	kept.before = []exchange{put}
	patch := exchange{path: of, headers: []string{asAgent}, body: `{"interests":{"space":null,"water":1},"muted_items":null,"langs":["de"]}`}
	bad := map[string]string{"agent_id": "u:1"}
	unknown := map[string]string{"agent_id": "without_one"}
	// No cache has this profile, so the catalog must be queried.
	late := exchange{path: map[string]string{"agent_id": "of_old"}, headers: []string{asAdmin}, late: true}
	// Forgetting first waits until earlier acts of all agents are learned.
	const learned = "/v1/agents/{agent_id}/learned"
	fan := "X-Agent-ID: fan"
	forget := exchange{op: "DELETE " + learned, path: map[string]string{"agent_id": "nobody"}, headers: []string{asAdmin}}
	acted := exchange{path: map[string]string{"agent_id": "fan"}, headers: []string{fan}, before: append(stored("a", "b"),
		exchange{op: "POST /v1/impressions", headers: []string{fan}, body: `{"ids":["a","b"]}`},
		exchange{op: "POST /v1/events", headers: []string{fan}, body: `{"events":[{"type":"click","id":"a"},{"type":"dislike","id":"b"}]}`},
		forget,
	)}
	return map[string]contractRoute{
		"DELETE " + learned: {
			good: []exchange{get, get.with(asAdmin), forget},
			bad: map[int]exchange{
				40004: {path: bad, headers: []string{asAdmin}},
				50301: late,
			},
		},
		"PUT " + route: {
			good: []exchange{put, put.with(asAdmin), put.with(bearer), {path: of, headers: []string{asAgent}, body: "{}"}, kept},
			bad:  map[int]exchange{40004: {path: bad, headers: []string{asAdmin}, body: body}, 41201: put.with(asAgent, `If-Match: "x"`)},
		},
		"PATCH " + route: {
			good: []exchange{patch, patch.with(bearer), {path: unknown, headers: []string{asAdmin}, body: "{}"}},
			bad:  map[int]exchange{40004: {path: bad, headers: []string{asAdmin}, body: body}, 41201: patch.with(asAgent, `If-Match: "x"`)},
		},
		"GET " + route: {
			good: []exchange{get, get.with(asAdmin), acted},
			bad: map[int]exchange{
				40004: {path: bad, headers: []string{asAdmin}},
				40401: {path: unknown, headers: []string{asAdmin}},
				50301: late,
			},
		},
		"DELETE " + route: {
			good: []exchange{get, get.with(asAdmin)},
			bad: map[int]exchange{
				40004: {path: bad, headers: []string{asAdmin}},
				40401: {path: unknown, headers: []string{asAdmin}},
				50301: late,
			},
		},
	}
}

// mutedCases are the routes that mute or unmute one value.
func mutedCases(func(...string) []exchange) map[string]contractRoute {
	const agent = "/v1/agents/{agent_id}/"
	cases := map[string]contractRoute{}
	for list, param := range map[string]string{"authors": "author", "tags": "tag", "items": "item", "words": "word"} {
		step := func(id, value string) exchange {
			return exchange{path: map[string]string{"agent_id": id, param: value}, headers: []string{asAdmin}}
		}
		put, full := step("u_1", "a/b").with(asAgent), step("full", "one-more")
		put.op = "PUT " + agent + "muted/" + list + "/{" + param + "}"
		timed, past := put, put
		timed.query, past.query = "?until=2100-01-01T00:00:00Z", "?until=2020-01-01T00:00:00Z"
		again := put
		again.before = []exchange{put}
		full.before = []exchange{{
			op: "PUT " + agent + "profile", path: map[string]string{"agent_id": "full"}, headers: []string{asAdmin},
			body: `{"muted_` + list + `":` + mostMuted(list) + `}`,
		}}
		bad := map[int]exchange{40004: step("u:1", "x")}
		cases["DELETE "+agent+"muted/"+list+"/{"+param+"}"] = contractRoute{good: []exchange{again, step("nobody", "never")}, bad: bad}
		cases[put.op] = contractRoute{good: []exchange{put, again, timed}, bad: map[int]exchange{40001: past, 40004: bad[40004], 42202: full}}
		if list == "items" {
			listed := func(id, query string) exchange {
				return exchange{path: map[string]string{"agent_id": id}, query: query, headers: []string{asAdmin}, before: []exchange{put, timed}}
			}
			cases["GET "+agent+"muted/items"] = contractRoute{
				good: []exchange{listed("u_1", "").with(asAgent), listed("u_1", "?limit=1"), listed("u_1", "?cursor=1.gone&limit=100"), listed("nobody", "")},
				bad:  map[int]exchange{40001: listed("u_1", "?cursor=x"), 40003: listed("u_1", "?limit=101"), 40004: listed("u:1", "")},
			}
		}
	}
	return cases
}

// mostMuted returns a full list of mutes as JSON.
func mostMuted(list string) string {
	if list != "words" {
		return `["` + strings.Join(most(list), `","`) + `"]`
	}
	words := make([]string, feed.MaxMutedWords)
	for i := range words {
		words[i] = fmt.Sprintf(`{"term":"w%d"}`, i)
	}
	return "[" + strings.Join(words, ",") + "]"
}

// hidesTooMuch is a hide by an agent who has muted as many items as one may.
func hidesTooMuch() exchange {
	const agent = "X-Agent-ID: hider"
	return exchange{headers: []string{agent}, body: `{"type":"hide","id":"one-more"}`, before: []exchange{{
		op: "PUT /v1/agents/{agent_id}/profile", path: map[string]string{"agent_id": "hider"}, headers: []string{agent},
		body: `{"muted_items":["` + strings.Join(most("items"), `","`) + `"]}`,
	}}}
}

// most returns as many entries as a list of mutes may have.
func most(list string) []string {
	values := make([]string, map[string]int{"authors": feed.MaxMutes, "tags": feed.MaxMutes, "items": feed.MaxMutedItems}[list])
	for i := range values {
		values[i] = fmt.Sprint("x", i)
	}
	return values
}

func itemCases(stored func(...string) []exchange) map[string]contractRoute {
	const item = `{"id":"post/1","title":"A comet","update_time":1772791200,"tags":["space"],"likes":3,"reading_minutes":4}`
	const counts = `{"id":"post/1","likes":12,"comments":3}`
	one := exchange{path: map[string]string{"id": "post/1"}, headers: []string{asAdmin}, before: stored("post/1")}
	bad := map[int]exchange{
		40004: {path: map[string]string{"id": "a%20b"}, headers: []string{asAdmin}},
		40401: {path: map[string]string{"id": "never"}, headers: []string{asAdmin}},
		50301: {path: map[string]string{"id": "of_old"}, headers: []string{asAdmin}, late: true},
	}
	patch := one
	patch.body = `{"likes":4,"tags":null}`
	listed := func(query string) exchange {
		return exchange{query: query, headers: []string{asAdmin}, before: stored("post/1", "post/2")}
	}
	badPatch := map[int]exchange{}
	for code, e := range bad {
		e.body = patch.body
		badPatch[code] = e
	}
	badPatch[40001] = exchange{path: one.path, headers: one.headers, before: one.before, body: `{"title":null}`}
	return map[string]contractRoute{
		"PATCH /v1/items/{id}": {good: []exchange{patch, patch.with(bearer)}, bad: badPatch},
		"POST /v1/items": {
			good: []exchange{
				{headers: []string{asAdmin}, kind: "application/x-ndjson", body: item + "\n" + `{"id":"post/2"}`},
				{headers: []string{bearer}, body: "[" + item + "]"},
			},
			bad: map[int]exchange{40001: {headers: []string{asAdmin, "Content-Encoding: br"}, body: item}},
		},
		"GET /v1/items": {
			good: []exchange{
				listed("?author=lee&tag=space&words=a+river&since=1772791200&cursor=eyJ0Ijo5OTk5OTk5OTk5LCJpZCI6InoifQ&limit=1"),
				{headers: []string{bearer}, before: stored("post/1")},
			},
			bad: map[int]exchange{40001: listed("?cursor=x"), 40003: listed("?limit=201"), 50301: {headers: []string{asAdmin}, late: true}},
		},
		"POST /v1/items/counts": {
			good: []exchange{
				{headers: []string{asAdmin}, kind: "application/x-ndjson", body: counts + "\n" + `{"id":"never","likes":1}`, before: one.before},
				{headers: []string{bearer}, body: "[" + counts + "]", before: one.before},
			},
			bad: map[int]exchange{40001: {headers: []string{asAdmin, "Content-Encoding: br"}, body: counts}},
		},
		"GET /v1/items/{id}": {good: []exchange{one, one.with(bearer)}, bad: bad},
		"GET /v1/items/{id}/related": {
			good: []exchange{
				{path: one.path, headers: []string{asAgent}, before: one.before},
				{path: one.path, headers: []string{asAgent}, before: one.before, query: "?limit=100"},
			},
			bad: map[int]exchange{
				40001: {path: one.path, headers: []string{asAgent}, before: one.before, query: "?page=2"},
				40003: {path: one.path, headers: []string{asAgent}, before: one.before, query: "?limit=101"},
				40004: {path: map[string]string{"id": "a%20b"}, headers: []string{asAgent}},
				40401: {path: map[string]string{"id": "never"}, headers: []string{asAgent}},
				50301: {path: map[string]string{"id": "of_old"}, headers: []string{asAgent}, late: true},
			},
		},
		"DELETE /v1/items/{id}": {good: []exchange{one, one.with(bearer)}, bad: bad},
	}
}

func rankingCases(stored func(...string) []exchange) map[string]contractRoute {
	admin := func(body string) exchange { return exchange{headers: []string{asAdmin}, body: body} }
	explain := admin(`{"agent_id":"u_9"}`)
	explain.before = append(stored("a", "b"), exchange{
		op: "PUT /v1/agents/{agent_id}/profile", path: map[string]string{"agent_id": "u_9"}, headers: []string{asAdmin},
		body: `{"interests":{"water":2},"keywords":["river"]}`,
	})
	put := admin(`{"ranking":{"base":0.2,"decay":{"scale":"72h"}},"experiments":[{"name":"slow","share":0.1,"ranking":{"popularity":{"weight":1}}}],"by":"ana","why":"a try"}`)
	put.op = "PUT /v1/ranking"
	known := exchange{headers: []string{asAdmin, "If-None-Match: *"}, before: []exchange{put}}
	history := func(query string) exchange { return exchange{headers: []string{asAdmin}, query: query} }
	after := history("")
	after.before = []exchange{put}
	gardens := func(body string) exchange {
		x := admin(body)
		x.path = map[string]string{"name": "gardens"}
		return x
	}
	store := gardens(`{"all":{"tags":["garden"]},"any":{"words":["raised bed"],"langs":["de"]},"none":{"sites":["example.org"],"authors":["ana"]},"ranking":{"base":0.2},"readers":["u_9"],"by":"ana","why":"a page for gardeners"}`)
	store.op = "PUT /v1/feeds/{name}"
	list, read, remove := admin(""), gardens(""), gardens("")
	list.before, read.before, remove.before = []exchange{store}, []exchange{store}, []exchange{store}
	unknown := exchange{headers: []string{asAdmin}, path: map[string]string{"name": "never-stored"}}
	return map[string]contractRoute{
		"GET /v1/feeds":        {good: []exchange{list}},
		"GET /v1/feeds/{name}": {good: []exchange{read}, bad: map[int]exchange{40401: unknown}},
		"PUT /v1/feeds/{name}": {
			good: []exchange{store, gardens(`{"none":{"tags":["x"]}}`).with(bearer, "If-Match: *")},
			bad:  map[int]exchange{40001: gardens(`{"all":{}}`), 40004: gardens(`{"all":{"tags":["x"]},"readers":["u:9"]}`), 41201: store.with(asAdmin, `If-Match: "999"`)},
		},
		"DELETE /v1/feeds/{name}": {good: []exchange{remove}, bad: map[int]exchange{40401: unknown, 41201: gardens("").with(asAdmin, `If-Match: "999"`)}},
		"POST /v1/explain": {
			good: []exchange{explain, admin(`{"agent_id":"u_9","feed":"home"}`), admin(`{"agent_id":"u_9","limit":1,"item":"never","ranking":{"decay":{"scale":"72h"}},"at":"2026-03-07T12:00:00Z"}`)},
			bad: map[int]exchange{
				40003: admin(`{"agent_id":"u_9","limit":0}`),
				40004: admin(`{"agent_id":"u:9"}`),
				40401: admin(`{"agent_id":"u_9","feed":"never-stored"}`),
			},
		},
		"GET /v1/ranking": {good: []exchange{admin(""), known}},
		"PUT /v1/ranking": {
			good: []exchange{put, admin(`{"experiments":[]}`).with(bearer, "If-Match: *")},
			bad:  map[int]exchange{41201: put.with(asAdmin, `If-Match: "999"`)},
		},
		"GET /v1/ranking/history": {
			good: []exchange{history("?limit=2"), after},
			bad:  map[int]exchange{40001: history("?since=1"), 40003: history("?limit=0")},
		},
		"GET /v1/ranking/report": {
			good: []exchange{history("?days=2"), after},
			bad:  map[int]exchange{40001: history("?days=0")},
		},
		"POST /v1/ranking/revert": {
			good: []exchange{admin(`{"version":0,"by":"ana","why":"it did not help"}`)},
			bad: map[int]exchange{
				40401: admin(`{"version":9999}`),
				41201: admin(`{"version":0}`).with(asAdmin, `If-Match: "999"`),
			},
		},
	}
}

func offlineCases(stored func(...string) []exchange) map[string]contractRoute {
	admin := func(body string) exchange {
		return exchange{headers: []string{asAdmin}, body: body, before: append(stored("a", "b", "c"), exchange{
			op: "PUT /v1/agents/{agent_id}/profile", path: map[string]string{"agent_id": "u_9"}, headers: []string{asAdmin},
			body: `{"interests":{"water":2},"keywords":["river"]}`,
		})}
	}
	return map[string]contractRoute{
		"POST /v1/compare": {
			good: []exchange{
				admin(`{"b":"scale=72h,offset=2h","sample":50,"seed":1}`),
				admin(`{"a":{"base":0.5},"b":{"decay":{"scale":"72h"}},"agents":["u_9"],"k":5,"lists":true,"at":1772877600}`),
			},
			bad: map[int]exchange{40004: admin(`{"agents":["u:9"]}`)},
		},
		"POST /v1/replay": {
			good: []exchange{admin(`{"clicks":[{"agent_id":"u_9","id":"a","at":"2026-03-07T12:00:00Z"},{"agent_id":"u_9","id":"gone","at":1772877600}],"rankings":["","scale=72h",{"base":1}],"depth":10}`)},
			bad:  map[int]exchange{40004: admin(`{"clicks":[{"agent_id":"u:9","id":"a","at":1772877600}],"rankings":[""]}`)},
		},
	}
}

func operationsCases(func(...string) []exchange) map[string]contractRoute {
	always := contractRoute{good: []exchange{{}}}
	cached := contractRoute{good: []exchange{{}, {headers: []string{"If-None-Match: *"}}}}
	file := func(path string) exchange { return exchange{path: map[string]string{"path": path}} }
	return map[string]contractRoute{
		"GET /v1/overview": {good: []exchange{{headers: []string{asAdmin}}}},
		"GET /v1/readers": {
			good: []exchange{{headers: []string{asAdmin}, query: "?item=doc_1"}},
			bad:  map[int]exchange{40001: {headers: []string{asAdmin}, query: "?item=doc_1&page=1"}, 40004: {headers: []string{asAdmin}, query: "?item=a%20b"}},
		},
		"GET /v1/system":         {good: []exchange{{headers: []string{asAdmin}}}},
		"POST /v1/doctor":        {good: []exchange{{headers: []string{asAdmin}}}},
		"GET /v1/config/diff":    {good: []exchange{{headers: []string{asAdmin}}}},
		"POST /v1/config/reload": {good: []exchange{{headers: []string{asAdmin}}}},

		"GET /livez":        always,
		"GET /readyz":       always,
		"GET /metrics":      always,
		"GET /openapi.json": cached,
		"GET /docs":         cached,
		"GET /console":      cached,
		"GET /":             cached,
		"GET /assets/{path}": {
			good: []exchange{file("base.css"), file("docs/docs.js"), file("base.css").with("If-None-Match: *")},
			bad:  map[int]exchange{40401: file("docs/none.js")},
		},
	}
}
