package handler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

type kind int

const (
	aText kind = iota
	aWhole
	aNumber
	aFlag
	aTime
	aFuture // a time that must not be over
	aTexts  // an array of strings
	aKeywords
	anArray
	anObject
	aChange // an object or a string
)

// wrong has, for each kind, rejected values and a part of the error message.
var wrong = map[kind]map[string]string{
	aText:     {`7`: "must be a string, not a number", `{}`: "must be a string, not an object", `true`: "must be a string, not a boolean"},
	aWhole:    {`"7"`: "must be a whole number, not a string", `1.5`: "must be a whole number, not 1.5", `[7]`: "must be a whole number, not an array", `1e300`: "must be a whole number, not 1e300"},
	aNumber:   {`"0.5"`: "must be a number, not a string", `[1]`: "must be a number, not an array"},
	aFlag:     {`"true"`: "must be true or false, not a string", `1`: "must be true or false, not a number"},
	aTime:     {`"1772798400"`: "must be a number if it is in Unix seconds", `"yesterday"`: "must be a time such as", `true`: "must be a time such as", `0`: "must be a time such as", `1772798400000`: "must be a time such as"},
	aFuture:   {`"4102444800"`: "must be a number if it is in Unix seconds", `"tomorrow"`: "must be a time such as", `0`: "must be a time such as", `1`: "is in the past"},
	aTexts:    {`"a"`: "must be an array of strings, not a string", `{}`: "must be an array of strings, not an object", `[7]`: "[0] must be a string, not a number", `["a",null]`: "[1] must be a string, not null"},
	aKeywords: {`"a"`: "must be an array, not a string", `[7]`: "[0] must be a string or an object such as", `["a",null]`: "[1] must be a string or an object such as", `[{"term":"a","wait":2}]`: `unknown field "wait"; known are term, weight`, `[{"weight":2}]`: "the term is missing", `[{"term":"a","weight":"2"}]`: "weight must be a number, not a string"},
	anArray:   {`"a"`: "must be an array, not a string", `{}`: "must be an array, not an object", `[null]`: "[0] must be an object"},
	anObject:  {`"a"`: "must be an object", `[]`: "must be an object", `7`: "must be an object"},
	aChange:   {`[]`: "must be an object as in GET /v1/ranking, or a list", `7`: "must be an object as in GET /v1/ranking, or a list"},
}

// right has alternative notations of the same value.
var right = map[kind][]string{
	aWhole:  {`1.0`, `1e0`, `10e-1`},
	aFuture: {`4102444800`, `4102444800.0`, `4.1024448e9`, `"2100-01-01T00:00:00Z"`, `"2100-01-01T01:00:00.5+01:00"`},
	aTime:   {`1772798400`, `1772798400.0`, `1.7727984e9`, `1772798400.25`, `"2026-03-06T12:00:00Z"`, `"2026-03-06T13:00:00.5+01:00"`},
}

type field struct {
	name     string
	kind     kind
	code     int // for a wrong value
	required bool
}

// described is a route with a body: an accepted body, and every field it may have.
type described struct {
	op     string
	body   string
	fields []field
	within string // the path of the object with the fields; "%s" marks that object in body
}

var withBodies = []described{
	{op: "POST /v1/feed", body: `{"action":"refresh"}`, fields: []field{
		{"action", aText, 40002, true},
		{"limit", aWhole, 40003, false},
		{"silent", aFlag, 40001, false},
		{"request_id", aText, 40004, false},
		{"why", aFlag, 40001, false},
	}},
	{op: "POST /v1/impressions", body: `{"ids":["a"]}`, fields: []field{{"ids", aTexts, 0, true}}},
	{op: "POST /v1/events", body: `{"type":"click","id":"a"}`, fields: []field{{"type", aText, 40001, true}, {"id", aText, 40004, true}}},
	{op: "POST /v1/events", body: `{"events":[%s]}`, within: "events[0]", fields: []field{{"type", aText, 40001, true}, {"id", aText, 40004, true}}},
	{op: "POST /v1/events", body: `{"events":[{"type":"click","id":"a"}]}`, fields: []field{{"events", anArray, 40001, true}}},
	{op: "PUT /v1/agents/u_1/profile", body: `{}`, fields: []field{
		{"interests", anObject, 40001, false},
		{"keywords", aKeywords, 40001, false},
		{"langs", aTexts, 40001, false},
		{"muted_authors", aTexts, 40001, false},
		{"muted_tags", aTexts, 40001, false},
		{"muted_items", aTexts, 0, false},
	}},
	{op: "POST /v1/posts", body: `{"caption":"x"}`, fields: []field{
		{"caption", aText, 40001, true},
		{"tags", aTexts, 40001, false},
		{"audience", anObject, 40001, false},
		{"mentions", aTexts, 0, false},
		{"reply", aText, 40001, false},
		{"react", aText, 40001, false},
	}},
	{op: "POST /v1/posts", body: `{"caption":"x","audience":%s}`, within: "audience", fields: []field{
		{"public", aFlag, 40001, false}, {"followers", aFlag, 40001, false}, {"circles", aTexts, 0, false},
	}},
	{op: "PATCH /v1/posts/post:p", body: `{"caption":"x"}`, fields: []field{{"caption", aText, 40001, true}}},
	{op: "PATCH /v1/posts/post:p", body: `{"caption":"x","tags":[],"alts":[]}`, fields: []field{{"tags", aTexts, 40001, false}, {"alts", aTexts, 40001, false}}},
	{op: "PUT /v1/authors/u_1", body: `{}`, fields: []field{{"name", aText, 40001, false}, {"image_url", aText, 40001, false}, {"bio", aText, 40001, false}}},
	{op: "PUT /v1/circles/c1", body: `{"owner":"u_1"}`, fields: []field{{"owner", aText, 40004, true}, {"name", aText, 40001, false}, {"members", aTexts, 0, false}}},
	{op: "PUT /v1/circles/c1", body: `{"owner":"u_1","kind":"event","until":4102444800}`, fields: []field{{"until", aFuture, 40001, false}, {"post", aText, 0, false}}},
	{op: "POST /v1/explain", body: `{"agent_id":"u_1"}`, fields: []field{
		{"agent_id", aText, 40004, true}, {"limit", aWhole, 40003, false}, {"item", aText, 40004, false}, {"ranking", anObject, 40001, false}, {"at", aTime, 40001, false},
	}},
	{op: "PUT /v1/ranking", body: `{"ranking":{"base":1}}`, fields: []field{
		{"experiments", anArray, 40001, false}, {"by", aText, 40001, false}, {"why", aText, 40001, false}, {"ranking", anObject, 40001, true},
	}},
	{op: "PUT /v1/ranking", body: `{"ranking":{"decay":%s,"base":1}}`, within: "decay", fields: []field{
		{"scale", aText, 40001, false}, {"offset", aText, 40001, false}, {"decay", aNumber, 40001, false}, {"floor", aNumber, 40001, false},
	}},
	{op: "PUT /v1/ranking", body: `{"ranking":{"popularity":%s,"base":1}}`, within: "popularity", fields: []field{{"weight", aNumber, 40001, false}, {"weight_2h", aNumber, 40001, false}, {"weight_2d", aNumber, 40001, false}, {"weight_1h", aNumber, 40001, false}, {"weight_6h", aNumber, 40001, false}, {"weight_1d", aNumber, 40001, false}, {"weight_7d", aNumber, 40001, false}}},
	{op: "PUT /v1/ranking", body: `{"ranking":{"keywords":%s,"base":1}}`, within: "keywords", fields: []field{{"summary", aNumber, 40001, false}}},
	{op: "PUT /v1/ranking", body: `{"ranking":{"learned":%s,"base":1}}`, within: "learned", fields: []field{
		{"tags", aNumber, 40001, false},
		{"author", aNumber, 40001, false},
		{"lang", aNumber, 40001, false},
		{"words", aNumber, 40001, false},
		{"negative", aNumber, 40001, false},
		{"half_life", aText, 40001, false},
	}},
	{op: "PUT /v1/ranking", body: `{"experiments":[%s]}`, within: "experiments[0]", fields: []field{
		{"name", aText, 40001, true}, {"share", aNumber, 40001, true}, {"ranking", anObject, 40001, false},
	}},
	{op: "PUT /v1/feeds/x", body: `{"all":{"tags":["go"]}}`, fields: []field{
		{"any", anObject, 40001, false}, {"none", anObject, 40001, false}, {"ranking", anObject, 40001, false}, {"readers", aTexts, 0, false}, {"by", aText, 40001, false}, {"why", aText, 40001, false},
	}},
	{op: "PUT /v1/feeds/x", body: `{"all":{"tags":["go"]},"any":%s}`, within: "any", fields: []field{
		{"tags", aTexts, 40001, false}, {"langs", aTexts, 40001, false}, {"authors", aTexts, 40001, false}, {"sites", aTexts, 40001, false}, {"words", aTexts, 40001, false},
	}},
	{op: "POST /v1/ranking/revert", body: `{"version":0}`, fields: []field{{"version", aWhole, 40001, true}, {"by", aText, 40001, false}, {"why", aText, 40001, false}}},
	{op: "POST /v1/compare", body: `{"agents":["u_1"]}`, fields: []field{
		{"a", aChange, 40001, false},
		{"b", aChange, 40001, false},
		{"agents", aTexts, 0, true},
		{"seed", aWhole, 40001, false},
		{"at", aTime, 40001, false},
		{"k", aWhole, 40001, false},
		{"lists", aFlag, 40001, false},
	}},
	{op: "POST /v1/compare", body: `{"sample":2}`, fields: []field{{"sample", aWhole, 40001, true}}},
	{op: "POST /v1/replay", body: `{"clicks":[{"agent_id":"u_1","id":"a","at":1772798400}],"rankings":[""]}`, fields: []field{
		{"clicks", anArray, 40001, true}, {"rankings", anArray, 40001, true}, {"depth", aWhole, 40001, false},
	}},
	{op: "POST /v1/replay", body: `{"clicks":[%s],"rankings":[""]}`, within: "clicks[0]", fields: []field{
		{"agent_id", aText, 40004, true}, {"id", aText, 40004, true}, {"at", aTime, 40001, true},
	}},
}

// objects has the objects that replace %s.
var objects = map[string]string{
	"any":       `{"tags":["go"]}`,
	"audience":  `{}`,
	"events[0]": `{"type":"click","id":"a"}`, "decay": `{}`, "popularity": `{}`, "keywords": `{}`, "learned": `{}`,
	"experiments[0]": `{"name":"x","share":0.1}`, "clicks[0]": `{"agent_id":"u_1","id":"a","at":1772798400}`,
}

// with returns the body with one field set to this JSON; "" omits the field.
func (d described) with(t *testing.T, name, value string) string {
	t.Helper()
	object := d.body
	if d.within != "" {
		object = objects[d.within]
	}
	members := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal([]byte(object), &members))
	delete(members, name)
	parts := make([]string, 0, len(members)+1)
	for _, other := range slices.Sorted(maps.Keys(members)) {
		parts = append(parts, fmt.Sprintf("%q:%s", other, members[other]))
	}
	if value != "" {
		parts = append(parts, fmt.Sprintf("%q:%s", name, value))
	}
	object = "{" + strings.Join(parts, ",") + "}"
	if d.within != "" {
		return fmt.Sprintf(d.body, object)
	}
	return object
}

func fieldsFixture(t *testing.T, op string) *fixture {
	switch {
	case strings.Contains(op, "/posts"), strings.Contains(op, "/authors"), strings.Contains(op, "/circles"):
		f, store := socialFixture(t, nil)
		publish(t, store, social.Post{ID: "post:p", Author: "u_1"})
		return f
	case strings.HasSuffix(op, "/explain"):
		f, _ := explainFixture(t)
		return f
	case strings.Contains(op, "/ranking"), strings.Contains(op, "/v1/feeds"):
		f := rankingFixture(t)
		require.Zero(t, f.do(t, "PUT", "/v1/ranking", `{"ranking":{"base":1}}`, asAdmin).Code) // creates a version to revert to
		return f
	case strings.HasSuffix(op, "/compare"), strings.HasSuffix(op, "/replay"):
		return offlineFixture(t, &fakeOffline{agents: []string{"u_1", "u_2"}})
	}
	return newFixture(t, nil)
}

// TestBodyFields checks the same rules on all routes: null is the same as a missing
// field, whole numbers may be written 1.0, and a wrong value, an unknown field or a duplicate one
// is refused with the path of the field.
func TestBodyFields(t *testing.T) {
	t.Parallel()
	for _, d := range withBodies {
		for _, x := range d.fields {
			path := x.name
			if d.within != "" {
				path = d.within + "." + x.name
			}
			t.Run(d.op+" "+path, func(t *testing.T) {
				t.Parallel()
				f := fieldsFixture(t, d.op)
				ask := func(body string) reply {
					method, target, _ := strings.Cut(d.op, " ")
					return f.do(t, method, target, body, asAgent, asAdmin)
				}
				for value, says := range wrong[x.kind] {
					code := x.code
					if code == 0 { // for an array of ids, a wrong array gives 40001 and a wrong id in it 40004
						if code = 40001; strings.HasPrefix(says, "[") {
							code = 40004
						}
					}
					got := ask(d.with(t, x.name, value))
					assert.Equal(t, code, got.Code, "%s: %s", value, got.body)
					assert.Contains(t, got.Msg, x.name, value)
					assert.Contains(t, got.Msg, says, value)
				}
				for _, value := range right[x.kind] {
					got := ask(d.with(t, x.name, value))
					assert.Equal(t, 0, got.Code, "%s: %s", value, got.body)
				}
				absent, null := ask(d.with(t, x.name, "")), ask(d.with(t, x.name, "null"))
				assert.Equal(t, absent.Code, null.Code, "absent: %s null: %s", absent.body, null.body)
				assert.Equal(t, absent.Msg, null.Msg)
				assert.Equal(t, x.required, null.Code != 0, null.body)

				unknown := ask(d.with(t, "no_such", "1"))
				assert.Equal(t, 40001, unknown.Code, unknown.body)
				assert.Contains(t, unknown.Msg, `unknown field "no_such"`)
				assert.Contains(t, unknown.Msg, x.name, "the known fields are told")
				twice := ask(strings.Replace(d.with(t, "no_such", "1"), `"no_such":1`, fmt.Sprintf("%q:null,%[1]q:null", x.name), 1))
				assert.Equal(t, 40001, twice.Code, twice.body)
				assert.Contains(t, twice.Msg, fmt.Sprintf("duplicate field %q", x.name))
			})
		}
	}
}

func TestQueryFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		target string
		code   int
		says   string
	}{
		{"/v1/ranking/history", 0, ""},
		{"/v1/ranking/history?limit=5", 0, ""},
		{"/v1/ranking/history?limit=5.0", 0, ""},
		{"/v1/ranking/history?limit=1e1", 0, ""},
		{"/v1/ranking/history?limit=", 40003, "limit must be a whole number, not a string"},
		{"/v1/ranking/history?limit=null", 40003, "limit must be a whole number, not a string"},
		{"/v1/ranking/history?limit=five", 40003, "limit must be a whole number, not a string"},
		{"/v1/ranking/history?limit=1.5", 40003, "limit must be a whole number, not 1.5"},
		{"/v1/ranking/history?limit=0", 40003, "limit must be a whole number from 1 to 100, not 0"},
		{"/v1/ranking/history?limit=101", 40003, "limit must be a whole number from 1 to 100, not 101"},
		{"/v1/ranking/history?limit=5&limit=5", 40001, `duplicate query parameter "limit"`},
		{"/v1/ranking/history?limt=5", 40001, `unknown query parameter "limt"; known are limit`},
		{"/v1/ranking/history?limit=%zz", 40001, "the query"},
		{"/v1/ranking/report?days=7", 0, ""},
		{"/v1/ranking/report?days=7.0", 0, ""},
		{"/v1/ranking/report?days=week", 40001, "days must be a whole number, not a string"},
		{"/v1/ranking/report?days=0", 40001, "days must be 1 to 90, not 0"},
		{"/v1/ranking/report?day=7", 40001, `unknown query parameter "day"; known are days`},
	} {
		got := rankingFixture(t).do(t, "GET", tt.target, "", asAdmin)
		assert.Equal(t, tt.code, got.Code, "%s: %s", tt.target, got.body)
		assert.Contains(t, got.Msg, tt.says, tt.target)
	}
}

// TestItemFields checks the same rules for items, for which the report lists the errors.
func TestItemFields(t *testing.T) {
	t.Parallel()
	item := described{body: `{"id":"a","title":"T","update_time":1}`}
	for _, x := range []field{
		{"id", aText, 0, true},
		{"title", aText, 0, true},
		{"update_time", aWhole, 0, true},
		{"group_id", aText, 0, false},
		{"summary", aText, 0, false},
		{"url", aText, 0, false},
		{"image_url", aText, 0, false},
		{"author_id", aText, 0, false},
		{"lang", aText, 0, false},
		{"tags", aTexts, 0, false},
		{"likes", aWhole, 0, false},
		{"comments", aWhole, 0, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			ask := func(body string) reply { return f.do(t, "POST", "/v1/items", "["+body+"]", asAdmin) }
			for value, says := range wrong[x.kind] {
				got := ask(item.with(t, x.name, value))
				assert.Contains(t, got.body, `"rejected":1`)
				assert.Contains(t, got.body, says, value)
			}
			for _, value := range right[x.kind] {
				assert.Contains(t, ask(item.with(t, x.name, value)).body, `"accepted":1`, value)
			}
			null := ask(item.with(t, x.name, "null"))
			assert.Equal(t, ask(item.with(t, x.name, "")).body, null.body)
			assert.Equal(t, x.required, strings.Contains(null.body, `"rejected":1`), null.body)
			assert.Contains(t, ask(item.with(t, x.name, "null,"+fmt.Sprintf("%q:null", x.name))).body, `duplicate field \"`+x.name)
		})
	}
	f := newFixture(t, nil)
	got := f.do(t, "POST", "/v1/items", `[{"id":"a","title":"T","update_time":1.0,"likes":1e3,"x":null,"y":[null]}]`, asAdmin)
	require.Contains(t, got.body, `"accepted":1`)
	require.JSONEq(t, `{"id":"a","title":"T","update_time":1,"likes":1000,"x":null,"y":[null]}`, f.items["a"])
	deep := strings.Repeat("[", 101) + strings.Repeat("]", 101)
	got = f.do(t, "POST", "/v1/items", `[{"id":"a","title":"T","update_time":1,"x":`+deep+`}]`, asAdmin)
	require.Contains(t, got.body, "x has more than 100 nested objects and arrays")
	got = f.do(t, "POST", "/v1/items", `[{"id":"a","title":"T","update_time":1,"x":{"y":[{"z":1,"z":2}]}}]`, asAdmin)
	require.Contains(t, got.body, `duplicate field \"z\" in x.y[0]`)
}
