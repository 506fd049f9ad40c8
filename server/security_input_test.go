package server

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestSecurityHostileIDsRefused sends hostile texts as ids of agents and items in every place:
// those that are no valid ids are refused.
func TestSecurityHostileIDsRefused(t *testing.T) {
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	for _, text := range testenv.HostileTexts {
		quoted := asJSON(t, text)
		agentOK, itemOK := feed.CheckAgentID(text) == nil, feed.CheckItemID(text) == nil
		check := func(what string, ok bool, code int) {
			t.Helper()
			if ok {
				assert.Contains(t, []int{0, 40401, 40301}, code, "%s %q", what, text)
			} else {
				assert.Equal(t, 40004, code, "%s %q", what, text)
			}
		}
		_, code, _ := s.call("POST", "/v1/feed", `{"action":"refresh","request_id":`+quoted+`}`, asU1)
		if agentOK && len(text) <= feed.MaxRequestID {
			assert.Zero(t, code, "request_id %q", text)
		} else {
			assert.Equal(t, 40004, code, "request_id %q", text)
		}
		_, code, _ = s.call("POST", "/v1/impressions", `{"ids":[`+quoted+`]}`, asU1)
		check("impression", itemOK, code)
		if !strings.ContainsAny(text, "\r\n\x00") && strings.TrimSpace(text) == text { // valid in an HTTP header
			_, code, _ = s.call("POST", "/v1/feed", `{"action":"refresh"}`, "X-Agent-ID: "+text)
			check("agent", agentOK, code)
			_, code, _ = s.call("POST", "/v1/feed", `{"action":"refresh"}`, asU1, "Idempotency-Key: "+text)
			assert.Contains(t, []int{0, 40004}, code, "key %q", text)
		}
		escaped := url.PathEscape(text)
		if !strings.Contains(text, "/") {
			_, code, _ = s.call("GET", "/v1/agents/"+escaped+"/profile", "", asAdmin)
			check("profile", agentOK, code)
			_, code, _ = s.call("PUT", "/v1/agents/"+escaped+"/profile", "{}", asAdmin)
			check("profile", agentOK, code)
		}
		for _, method := range []string{"GET", "DELETE"} {
			_, code, _ = s.call(method, "/v1/items/"+escaped, "", asAdmin)
			check(method, itemOK, code)
		}
		for _, field := range []string{"id", "group_id"} {
			item := map[string]any{"id": "ok", "title": "t", "update_time": 1}
			item[field] = text
			_, code, data := s.call("POST", "/v1/items", asJSON(t, item), asAdmin)
			assert.Zero(t, code)
			assert.Contains(t, data, fmt.Sprintf(`"accepted":%d`, map[bool]int{true: 1}[itemOK]), "%s %q", field, text)
		}
	}
	unchanged()
}

// TestSecurityHostileTextsUnchanged checks that free text is stored and answered unchanged, and
// that a search for it finds the items that have it, without other effects.
func TestSecurityHostileTextsUnchanged(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	texts := slices.DeleteFunc(slices.Clone(testenv.HostileTexts), func(text string) bool { return len(text) > feed.MaxTermLength || feed.Blank(text) })
	var upload []map[string]any
	for i, text := range texts {
		upload = append(upload, map[string]any{
			"id": fmt.Sprintf("hostile_%d", i), "title": text, "update_time": time.Now().Unix() - 30, "summary": text,
			"url": "https://example.org/" + url.PathEscape(text), "image_url": "https://example.org/?" + url.QueryEscape(text),
			"author_id": text, "lang": text, "tags": []string{text}, "business": text,
		})
	}
	_, code, report := s.call("POST", "/v1/items", asJSON(t, upload), asAdmin)
	require.Zero(t, code)
	require.Contains(t, report, fmt.Sprintf(`"accepted":%d`, len(texts)))
	for _, item := range upload {
		_, _, got := s.call("GET", "/v1/items/"+item["id"].(string), "", asAdmin)
		require.JSONEq(t, asJSON(t, item), got)
	}
	refreshIndex(t, a)
	for i, text := range texts {
		agent := fmt.Sprintf("u_h%d", i)
		as := "X-Agent-ID: " + agent
		profile := asJSON(t, map[string]any{
			"interests": map[string]float64{text: 100}, "keywords": []string{text}, "langs": []string{text},
			"muted_authors": []string{text + "!"}, "muted_tags": []string{text + "!"},
		})
		_, code, _ := s.call("PUT", "/v1/agents/"+agent+"/profile", profile, as)
		require.Zero(t, code, "%q", text)
		_, _, got := s.call("GET", "/v1/agents/"+agent+"/profile", "", as)
		require.JSONEq(t, profile, got)
		_, code, data := s.call("POST", "/v1/feed", `{"action":"refresh","limit":100}`, as)
		require.Zero(t, code, "%q", text)
		var page struct {
			Items []feed.Item `json:"items"`
		}
		require.NoError(t, json.Unmarshal([]byte(data), &page))
		var found []string
		for _, it := range page.Items {
			found = append(found, it.Lang)
		}
		// Items without a language, or of all languages, match every reader, and every item matches
		// a reader of all languages.
		require.Contains(t, found, text, "%q", text)
		for _, lang := range found {
			require.True(t, text == "*" || slices.Contains([]string{"", "*", text}, lang), "a filter on %q found %q", text, lang)
		}
	}
	unchanged()
}

// TestSecurityLargestKeywords checks that a search engine accepts the largest allowed profile, even
// in a script in which each character is a word.
func TestSecurityLargestKeywords(t *testing.T) {
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	var keywords []string
	var all strings.Builder
	for i := range feed.MaxKeywords {
		var k strings.Builder
		for j := range feed.MaxKeywordsLength / feed.MaxKeywords {
			k.WriteRune(rune(0x4e00 + i*100 + j))
		}
		keywords = append(keywords, k.String())
		all.WriteString(k.String())
	}
	put(t, a, feed.Item{ID: "all", Title: all.String(), UpdateTime: time.Now().Unix() - 5})
	const path = "/v1/agents/u_1/profile"
	_, code, _ := s.call("PUT", path, asJSON(t, feed.Profile{Keywords: feed.Keywords(keywords...)}), asU1)
	require.Zero(t, code)
	_, code, data := s.call("POST", "/v1/feed", `{"action":"refresh"}`, asU1)
	require.Zero(t, code)
	require.Contains(t, data, `"id":"all"`)
	keywords[0] += "一"
	_, code, _ = s.call("PUT", path, asJSON(t, feed.Profile{Keywords: feed.Keywords(keywords...)}), asU1)
	require.Equal(t, 40001, code)
}

// TestSecurityHostileBusinessFields uploads items with unknown fields that are named like parts of
// Elasticsearch, are deep or many: they are stored and answered unchanged, or refused.
func TestSecurityHostileBusinessFields(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	deep := func(open, closing string, n int) string {
		return strings.Repeat(open, n) + "1" + strings.Repeat(closing, n)
	}
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprintf(`"f%d":%d`, i, i)
	}
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	for i, fields := range []string{
		`"_id":"doc_1"`, `"_source":{"enabled":false}`, `"_routing":"x"`, `"_index":"x"`, `"_type":"x"`, `"_version":7`, `"_seq_no":1`, `"_ignored":["a"]`,
		`"_field_names":["a"]`, `"_tier":"x"`, `"_doc_count":0`, `"_nested_path":"x"`, `"_size":1`, `"_meta":{}`, `"_score":9`,
		`"a.b":1`, `"a.b.c":{"d.e":1}`, `".":1`, `"..":1`, `".a":1`, `"a.":1`, `"a..b":1`, `"":1`, `" ":1`, `"title.x":1`, `"popularity":5`, `"freshet_popularity":1e9`,
		`"index":{"_id":"doc_1"}`, `"delete":{"_id":"doc_1"}`, `"dynamic":"strict"`, `"$ref":"x"`, `"__proto__":{"a":1}`, `"constructor":{}`,
		`"x":` + deep("[", "]", 5000), `"x":` + deep(`{"a":`, "}", 5000), `"x":` + deep(`{"a":[`, "]}", 900),
		`"x":` + deep("[", "]", 19), `"x":` + deep(`{"a":`, "}", 30),
		strings.Join(many, ","),
		`"x":1e400`, `"x":-1e400`, `"x":1e-400`, `"x":` + strings.Repeat("9", 1000), `"x":0.` + strings.Repeat("1", 1000), `"x":1E+2`, `"x":-0`, `"x":1.50`,
		`"x":"\u0000"`, `"x":"\ud800"`, `"\u0000":1`, `"x":"` + strings.Repeat("a", 100_000) + `"`, `"` + strings.Repeat("n", 60_000) + `":1`,
		`"x":null`, `"x":[null,1,"a",{}]`, `"x":{}`, `"x":{"y":1}`, `"x":"text"`, `"x":[]`, `"x":true`,
	} {
		id := fmt.Sprintf("business_%d", i)
		item := `{"id":"` + id + `","title":"t","update_time":5,` + fields + `}`
		_, code, data := s.call("POST", "/v1/items", item, asAdmin)
		require.Zero(t, code, "%.100s", fields)
		var report struct {
			Accepted, Rejected int
			Errors             []struct{ Reason string }
		}
		require.NoError(t, json.Unmarshal([]byte(data), &report))
		require.Equal(t, 1, report.Accepted+report.Rejected)
		status, _, got := s.call("GET", "/v1/items/"+id, "", asAdmin)
		if report.Rejected == 1 {
			t.Logf("%.60s: %.160s", fields, data)
			require.Equal(t, 404, status, "a rejected item is not there")
			continue
		}
		require.Equal(t, 200, status)
		var want, is map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(item), &want))
		require.NoError(t, json.Unmarshal([]byte(got), &is), "%.200s", got)
		require.Equal(t, len(want), len(is), "%.200s", got)
		for name, value := range want {
			require.Equal(t, string(value), string(is[name]), "%.60s comes back as it was", fields)
		}
	}
	unchanged()
	_, code, _ := s.call("POST", "/v1/feed", `{"action":"refresh","limit":100}`, "X-Agent-ID: u_3")
	require.Zero(t, code)
}

// TestSecurityTextsCreateNoRedisKeys checks that text sent by clients creates no arbitrary keys in
// Redis: every key belongs to one of the documented families.
func TestSecurityTextsCreateNoRedisKeys(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	prefix := cfg.Redis.KeyPrefix
	a, s := untrusted(t, cfg)
	put(t, a, feed.Item{ID: "doc_1", Title: "t", UpdateTime: time.Now().Unix() - 5})
	for _, text := range testenv.HostileTexts {
		quoted := asJSON(t, text)
		s.call("POST", "/v1/feed", `{"action":"refresh","request_id":`+quoted+`}`, asU1)
		s.call("POST", "/v1/impressions", `{"ids":[`+quoted+`]}`, asU1)
		s.call("PUT", "/v1/agents/"+url.PathEscape(text)+"/profile", "{}", asAdmin)
		s.call("GET", "/v1/items/"+url.PathEscape(text), "", asAdmin)
	}
	waitRecorded(t, a)
	keys, err := a.clients.redis.Keys(t.Context(), prefix+"*").Result()
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	for _, key := range keys {
		require.Regexp(t, `^(bf:(global|meta):\d{8}(:\d+)?|events:control:\d{8}:[a-z0-9]+|events:variants|feed:trending(:lease)?|feed:settings|popularity:changed(:turn)?|overview:(60|3600):\d+|feed:[a-z]+:[A-Za-z0-9_.@{}:/-]+(~[a-z0-9]+)?)$`, strings.TrimPrefix(key, prefix))
	}
	checkReadOnly(t, a, func() { s.readAnalyses([]string{"u_1", "u_new"}, "doc_1", time.Unix(1, 0), time.Now(), noon) })
}

// TestSecurityAgentsAreIsolated tries to read and change data of another agent by variants of
// paths, headers and bodies.
func TestSecurityAgentsAreIsolated(t *testing.T) {
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	for _, path := range []string{
		"/v1/agents/u_2/profile", "/v1/agents/u_1/../u_2/profile", "/v1/agents/u_1%2f..%2fu_2/profile", "/v1/agents/u%5f2/profile",
		"/v1/agents//u_2/profile", "/v1/agents/u_2%00/profile", "/v1/agents/U_2/profile", "/v1/agents/u_1;u_2/profile", "/v1/agents/u_2/profile?agent_id=u_1",
	} {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			for _, as := range [][]string{
				{asU1},
				{},
				{"X-Agent-ID: "},
				{asU1, asU2},
				{asU2, asU1},
				{"X-Agent-ID: u_22"},
				{"X_Agent_ID: u_2"},
				{asU1, "X_Agent_Id: u_2"},
				{asU1, "X-Admin-Token: x"},
				{asU1, "Authorization: Bearer " + testAdmin + "x"},
				{asU1, "X-HTTP-Method-Override: GET"},
				{asU1, "X-Original-URL: /v1/agents/u_1/profile"},
			} {
				status, code, data := s.call(method, path, `{"keywords":["taken"]}`, as...)
				assert.NotZero(t, code, "%s %s as %q", method, path, as)
				assert.GreaterOrEqual(t, status, 400)
				assert.NotContains(t, data, "kept")
			}
		}
	}
	for _, route := range [][2]string{{"POST", "/v1/items"}, {"GET", "/v1/items/doc_1"}, {"DELETE", "/v1/items/doc_1"}} {
		for _, as := range [][]string{
			{},
			{asU1},
			{"X-Admin-Token: "},
			{"X-Admin-Token: x"},
			{"X-Admin-Token: " + strings.ToUpper(testAdmin)},
			{"X-Admin-Token: " + testAdmin[1:]},
			{"X-Admin-Token: x", asAdmin},
			{"Authorization: " + testAdmin},
			{"Authorization: Basic " + testAdmin},
			{"Authorization: Bearer"},
			{"Authorization: Bearer x", "Authorization: Bearer " + testAdmin},
			{"Authorization: Bearer " + testAdmin, "Authorization: Bearer x"},
			{"X-Forwarded-For: 127.0.0.1"},
			{"X-Real-IP: 127.0.0.1"},
			{"Forwarded: for=127.0.0.1"},
			{"Host: localhost"},
			{"Host: 127.0.0.1", asU1},
			{"Cookie: admin_token=" + testAdmin},
			{"X-Original-URL: /livez"},
			{"Origin: http://localhost"},
		} {
			status, _, _ := s.call(route[0], route[1]+"?admin_token="+testAdmin, `{"id":"doc_1","title":"taken","update_time":1}`, as...)
			assert.Contains(t, []int{401, 403}, status, "%v as %q", route, as)
		}
	}
	_, _, item := s.call("GET", "/v1/items/doc_1", "", asAdmin)
	require.Contains(t, item, "Number")
	unchanged()
}
