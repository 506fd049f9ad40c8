package handler

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStoredFeedRoutes(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	got := f.do(t, "GET", "/v1/feeds", "", asAdmin)
	require.Equal(t, 200, got.status, got.body)
	require.JSONEq(t, `{"version":0,"feeds":[]}`, string(got.Data))

	const gardens = `{"name":"gardens","any":{"tags":["garden"],"words":["raised bed"]},"none":{"langs":["fr"]},"ranking":{"decay":{"scale":"168h"}},"readers":["u_1"]}`
	got = f.do(t, "PUT", "/v1/feeds/gardens", `{"any":{"tags":["garden"],"words":["raised bed"]},"none":{"langs":["fr"]},"ranking":{"decay":{"scale":"168h"}},"readers":["u_1"],"by":"ana"}`, asAdmin, `If-Match: "0"`)
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, `"1"`, got.header.Get("ETag"))
	require.JSONEq(t, gardens, string(got.Data))
	require.Equal(t, 200, f.do(t, "PUT", "/v1/feeds/a", `{"all":{"sites":["example.org"]},"ranking":{}}`, asAdmin).status)

	got = f.do(t, "PUT", "/v1/feeds/gardens", `{"any":{"tags":["garden"]},"readers":[]}`, asAdmin)
	require.Equal(t, 40001, got.Code, got.body)
	require.Contains(t, got.body, "a feed without readers is for everyone", "the last reader is taken off the list")

	// Changes of the ranking leave the feeds, and feeds the ranking.
	require.Equal(t, 200, f.do(t, "PUT", "/v1/ranking", `{"ranking":{"base":1}}`, asAdmin).status)
	got = f.do(t, "GET", "/v1/feeds", "", asAdmin)
	require.JSONEq(t, `{"version":3,"feeds":[{"name":"a","all":{"sites":["example.org"]}},`+gardens+`]}`, string(got.Data))
	got = f.do(t, "GET", "/v1/feeds/gardens", "", asAdmin)
	require.JSONEq(t, gardens, string(got.Data))
	require.Equal(t, `"3"`, got.header.Get("ETag"))

	assert.Equal(t, 41201, f.do(t, "DELETE", "/v1/feeds/a", "", asAdmin, `If-Match: "2"`).Code)
	got = f.do(t, "DELETE", "/v1/feeds/a", "", asAdmin)
	require.Equal(t, 200, got.status, got.body)
	require.JSONEq(t, `{}`, string(got.Data))
	assert.Equal(t, 40401, f.do(t, "DELETE", "/v1/feeds/a", "", asAdmin).Code)
	assert.Equal(t, 40401, f.do(t, "GET", "/v1/feeds/a", "", asAdmin).Code)
	require.Equal(t, 200, f.do(t, "POST", "/v1/ranking/revert", `{"version":2}`, asAdmin).status)
	assert.Equal(t, 404, f.do(t, "GET", "/v1/feeds/a", "", asAdmin).status, "a revert changes no feeds")
	require.Equal(t, 200, f.do(t, "POST", "/v1/ranking/revert", `{"version":0}`, asAdmin).status)
	assert.Equal(t, 200, f.do(t, "GET", "/v1/feeds/gardens", "", asAdmin).status)
	got = f.do(t, "GET", "/v1/ranking/history?limit=4", "", asAdmin)
	assert.Contains(t, string(got.Data), `"why":"deleted the feed a"`)
}

func TestStoredFeedRoutesRefuse(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	for _, tt := range []struct {
		name, body, says string
		code             int
	}{
		{"home", `{"all":{"tags":["x"]}}`, "has another meaning", 40001},
		{"Big", `{"all":{"tags":["x"]}}`, "of a-z 0-9 _ -", 40001},
		{"x", `{}`, "it has no conditions", 40001},
		{"x", `{"all":{"tag":["x"]}}`, `unknown field \"tag\" in all`, 40001},
		{"x", `{"all":{"tags":[" "]}}`, "is no tag", 40001},
		{"x", `{"all":{"sites":["https://a.example"]}}`, "is no site", 40001},
		{"x", `{"all":{"tags":["x"]},"ranking":{"base":-1}}`, "base must", 40001},
		{"x", `{"all":{"tags":["x"]},"ranking":{"scale":"1h"}}`, "scale", 40001},
		{"x", `{"all":{"tags":["x"]},"readers":["a b"]}`, "readers", 40004},
		{"x", `{"all":{"tags":["x"]},"by":"a\nb"}`, "control character", 40001},
	} {
		got := f.do(t, "PUT", "/v1/feeds/"+tt.name, tt.body, asAdmin)
		assert.Equal(t, tt.code, got.Code, "%s %s: %s", tt.name, tt.body, got.body)
		assert.Contains(t, got.body, tt.says)
	}
	for i := range 200 {
		require.Zero(t, f.do(t, "PUT", fmt.Sprintf("/v1/feeds/f%d", i), `{"all":{"tags":["x"]}}`, asAdmin).Code)
	}
	got := f.do(t, "PUT", "/v1/feeds/more", `{"all":{"tags":["x"]}}`, asAdmin)
	assert.Equal(t, 40001, got.Code)
	assert.Contains(t, got.body, "at most 200 can be stored")

	require.Zero(t, f.do(t, "PUT", "/v1/feeds/f1", `{"all":{"tags":["x"]},"ranking":{"decay":{"decay":0.9}}}`, asAdmin).Code)
}
