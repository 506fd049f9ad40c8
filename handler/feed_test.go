package handler

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

func TestFeedBodies(t *testing.T) {
	t.Parallel()
	ok := func(r engine.Request) *engine.Request { return &r }
	refresh := engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 20}
	with := func(change func(*engine.Request)) *engine.Request {
		r := refresh
		change(&r)
		return &r
	}
	for _, tt := range []struct {
		name, body string
		code       int
		says       string
		want       *engine.Request
	}{
		{"plain", `{"action":"refresh"}`, 0, "", ok(refresh)},
		{"spaces", " {\n\t\"action\" : \"refresh\" ,\r\n \"limit\" : 20 } \n", 0, "", ok(refresh)},
		{
			"all fields", `{"request_id":"r-1","silent":true,"limit":1,"why":true,"action":"refresh"}`, 0, "",
			with(func(r *engine.Request) { r.RequestID, r.Silent, r.Limit, r.Why = "r-1", true, 1, true }),
		},
		{
			"load_more", `{"action":"load_more","limit":100,"silent":false}`, 0, "",
			with(func(r *engine.Request) { r.Action, r.Limit = engine.ActionLoadMore, 100 }),
		},
		{
			"escapes", `{"\u0061ction":"re\u0066resh","request_id":"\u0041"}`, 0, "",
			with(func(r *engine.Request) { r.RequestID = "A" }),
		},

		{"empty", ``, 40001, "empty", nil},
		{"blank", " \n", 40001, "empty", nil},
		{"broken", `{"action":"refresh"`, 40001, "unexpected end at byte 19", nil},
		{"not JSON", `action=refresh`, 40001, "bad JSON at byte 0", nil},
		{"trailing object", `{"action":"refresh"}{}`, 40001, "after top-level value", nil},
		{"trailing word", `{"action":"refresh"} x`, 40001, "after top-level value", nil},
		{"array", `[{"action":"refresh"}]`, 40001, "object", nil},
		{"null", `null`, 40001, "object", nil},
		{"unknown field", `{"action":"refresh","cursor":"x"}`, 40001, `"cursor"`, nil},
		{"unknown nested field", `{"ctx":{"a":["}",1]},"action":"refresh"}`, 40001, `"ctx"`, nil},
		{"other case", `{"Action":"refresh"}`, 40001, `"Action"`, nil},
		{"twice", `{"action":"refresh","limit":5,"limit":5}`, 40001, `"limit"`, nil},
		{"twice, escaped", `{"action":"refresh","\u0061ction":"refresh"}`, 40001, `"action"`, nil},
		{"silent load_more", `{"action":"load_more","silent":true}`, 40002, "silent", nil},
		{"silent word", `{"action":"refresh","silent":"true"}`, 40001, "silent", nil},
		{"silent null", `{"action":"refresh","silent":null}`, 0, "", ok(refresh)},
		{"silent number", `{"action":"refresh","silent":1}`, 40001, "silent", nil},
		{"request_id number", `{"action":"refresh","request_id":7}`, 40004, "request_id", nil},
		{"request_id list", `{"action":"refresh","request_id":["a"]}`, 40004, "request_id", nil},

		{"no action", `{}`, 40002, "action", nil},
		{"no action but limit", `{"limit":5}`, 40002, "action", nil},
		{"other action", `{"action":"reload"}`, 40002, "action", nil},
		{"empty action", `{"action":""}`, 40002, "action", nil},
		{"upper action", `{"action":"REFRESH"}`, 40002, "action", nil},
		{"action null", `{"action":null}`, 40002, "action", nil},
		{"action number", `{"action":1}`, 40002, "action", nil},

		{"limit 0", `{"action":"refresh","limit":0}`, 40003, "limit", nil},
		{"limit -1", `{"action":"refresh","limit":-1}`, 40003, "limit", nil},
		{"limit 101", `{"action":"refresh","limit":101}`, 40003, "limit", nil},
		{"limit 1e9", `{"action":"refresh","limit":1e9}`, 40003, "limit", nil},
		{"limit 1e1", `{"action":"refresh","limit":1e1}`, 0, "", with(func(r *engine.Request) { r.Limit = 10 })},
		{"limit 1.5", `{"action":"refresh","limit":1.5}`, 40003, "limit", nil},
		{"limit overflow", `{"action":"refresh","limit":18446744073709551617}`, 40003, "limit", nil},
		{"limit string", `{"action":"refresh","limit":"20"}`, 40003, "limit", nil},
		{"limit null", `{"action":"refresh","limit":null}`, 0, "", ok(refresh)},
		{"limit list", `{"action":"refresh","limit":[20]}`, 40003, "limit", nil},

		{"request_id empty", `{"action":"refresh","request_id":""}`, 40004, "request_id", nil},
		{"request_id long", `{"action":"refresh","request_id":"` + strings.Repeat("a", 65) + `"}`, 40004, "request_id", nil},
		{"request_id alphabet", `{"action":"refresh","request_id":"a b"}`, 40004, "request_id", nil},
		{"request_id colon", `{"action":"refresh","request_id":"a:b"}`, 40004, "request_id", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			got := f.do(t, "POST", "/v1/feed", tt.body, asAgent)
			require.Equal(t, tt.code, got.Code, got.body)
			if tt.want == nil {
				require.Equal(t, 400, got.status)
				require.Contains(t, got.Msg, tt.says)
				require.Zero(t, f.feed.asked(), "the engine must not be asked")
				return
			}
			require.Equal(t, 200, got.status)
			require.Equal(t, *tt.want, f.feed.asked())
		})
	}
}

func TestFeedBodyLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	body := `{"action":"refresh"}`
	exact := body + strings.Repeat(" ", MaxFeedBody-len(body))
	require.Equal(t, 0, f.do(t, "POST", "/v1/feed", exact, asAgent).Code)

	got := f.do(t, "POST", "/v1/feed", exact+" ", asAgent)
	require.Equal(t, 413, got.status)
	require.Equal(t, 41301, got.Code)
	require.Contains(t, got.Msg, "4 KiB")
}

func TestFeedCompressedBodyRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent, "Content-Encoding: gzip")
	require.Equal(t, 40001, got.Code)
	require.Contains(t, got.Msg, "Content-Encoding")
	got = f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent, "Content-Encoding: identity")
	require.Equal(t, 0, got.Code)
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	plain, named := `{"action":"refresh"}`, `{"action":"refresh","request_id":"r1"}`
	for _, tt := range []struct {
		name, body string
		keys       []string
		code       int
		want       string
	}{
		{"header alone", plain, []string{"k1"}, 0, "k1"},
		{"body alone", named, nil, 0, "r1"},
		{"both the same", named, []string{"r1"}, 0, "r1"},
		{"both, different", named, []string{"k1"}, 40001, ""},
		{"two headers", plain, []string{"k1", "k2"}, 40001, ""},
		{"malformed", plain, []string{"a/b"}, 40004, ""},
		{"empty", plain, []string{""}, 40004, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			headers := []string{asAgent}
			for _, k := range tt.keys {
				headers = append(headers, "Idempotency-Key: "+k)
			}
			got := f.do(t, "POST", "/v1/feed", tt.body, headers...)
			require.Equal(t, tt.code, got.Code, got.body)
			require.Equal(t, tt.want, f.feed.asked().RequestID)
		})
	}
}

func TestFeedAnswers(t *testing.T) {
	t.Parallel()
	a := feed.Doc{ID: "a", JSON: json.RawMessage(`{"id":"a","title":"<b>&","x":1.0}`)}
	b := feed.Doc{ID: "b", JSON: json.RawMessage(`{"id":"b"}`)}
	for _, tt := range []struct {
		name, body string
		answer     engine.Answer
		want       string
	}{
		{"nothing", `{"action":"refresh"}`, engine.Answer{}, `{"items":[],"has_more":false}`},
		{
			"items as stored", `{"action":"refresh"}`,
			engine.Answer{Docs: []feed.Doc{a, b}, HasMore: true},
			`{"items":[{"id":"a","title":"<b>&","x":1.0},{"id":"b"}],"has_more":true}`,
		},
		{
			"a missing doc leaves no gap", `{"action":"refresh"}`,
			engine.Answer{Docs: []feed.Doc{{ID: "gone"}, b, {ID: "gone"}}},
			`{"items":[{"id":"b"}],"has_more":false}`,
		},
		{
			"request id", `{"action":"refresh","request_id":"r.1"}`,
			engine.Answer{RequestID: "r.1"},
			`{"items":[],"has_more":false,"request_id":"r.1"}`,
		},
		{
			"silent", `{"action":"refresh","silent":true}`,
			engine.Answer{Docs: []feed.Doc{b}, NewCount: 7, HasMore: true},
			`{"items":[{"id":"b"}],"has_more":true,"new_count":7}`,
		},
		{
			"silent, nothing", `{"action":"refresh","silent":true}`,
			engine.Answer{},
			`{"items":[],"has_more":false,"new_count":0}`,
		},
		{
			"a new reader", `{"action":"refresh","silent":true,"request_id":"r.1"}`,
			engine.Answer{RequestID: "r.1", NewReader: true},
			`{"items":[],"has_more":false,"request_id":"r.1","new_count":0,"new_reader":true}`,
		},
		{
			"degraded", `{"action":"load_more"}`,
			engine.Answer{Degraded: []string{"dedup", "session"}},
			`{"items":[],"has_more":false,"degraded":["dedup","session"]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) { return tt.answer, nil }
			got := f.do(t, "POST", "/v1/feed", tt.body, asAgent)
			require.Equal(t, `{"code":0,"msg":"success","data":`+tt.want+`}`, got.body)
		})
	}
}

func TestFeedWhy(t *testing.T) {
	t.Parallel()
	doc := func(id, text string) feed.Doc { return feed.Doc{ID: id, JSON: json.RawMessage(text)} }
	interest := []api.Reason{{Type: api.ReasonInterest, Value: `<"Go">`}, {Type: api.ReasonFresh}}
	const post = `{"id":"post:a","caption":"\"in_feed\":{","in_feed":{"source":"discovery","has_liked":false,"can_reply":true,"can_react":true,"is_promoted":false}}`
	const reasons = `"why":[{"type":"interest","value":"\u003c\"Go\"\u003e"},{"type":"fresh"}]`
	for _, tt := range []struct {
		name string
		doc  feed.Doc
		why  []api.Reason
		want string
	}{
		{"an item", doc("a", `{"id":"a","x":{"y":1}}`), interest, `{"id":"a","x":{"y":1},"in_feed":{` + reasons + `}}`},
		{"an item, nothing to say", doc("a", `{"id":"a"}`), nil, `{"id":"a"}`},
		{"a post", doc("post:a", post), interest, strings.TrimSuffix(post, "}}") + `,` + reasons + `}}`},
		{"a post, nothing to say", doc("post:a", post), nil, post},
		{"a field of that name within another", doc("a", `{"id":"a","x":{"in_feed":1}}`), nil, `{"id":"a","x":{"in_feed":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.feed.answer = func(_ context.Context, r engine.Request) (engine.Answer, error) {
				a := engine.Answer{Docs: []feed.Doc{tt.doc, doc("b", `{"id":"b"}`)}}
				if r.Why {
					a.Why = [][]api.Reason{tt.why, nil}
				}
				return a, nil
			}
			got := f.do(t, "POST", "/v1/feed", `{"action":"refresh","why":true}`, asAgent)
			require.Equal(t, `{"code":0,"msg":"success","data":{"items":[`+tt.want+`,{"id":"b"}],"has_more":false}}`, got.body)
			got = f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
			require.Equal(t, `{"code":0,"msg":"success","data":{"items":[`+string(tt.doc.JSON)+`,{"id":"b"}],"has_more":false}}`, got.body, "as it is stored")
		})
	}
	t.Run("reasons that could not be told", func(t *testing.T) {
		f := newFixture(t, nil)
		f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) {
			return engine.Answer{Docs: []feed.Doc{doc("a", `{"id":"a"}`)}, Degraded: []string{"why"}}, nil
		}
		got := f.do(t, "POST", "/v1/feed", `{"action":"refresh","why":true}`, asAgent)
		require.Equal(t, `{"code":0,"msg":"success","data":{"items":[{"id":"a"}],"has_more":false,"degraded":["why"]}}`, got.body)
	})
}

func TestFeedDrawn(t *testing.T) {
	t.Parallel()
	doc := func(id, text string) feed.Doc { return feed.Doc{ID: id, JSON: json.RawMessage(text)} }
	const post = `{"id":"post:a","caption":"\"source\":\"discovery\"","in_feed":{"source":"discovery","has_liked":false,"can_reply":true,"can_react":true,"is_promoted":false}}`
	const drawn = `{"id":"post:a","caption":"\"source\":\"discovery\"","in_feed":{"source":"explore","has_liked":false,"can_reply":true,"can_react":true,"is_promoted":false`
	const reasons = `"why":[{"type":"explore"}]`
	for _, tt := range []struct {
		name, plain, why string
		doc              feed.Doc
	}{
		{"an item", `{"id":"a","in_feed":{"source":"explore"}}`, `{"id":"a","in_feed":{"source":"explore",` + reasons + `}}`, doc("a", `{"id":"a"}`)},
		{"a post", drawn + `}}`, drawn + `,` + reasons + `}}`, doc("post:a", post)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.feed.answer = func(_ context.Context, r engine.Request) (engine.Answer, error) {
				a := engine.Answer{Docs: []feed.Doc{doc("b", `{"id":"b"}`), tt.doc}, Refs: []feed.Ref{{}, {Source: feed.SourceExplore}}}
				if r.Why {
					a.Why = [][]api.Reason{nil, {{Type: api.ReasonExplore}}}
				}
				return a, nil
			}
			got := f.do(t, "POST", "/v1/feed", `{"action":"load_more"}`, asAgent)
			require.Equal(t, `{"code":0,"msg":"success","data":{"items":[{"id":"b"},`+tt.plain+`],"has_more":false}}`, got.body)
			got = f.do(t, "POST", "/v1/feed", `{"action":"load_more","why":true}`, asAgent)
			require.Equal(t, `{"code":0,"msg":"success","data":{"items":[{"id":"b"},`+tt.why+`],"has_more":false}}`, got.body)
		})
	}
}

func TestFeedPromotedAndTrending(t *testing.T) {
	t.Parallel()
	const caption, rest = `{"id":"post:a","caption":"\"is_promoted\":false","in_feed":{"source":"`, `","has_liked":false,"can_reply":true,"can_react":true,"is_promoted":`
	f := newFixture(t, nil)
	f.feed.answer = func(_ context.Context, r engine.Request) (engine.Answer, error) {
		post := feed.Doc{ID: "post:a", JSON: json.RawMessage(caption + "discovery" + rest + `false}}`)}
		item := feed.Doc{ID: "a", JSON: json.RawMessage(`{"id":"a"}`)}
		a := engine.Answer{
			Docs:   []feed.Doc{item, post, item, post},
			Refs:   []feed.Ref{{Source: feed.SourcePromoted, ShownBefore: true}, {Source: feed.SourcePromoted}, {Source: feed.SourceDiscovery}, {Source: feed.SourceDiscovery}},
			Trends: []feed.Trend{6, 0, 2, 3},
		}
		if r.Why {
			a.Why = [][]api.Reason{{{Type: api.ReasonFresh}}, {{Type: api.ReasonFresh}}, nil, nil}
		}
		return a, nil
	}
	const others = `{"id":"a","in_feed":{"source":"discovery"}},` + caption + "discovery" + rest + `false,"trend":"warm"}}`
	const why = `,"why":[{"type":"fresh"}]`
	for body, why := range map[string]string{`{"action":"refresh"}`: "", `{"action":"refresh","why":true}`: why} {
		got := f.do(t, "POST", "/v1/feed", body, asAgent)
		require.Equal(t, `{"code":0,"msg":"success","data":{"items":[{"id":"a","in_feed":{"source":"promoted","trend":"hot","is_promoted":true,"shown_before":true`+why+`}},`+
			caption+"promoted"+rest+`true`+why+`}},`+others+`],"has_more":false}}`, got.body)
	}
}

func TestFeedShownBefore(t *testing.T) {
	t.Parallel()
	const begin, post = `{"id":"post:a","in_feed":{"source":"`, `","has_liked":false,"can_reply":true,"can_react":true,"is_promoted":false`
	const reasons = `"why":[{"type":"fresh"}]`
	for _, tt := range []struct {
		name, doc   string
		source      feed.Source
		plain, with string
	}{
		{
			name: "an item", doc: `{"id":"a"}`,
			plain: `{"id":"a","in_feed":{"shown_before":true}}`, with: `{"id":"a","in_feed":{"shown_before":true,` + reasons + `}}`,
		},
		{
			name: "a drawn one", doc: `{"id":"a"}`, source: feed.SourceExplore,
			plain: `{"id":"a","in_feed":{"source":"explore","shown_before":true}}`,
			with:  `{"id":"a","in_feed":{"source":"explore","shown_before":true,` + reasons + `}}`,
		},
		{
			name: "a post", doc: begin + "discovery" + post + `}}`,
			plain: begin + "discovery" + post + `,"shown_before":true}}`, with: begin + "discovery" + post + `,"shown_before":true,` + reasons + `}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.feed.answer = func(_ context.Context, r engine.Request) (engine.Answer, error) {
				id := "a"
				if tt.name == "a post" {
					id = "post:a"
				}
				a := engine.Answer{
					Docs: []feed.Doc{{ID: "b", JSON: json.RawMessage(`{"id":"b"}`)}, {ID: id, JSON: json.RawMessage(tt.doc)}},
					Refs: []feed.Ref{{}, {Source: tt.source, ShownBefore: true}},
				}
				if r.Why {
					a.Why = [][]api.Reason{nil, {{Type: api.ReasonFresh}}}
				}
				return a, nil
			}
			got := f.do(t, "POST", "/v1/feed", `{"action":"load_more"}`, asAgent)
			require.Equal(t, `{"code":0,"msg":"success","data":{"items":[{"id":"b"},`+tt.plain+`],"has_more":false}}`, got.body)
			got = f.do(t, "POST", "/v1/feed", `{"action":"load_more","why":true}`, asAgent)
			require.Equal(t, `{"code":0,"msg":"success","data":{"items":[{"id":"b"},`+tt.with+`],"has_more":false}}`, got.body)
		})
	}
}

func TestFeedHugePage(t *testing.T) {
	t.Parallel()
	big := feed.Doc{ID: "a", JSON: json.RawMessage(`{"id":"a","text":"` + strings.Repeat("x", 200<<10) + `"}`)}
	f := newFixture(t, nil)
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) {
		return engine.Answer{Docs: []feed.Doc{big, big, big}}, nil
	}
	for range 2 {
		got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
		var page struct{ Items []json.RawMessage }
		require.NoError(t, json.Unmarshal(got.Data, &page))
		require.Len(t, page.Items, 3)
	}
}

// FuzzFeedBody checks the decoder against encoding/json: a body that it accepts is one JSON object
// with the same meaning there.
func FuzzFeedBody(f *testing.F) {
	for _, seed := range []string{
		`{"action":"refresh"}`, `{"action":"load_more","limit":100,"request_id":"a","silent":false,"why":true}`,
		`{"\u0061ction":"refresh","limit":1}`, `{"action":"refresh","x":{"a":["}","\\\"",{}]}}`, `{`, `[]`, `{"limit":1e2}`, "\x00", `{"a":-1.5e+3 }`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := decodeFeed(body, "u_1")
		if err != nil {
			code := problemOf(err).code
			require.Contains(t, []int{40001, 40002, 40003, 40004}, code, "%v", err)
			return
		}
		var want struct {
			Action    string   `json:"action"`
			Limit     *float64 `json:"limit"`
			Silent    bool     `json:"silent"`
			RequestID string   `json:"request_id"`
			Why       bool     `json:"why"`
		}
		require.NoError(t, json.Unmarshal(body, &want))
		require.Equal(t, want.Action, string(req.Action))
		require.Equal(t, want.Silent, req.Silent)
		require.Equal(t, want.Why, req.Why)
		require.Equal(t, want.RequestID, req.RequestID)
		if want.Limit == nil {
			require.Equal(t, engine.DefaultLimit, req.Limit)
		} else {
			require.InDelta(t, *want.Limit, req.Limit, 0)
		}
		require.True(t, req.Limit >= 1 && req.Limit <= engine.MaxLimit)
	})
}
