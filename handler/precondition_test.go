package handler_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestIfMatchEveryRoute calls every described route that writes with the tag of another
// version. It must be refused, because the version differs or because the route supports no
// conditions.
func TestIfMatchEveryRoute(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	cases, honoured := contractCases(), []string(nil)
	for _, op := range slices.Sorted(maps.Keys(c.operations())) {
		if strings.HasPrefix(op, "GET ") {
			continue
		}
		e := cases[op].good[0]
		e.before = nil
		got := c.call(t, op, e, conditioned)
		if got.code == 41201 {
			honoured = append(honoured, op)
			continue
		}
		assert.Equal(t, 40001, got.code, op)
	}
	assert.Equal(t, []string{"PATCH /v1/agents/{agent_id}/profile", "PUT /v1/agents/{agent_id}/profile"}, honoured, "the ranking's tags are numbers, so it takes no other")
}

// TestIfMatchUnknownRoute checks that an unknown route or method gives its error with a condition,
// too.
func TestIfMatchUnknownRoute(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	for path, status := range map[string]int{"/v1/agents/u_1/profile": http.StatusMethodNotAllowed, "/v1/none": http.StatusNotFound} {
		require.Equal(t, status, device(c, http.MethodTrace, path, "", `If-Match: "x"`).status, path)
	}
}

// TestInvalidMutes checks that an invalid value is refused when it is unmuted, too.
func TestInvalidMutes(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	for _, method := range []string{http.MethodPut, http.MethodDelete} {
		for _, value := range []string{"authors/" + strings.Repeat("a", 257), "tags/" + strings.Repeat("a", 257), "items/%C2%84", "tags/"} {
			require.Equal(t, http.StatusBadRequest, device(c, method, "/v1/agents/u_1/muted/"+value, "").status, "%s %s", method, value)
		}
	}
}

func device(c *contract, method, path, body string, headers ...string) answered {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-Agent-ID", "u_1")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	return answered{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
}

func profileOf(t *testing.T, c *contract) (feed.Profile, string) {
	t.Helper()
	got := device(c, "GET", "/v1/agents/u_1/profile", "")
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	var body struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(got.body, &body))
	p, err := feed.ParseProfile(body.Data)
	require.NoError(t, err)
	return p, got.header.Get("ETag")
}

// TestIfMatchProfile checks that of two devices that write after reading the same version the
// second one is refused, and the change of the first one stays.
func TestIfMatchProfile(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	const path = "/v1/agents/u_1/profile"
	require.Equal(t, 412, device(c, "PUT", path, `{}`, "If-Match: *").status, "there is none")
	require.Equal(t, 412, device(c, "PATCH", path, `{}`, `If-Match: "x"`).status)
	put := device(c, "PUT", path, `{"interests":{"go":1.5,"rust":2},"muted_items":["x"]}`)
	require.Equal(t, 200, put.status)
	_, tag := profileOf(t, c)
	require.Equal(t, tag, put.header.Get("ETag"))

	first := device(c, "PUT", path, `{"muted_authors":["a"]}`, "If-Match: "+tag)
	require.Equal(t, 200, first.status)
	require.NotEqual(t, tag, first.header.Get("ETag"))
	for _, method := range []string{"PUT", "PATCH"} {
		require.Equal(t, 412, device(c, method, path, `{"muted_authors":["b"]}`, "If-Match: "+tag).status)
	}
	p, now := profileOf(t, c)
	require.Equal(t, first.header.Get("ETag"), now)
	require.Equal(t, feed.Profile{MutedAuthors: []string{"a"}, MutedItems: []string{"x"}}, p)

	for _, match := range []string{"*", now, "W/" + now, `W/"other", W/` + now, `"other", ` + now, "W/" + strings.TrimSuffix(now, `"`) + `-gzip"`} {
		require.Equal(t, 200, device(c, "PATCH", path, `{}`, "If-Match: "+match).status, match)
	}
	for _, match := range []string{"x", `W/x`, `W/W/` + now, `"a`, ""} {
		require.Equal(t, 400, device(c, "PUT", path, `{}`, "If-Match: "+match).status, match)
	}
}

func TestPatchProfile(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	const path = "/v1/agents/u_1/profile"
	for _, step := range []struct {
		patch, want string
	}{
		{`{"interests":{"go":1.5,"rust":2},"muted_items":["x"],"keywords":["raft"]}`, `{"interests":{"go":1.5,"rust":2},"keywords":["raft"],"muted_items":["x"]}`},
		{`{"interests":{"go":null,"zig":3},"langs":["en"],"learned":[{"kind":"tag"}]}`, `{"interests":{"rust":2,"zig":3},"keywords":["raft"],"langs":["en"],"muted_items":["x"]}`},
		{`{"muted_items":null,"keywords":null}`, `{"interests":{"rust":2,"zig":3},"langs":["en"]}`},
		{`{"interests":null,"langs":[]}`, `{}`},
	} {
		got := device(c, "PATCH", path, step.patch)
		require.Equal(t, 200, got.status, "%s", got.body)
		require.JSONEq(t, `{"code":0,"msg":"success","data":`+step.want+`}`, string(got.body), step.patch)
	}
	for _, patch := range []string{`{"interest":{}}`, `{"interests":{"go":101}}`, `{"interests":[1]}`, `[]`, `null`, `{"muted_tags":[""]}`} {
		require.Equal(t, 400, device(c, "PATCH", path, patch).status, patch)
	}
	p, _ := profileOf(t, c)
	require.Equal(t, feed.Profile{}, p)
}

// TestMuteConcurrentDevices checks that concurrent changes of several devices to single values
// all take effect, and can be undone in the same way.
func TestMuteConcurrentDevices(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	const each = 10
	lists := []string{"authors", "tags", "items"}
	steps := func(method string) {
		var all sync.WaitGroup
		for _, list := range lists {
			for d := range 2 {
				all.Go(func() {
					for i := range each {
						got := device(c, method, fmt.Sprintf("/v1/agents/u_1/muted/%s/a/b%s%d-%d", list, url.PathEscape("/"), d, i), "")
						assert.Equal(t, 200, got.status, "%s", got.body)
						assert.Contains(t, string(got.body), `"changed":true`)
					}
				})
			}
		}
		all.Wait()
	}
	steps("PUT")
	p, _ := profileOf(t, c)
	for _, muted := range [][]string{p.MutedAuthors, p.MutedTags, p.MutedItems} {
		require.Len(t, muted, 2*each)
		require.Contains(t, muted, "a/b/1-9")
	}
	require.Contains(t, string(device(c, "PUT", "/v1/agents/u_1/muted/tags/a/b/1-9", "").body), `"changed":false`)
	require.Contains(t, string(device(c, "PUT", "/v1/agents/u_1/muted/tags/A/B/1-9", "").body), `"changed":false`, "a tag is one tag")
	require.Contains(t, string(device(c, "PUT", "/v1/agents/u_1/muted/tags/%20a/b/1-9%C2%A0", "").body), `"changed":false`, "blanks around it do not count")
	steps("DELETE")
	p, _ = profileOf(t, c)
	require.True(t, !p.HasMutes(), "%v", p)
	require.Equal(t, 400, device(c, "PUT", "/v1/agents/u_1/muted/tags/", "").status)
	require.Equal(t, 400, device(c, "PUT", "/v1/agents/u_1/muted/tags/"+strings.Repeat("x", 257), "").status)

	require.Equal(t, 200, device(c, "PATCH", "/v1/agents/u_1/profile", `{"muted_tags":["b","Spelt","spelt"]}`).status)
	for _, changes := range []string{"true", "false"} {
		require.Contains(t, string(device(c, "PUT", "/v1/agents/u_1/muted/tags/SPELT?until=2100-01-01T00:00:00Z", "").body), `"changed":`+changes)
	}
	p, _ = profileOf(t, c)
	require.Len(t, p.MutedUntil.Tags, 2, "no spelling stays muted for longer")

	require.Equal(t, 200, device(c, "DELETE", "/v1/agents/u_1/profile", "").status)
	require.Contains(t, string(device(c, "DELETE", "/v1/agents/u_1/muted/authors/x", "").body), `"changed":false`)
	require.Equal(t, 404, device(c, "GET", "/v1/agents/u_1/profile", "").status, "nothing to undo makes no profile")
}
