package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// listsLengthenedBy says for each operation that writes which lists an agent can make longer with
// it. The lists of a profile are tested here, the others, by every store, in the named cases of
// socialtest.
var listsLengthenedBy = map[string]string{
	"PUT /v1/agents/{agent_id}/profile":                "profile",
	"PATCH /v1/agents/{agent_id}/profile":              "profile",
	"PUT /v1/agents/{agent_id}/muted/authors/{author}": "profile",
	"PUT /v1/agents/{agent_id}/muted/tags/{tag}":       "profile",
	"PUT /v1/agents/{agent_id}/muted/items/{item}":     "profile",
	"PUT /v1/agents/{agent_id}/muted/words/{word}":     "profile",
	"POST /v1/events":                                     "profile",
	"POST /v1/agents/{agent_id}/following":                "socialtest: Follows/limit",
	"PUT /v1/agents/{agent_id}/following/{author}":        "socialtest: Follows/limit",
	"POST /v1/graph/events":                               "socialtest: Follows/limit, Circles/limit, Groups/limits",
	"PUT /v1/agents/{agent_id}/blocked/{agent}":           "blocks",
	"PUT /v1/agents/{agent_id}/muted/circles/{circle}":    "socialtest: Groups/limit of mutes",
	"PUT /v1/agents/{agent_id}/muted/invitations/{agent}": "socialtest: Groups/limit of mutes",
	"PUT /v1/circles/{id}":                                "socialtest: Circles/limit, Groups/limits",
	"PUT /v1/circles/{id}/members/{agent}":                "socialtest: Circles/limit, Groups/limits",
	"PUT /v1/circles/{id}/invitations/{agent}":            "socialtest: Groups/many invitations",
	"PATCH /v1/circles/{id}":                              "socialtest: Circles/limit, Groups/limits",
	"PUT /v1/posts/{id}/like":                             "unbounded: a row for each like",
	"POST /v1/posts":                                      "unbounded: a row for each post",
	"PUT /v1/promoted/{id}":                               "socialtest: Promotions",
	"PUT /v1/ranking":                                     "TestCheckVariants",
	"PUT /v1/feeds/{name}":                                "feed: TestStoredFeedRefused",

	"POST /v1/feed": "", "POST /v1/impressions": "", "POST /v1/timeline/warm": "", "PATCH /v1/posts/{id}": "", "PUT /v1/authors/{id}": "", "PATCH /v1/authors/{id}": "", "PUT /v1/authors/{id}/image": "", "POST /v1/authors/cards": "",
	"POST /v1/agents/{agent_id}/export": "", "PUT /v1/agents/{agent_id}/notifications/seen": "", "PUT /v1/agents/{agent_id}/muted/notifications/{kind}": "",
	"POST /v1/items": "", "POST /v1/items/counts": "", "PATCH /v1/items/{id}": "", "POST /v1/explain": "", "POST /v1/ranking/revert": "",
	"POST /v1/compare": "", "POST /v1/replay": "", "POST /v1/jobs": "", "POST /v1/jobs/rederive": "", "POST /v1/jobs/{id}/retry": "",
	"POST /v1/config/reload": "", "POST /v1/doctor": "", "POST /v1/moderation": "",
	"POST /v1/posts/{id}/report": "unbounded: a row for each report", "POST /v1/items/{id}/report": "unbounded: the same",
	"POST /v1/authors/{id}/report": "unbounded: the same", "POST /v1/circles/{id}/report": "unbounded: the same",
}

// profileLists are the lists of a profile, each with its limit. What is learned is no list of the
// agent's: it is computed, and the strongest features count.
var profileLists = map[string]int{
	"interests": feed.MaxInterests, "keywords": feed.MaxKeywords, "langs": feed.MaxKeywords,
	"muted_authors": feed.MaxMutes, "muted_tags": feed.MaxMutes, "muted_items": feed.MaxMutedItems, "muted_words": feed.MaxMutedWords,
}

// TestLimitsCoverEveryListAndWrite fails for a new list of a profile, or a new operation that
// writes, until the tables above say what happens at its limit.
func TestLimitsCoverEveryListAndWrite(t *testing.T) {
	t.Parallel()
	var fields []string
	for field := range fieldsOf(reflect.TypeFor[feed.Profile]()) {
		if kind := field.Type.Kind(); kind == reflect.Slice || kind == reflect.Map {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, name)
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(profileLists)), fields)

	_, s := untrusted(t, embedded(t))
	res, err := http.Get(s.url + "/openapi.json")
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	var described struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&described))
	var writes []string
	for path, operations := range described.Paths {
		for method := range operations {
			if method == "put" || method == "post" || method == "patch" {
				writes = append(writes, strings.ToUpper(method)+" "+path)
			}
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(listsLengthenedBy)), writes)
}

// fieldsOf yields the fields of a struct.
func fieldsOf(of reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range of.NumField() {
			if !yield(of.Field(i)) {
				return
			}
		}
	}
}

// TestLimitsFullProfileListRefusesMore fills each list of a profile, and adds one more by every
// operation that can: that is refused, and the list stays as it was. Removing one makes room.
func TestLimitsFullProfileListRefusesMore(t *testing.T) {
	t.Parallel()
	_, s := untrusted(t, embedded(t))
	for list, most := range profileLists {
		agent := "lists_" + list
		as, path := "X-Agent-ID: "+agent, "/v1/agents/"+agent+"/profile"
		profile := func(n int) string { return `{"` + list + `":` + listOf(list, n) + `}` }
		stored := func() string {
			_, code, data := s.call("GET", path, "", as)
			require.Zero(t, code)
			return data
		}
		_, code, _ := s.call("PUT", path, profile(most), as)
		require.Zero(t, code, list)
		full := stored()
		require.JSONEq(t, profile(most), full)
		for _, method := range []string{"PUT", "PATCH"} {
			_, code, _ = s.call(method, path, profile(most+1), as)
			assert.Equal(t, 40001, code, "%s %s", method, list)
			assert.JSONEq(t, full, stored(), "%s %s", method, list)
		}
		name, isMuted := strings.CutPrefix(list, "muted_")
		if !isMuted {
			continue
		}
		steps := "/v1/agents/" + agent + "/muted/" + name + "/"
		_, code, _ = s.call("PUT", steps+"x0", "", as)
		assert.Zero(t, code, "it is there")
		_, code, _ = s.call("PUT", steps+"one-more", "", as)
		assert.Equal(t, 42202, code, list)
		if name == "items" {
			_, code, _ = s.call("POST", "/v1/events", `{"type":"hide","id":"one-more"}`, as)
			assert.Equal(t, 42202, code)
			_, code, _ = s.call("POST", "/v1/events", `{"type":"hide","id":"x0"}`, as)
			assert.Zero(t, code, "it is there")
		}
		assert.JSONEq(t, full, stored(), list)
		_, code, _ = s.call("DELETE", steps+"x0", "", as)
		require.Zero(t, code)
		_, code, _ = s.call("PUT", steps+"one-more", "", as)
		assert.Zero(t, code, "there is room again in %s", list)
	}
}

// listOf returns n entries of a list of a profile as JSON.
func listOf(list string, n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"x%d"`, i)
		switch list {
		case "interests":
			entries[i] += ":1"
		case "muted_words":
			entries[i] = `{"term":` + entries[i] + `}`
		}
	}
	if list == "interests" {
		return "{" + strings.Join(entries, ",") + "}"
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// TestLimitsBlocksAreUnlimited blocks more agents than any list of a profile may have: blocks have
// no limit.
func TestLimitsBlocksAreUnlimited(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	_, s := untrusted(t, embedded(t))
	const blocks = 1200
	for i := range blocks {
		_, code, _ := s.call("PUT", fmt.Sprintf("/v1/agents/u_1/blocked/other%04d", i), "", asU1)
		require.Zero(t, code)
	}
	var all []string
	for after := ""; ; {
		var page struct {
			Agents    []string `json:"agents"`
			NextAfter *string  `json:"next_after"`
		}
		_, code, data := s.call("GET", "/v1/agents/u_1/blocked?limit=1000&after="+url.QueryEscape(after), "", asU1)
		require.Zero(t, code)
		require.NoError(t, json.Unmarshal([]byte(data), &page))
		all = append(all, page.Agents...)
		if page.NextAfter == nil {
			break
		}
		after = *page.NextAfter
	}
	require.Len(t, all, blocks)
}
