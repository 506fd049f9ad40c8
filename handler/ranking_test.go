package handler

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/ranking"
	rankingsqlite "github.com/freshet/freshet/ranking/sqlite"
)

// rankingFixture returns a handler over a live ranking stored in a real file.
func rankingFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, func(_ *Config, d *Deps) { d.Rankings = newRankings(t) })
}

func newRankings(t *testing.T) Rankings {
	t.Helper()
	store, err := sqlitefile.Catalog.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	configured := feed.Ranking{Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1, KeywordsSummary: 0.5}
	live, err := ranking.Open(t.Context(), rankingsqlite.New(store), ranking.Config{
		Clock: func() time.Time { return time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC) }, Configured: configured,
	})
	require.NoError(t, err)
	return live
}

const configuredJSON = `{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":1e-06},"popularity":{"weight":0,"weight_2h":0,"weight_2d":0,"weight_1h":0,"weight_6h":0,"weight_1d":0,"weight_7d":0},"base":0.1,"keywords":{"summary":0.5},` + theRest + `}`

// theRest is the JSON of the parameters that [newRankings] leaves at zero.
const theRest = `"co_read":{"weight":0,"scale":0.1},"diversity":{"author":{"decay":1,"floor":0},"site":{"decay":1,"floor":0},"tag":{"decay":1,"floor":0},"same_story":0},"explore":{"share":0},` +
	`"learned":{"tags":0,"author":0,"lang":0,"words":0,"negative":0,"half_life":"720h"},"home":{"decay":0.02,"following":1,"trending":0.6,"promoted":0.8,"affinity":0.5,"affinity_days":30}`

func scaled(scale string) string {
	return strings.Replace(configuredJSON, `"24h"`, `"`+scale+`"`, 1)
}

func TestRankingReadChangeRevert(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	got := f.do(t, "GET", "/v1/ranking", "", asAdmin)
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, `"0"`, got.header.Get("ETag"))
	require.JSONEq(t, `{"version":0,"by":"configuration","why":"in force while nothing is stored","ranking":`+configuredJSON+`,"experiments":[]}`, string(got.Data))

	got = f.do(t, "PUT", "/v1/ranking", `{"ranking":{"decay":{"scale":"48h"}},"by":"ana","why":"a try"}`, asAdmin, `If-Match: "0"`)
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, `"1"`, got.header.Get("ETag"))
	first := `{"version":1,"at":"2026-03-06T12:00:00Z","by":"ana","why":"a try","ranking":` + scaled("48h") + `,"experiments":[]}`
	require.JSONEq(t, first, string(got.Data))

	got = f.do(t, "PUT", "/v1/ranking", `{"experiments":[{"name":"slow","share":0.1,"ranking":{"decay":{"scale":"72h"}}}]}`, asAdmin)
	require.Equal(t, 200, got.status, got.body)
	second := `{"version":2,"at":"2026-03-06T12:00:00Z","by":"admin","why":"","ranking":` + scaled("48h") +
		`,"experiments":[{"name":"slow","share":0.1,"ranking":` + scaled("72h") + `}]}`
	require.JSONEq(t, second, string(got.Data))
	require.JSONEq(t, second, string(f.do(t, "GET", "/v1/ranking", "", asAdmin).Data))

	got = f.do(t, "POST", "/v1/ranking/revert", `{"version":1}`, asAdmin, `If-Match: "2"`)
	require.Equal(t, 200, got.status, got.body)
	third := strings.NewReplacer(`"version":1`, `"version":3`, `"ana"`, `"admin"`, `"a try"`, `"reverted to version 1"`).Replace(first)
	require.JSONEq(t, third, string(got.Data))

	got = f.do(t, "GET", "/v1/ranking/history?limit=3", "", asAdmin)
	require.JSONEq(t, `{"versions":[`+third+`,`+second+`,`+first+`]}`, string(got.Data))
	got = f.do(t, "GET", "/v1/ranking/history", "", asAdmin)
	var history api.RankingHistory
	require.NoError(t, json.Unmarshal(got.Data, &history))
	require.Len(t, history.Versions, 4, "the configuration's comes last")
}

func TestRankingCurves(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	const curves = `[{"shape":"exp","scale":"12m","offset":"0s","decay":0.5,"weight":0.6},{"shape":"constant","weight":0.02}]`
	got := f.do(t, "PUT", "/v1/ranking", `{"ranking":{"decay":{"curves":[{"shape":"exp","scale":"12m","weight":0.6},{"shape":"constant","weight":0.02}]}}}`, asAdmin)
	require.Equal(t, 200, got.status, got.body)
	require.JSONEq(t, `{"version":1,"at":"2026-03-06T12:00:00Z","by":"admin","why":"","ranking":`+
		`{"decay":{"curves":`+curves+`,"floor":1e-06},"popularity":{"weight":0,"weight_2h":0,"weight_2d":0,"weight_1h":0,"weight_6h":0,"weight_1d":0,"weight_7d":0},"base":0.1,"keywords":{"summary":0.5},`+theRest+`},"experiments":[]}`, string(got.Data), "nothing to note")

	type answer struct {
		Ranking feed.Ranking
		Notes   []string
	}
	for body, notes := range map[string][]string{
		`{"ranking":{"popularity":{"weight":1}}}`:                                        nil,
		`{"ranking":{"decay":{"curves":"two"}}}`:                                         nil,
		`{"experiments":[{"name":"a","share":0.1}]}`:                                     nil,
		`{"experiments":[{"name":"b","share":0.1,"ranking":{"decay":{"offset":"2h"}}}]}`: {"experiment b: one Gaussian, with scale, offset and decay, replaces 2 curves"},
		`{"ranking":{"decay":{"scale":"48h"}}}`:                                          {"ranking: one Gaussian, with scale, offset and decay, replaces 2 curves"},
	} {
		got := f.do(t, "PUT", "/v1/ranking", body, asAdmin)
		require.Equal(t, 200, got.status, got.body)
		var a answer
		require.NoError(t, json.Unmarshal(got.Data, &a))
		require.Equal(t, notes, a.Notes, body)
		got = f.do(t, "POST", "/v1/ranking/revert", `{"version":1}`, asAdmin)
		require.Equal(t, 200, got.status, got.body)
		require.NotContains(t, string(got.Data), "notes")
	}
}

func TestRankingETags(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	require.Equal(t, 200, f.do(t, "GET", "/v1/ranking", "", asAdmin, `If-None-Match: "0"`).status,
		"what version 0 says follows from each configuration")
	require.Equal(t, 200, f.do(t, "PUT", "/v1/ranking", `{"ranking":{"base":1}}`, asAdmin).status)
	for tag, status := range map[string]int{
		`"1"`: 304, `W/"1"`: 304, `"7", "1"`: 304, `*`: 304, `"0"`: 200, `1`: 200, ``: 200,
	} {
		r := httptest.NewRequest(http.MethodGet, "/v1/ranking", nil)
		r.Header.Set("X-Admin-Token", adminToken)
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		require.Equal(t, status, w.Code, tag)
		require.Equal(t, `"1"`, w.Header().Get("ETag"))
		require.Equal(t, status == 304, w.Body.Len() == 0)
	}
	for tag, status := range map[string]int{`"0"`: 412, `"2"`: 412, `1`: 400, `"1`: 400, `"x"`: 400, `"+1"`: 400, `"-1"`: 400, `W/"0"`: 412, `W/1`: 400, `"1", "2"`: 400} {
		got := f.do(t, "PUT", "/v1/ranking", `{"ranking":{"base":2}}`, asAdmin, "If-Match: "+tag)
		require.Equal(t, status, got.status, tag)
		got = f.do(t, "POST", "/v1/ranking/revert", `{"version":0}`, asAdmin, "If-Match: "+tag)
		require.Equal(t, status, got.status, tag)
	}
	got := f.do(t, "PUT", "/v1/ranking", `{"ranking":{"base":2}}`, asAdmin, `If-Match: "0"`)
	require.Equal(t, 41201, got.Code)
	require.Contains(t, got.Msg, "version 1 is in force, not 0")
	require.Equal(t, `"1"`, f.do(t, "GET", "/v1/ranking", "", asAdmin).header.Get("ETag"), "nothing was changed")
	require.Equal(t, 200, f.do(t, "PUT", "/v1/ranking", `{"ranking":{"base":2}}`, asAdmin, `If-Match: W/"1"`).status, "nginx makes a tag weak when it compresses")
	require.Equal(t, 200, f.do(t, "PUT", "/v1/ranking", `{"ranking":{"base":2}}`, asAdmin, `If-Match: *`).status)
}

func TestRankingRefuses(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	experiments := strings.Repeat(`{"name":"a","share":0},`, feed.MaxVariants)
	for _, c := range []struct {
		body, says string
		code       int
	}{
		{``, "the JSON is empty", 40001},
		{`[]`, "must be an object", 40001},
		{`{}`, "nothing to change", 40001},
		{`{"by":"ana"}`, "nothing to change", 40001},
		{`{"ranking":{ }}`, "nothing to change", 40001},
		{`{"ranking":{"decay":{}}}`, "nothing to change", 40001},
		{`{"ranking":{"decay":{"scale":null},"popularity":{},"base":null}}`, "nothing to change", 40001},
		{`{"ranking":{"base":1e400}}`, "base", 40001},
		{`{"experiments":[{"name":"a","share":0.1,"ranking":{"base":1e400}}]}`, "base", 40001},
		{`{"ranking":{"speed":{}}}`, `unknown field \"speed\"`, 40001},
		{`{"rankings":{}}`, `unknown field "rankings"; known are ranking, experiments, by, why`, 40001},
		{`{"ranking":{},"ranking":{}}`, `duplicate field "ranking"`, 40001},
		{`{"ranking":null}`, "nothing to change", 40001},
		{`{"ranking":"scale=1h"}`, "ranking must be an object", 40001},
		{`{"ranking":{"scale":"48h"}}`, `unknown field \"scale\"`, 40001},
		{`{"ranking":{"decay":{"curves":"three"}}}`, "name of a preset, single or two", 40001},
		{`{"ranking":{"decay":{"curves":[{"shape":"exp","scale":"1h"},{"shape":"gauss","scale":"0s"}]}}}`, "decay.curves[1].scale must be at least 1s", 40001},
		{`{"ranking":{"decay":{"curves":"two","scale":"1h"}}}`, "set one or the other", 40001},
		{`{"ranking":{"decay":{"scale":"two days"}}}`, "decay.scale must be a duration", 40001},
		{`{"ranking":{"decay":{"decay":1}}}`, "decay.decay must be between 0 and 1", 40001},
		{`{"ranking":{"popularity":{"weight":-1}}}`, "popularity.weight must be", 40001},
		{`{"ranking":{"base":0}}`, "base must be greater than 0", 40001},
		{`{"ranking":{"base":1},"by":7}`, "by must be a string", 40001},
		{`{"ranking":{"base":1},"why":"` + strings.Repeat("x", 501) + `"}`, "why must have at most 500", 40001},
		{`{"ranking":{"base":1},"by":"a\nb"}`, "control character", 40001},
		{`{"experiments":null}`, "nothing to change", 40001},
		{`{"experiments":{}}`, "experiments must be an array, not an object", 40001},
		{`{"experiments":[7]}`, "experiments[0] must be an object, not a number", 40001},
		{`{"experiments":[{"name":"a"}]}`, "share must be a number", 40001},
		{`{"experiments":[{"name":"a","share":"10%"}]}`, "experiments[0].share must be a number, not a string", 40001},
		{`{"experiments":[{"name":"a","share":null}]}`, "share must be a number", 40001},
		{`{"experiments":[{"share":0.1}]}`, "must have 1 to 32 characters", 40001},
		{`{"experiments":[{"name":"A","share":0.1}]}`, "a-z 0-9 _ -", 40001},
		{`{"experiments":[{"name":"control","share":0.1}]}`, "cannot be named control", 40001},
		{`{"experiments":[{"name":"a","share":0.1,"parts":[]}]}`, `unknown field "parts"`, 40001},
		{`{"experiments":[{"name":"a","share":0.1},{"name":"a","share":0.1}]}`, "two experiments are named a", 40001},
		{`{"experiments":[{"name":"a","share":0.6},{"name":"b","share":0.6}]}`, "shares must be at most 1", 40001},
		{`{"experiments":[{"name":"a","share":0.1,"ranking":{"base":-1}}]}`, `experiment "a": bad ranking parameters: base`, 40001},
		{`{"experiments":[` + experiments + `{"name":"a","share":0}]}`, "at most 50", 40001},
		{`{"ranking":{"base":1},"why":"` + strings.Repeat("x", MaxRankingBody) + `"}`, "larger than 64 KiB", 41301},
	} {
		got := f.do(t, "PUT", "/v1/ranking", c.body, asAdmin)
		require.Equal(t, c.code, got.Code, "%.80s: %s", c.body, got.body)
		require.Contains(t, got.Msg, strings.ReplaceAll(c.says, `\"`, `"`), "%.80s", c.body)
	}
	for body, says := range map[string]string{
		`{}`: "version must be", `{"version":"1"}`: "version must be", `{"version":-1}`: "version must be",
		`{"version":1.5}`: "version must be", `{"version":null}`: "version must be", `{"version":0,"ranking":{}}`: "unknown field",
	} {
		got := f.do(t, "POST", "/v1/ranking/revert", body, asAdmin)
		require.Equal(t, 40001, got.Code, body)
		require.Contains(t, got.Msg, says, body)
	}
	require.Equal(t, 40401, f.do(t, "POST", "/v1/ranking/revert", `{"version":1}`, asAdmin).Code)
	for _, limit := range []string{"0", "101", "x", ""} {
		require.Equal(t, 40003, f.do(t, "GET", "/v1/ranking/history?limit="+limit, "", asAdmin).Code, limit)
	}
	require.Equal(t, `"0"`, f.do(t, "GET", "/v1/ranking", "", asAdmin).header.Get("ETag"), "the old one stays")
}

func TestRankingNeedsAdmin(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	for route, body := range map[string]string{
		"GET /v1/ranking": "", "PUT /v1/ranking": `{"ranking":{"base":1}}`, "GET /v1/ranking/history": "", "POST /v1/ranking/revert": `{"version":0}`,
	} {
		method, path, _ := strings.Cut(route, " ")
		require.Equal(t, http.StatusUnauthorized, f.do(t, method, path, body).status, route)
		require.Equal(t, http.StatusForbidden, f.do(t, method, path, body, "X-Agent-ID: u_1").status, route)
		require.Equal(t, http.StatusUnauthorized, f.do(t, method, path, body, "X-Admin-Token: wrong").status, route)
	}
	require.Equal(t, `"0"`, f.do(t, "GET", "/v1/ranking", "", asAdmin).header.Get("ETag"))
	require.NotContains(t, f.log.String(), adminToken)
}

// TestRankingLimits: limits stay when a change does not name them, are removed by none, and a limit of 0
// is refused, since it was meant to be something.
func TestRankingLimits(t *testing.T) {
	t.Parallel()
	f := rankingFixture(t)
	put := func(limits string) (got string) {
		res := f.do(t, "PUT", "/v1/ranking", `{"experiments":[{"name":"a","share":0.1`+limits+`}]}`, asAdmin)
		require.Equal(t, 200, res.status, res.body)
		var v api.RankingVersion
		require.NoError(t, json.Unmarshal(res.Data, &v))
		return v.Experiments[0].Limits.String()
	}
	require.Equal(t, "rejects=10%,latency=50%", put(`,"limits":{"rejects":0.1,"latency":0.5}`))
	require.Equal(t, "rejects=10%,latency=50%", put(""))
	require.Equal(t, "rejects=10%,latency=50%", put(`,"limits":null`))
	require.Equal(t, "short=20%", put(`,"limits":{"short":0.2}`), "they are replaced as a whole")
	require.Empty(t, put(`,"limits":{"none":true}`))
	for _, bad := range []string{`{"rejects":0}`, `{"rejects":-1}`, `{"short":11}`, `{"latency":"1"}`, `{"joy":1}`, `{"none":true,"short":0.1}`, `3`} {
		res := f.do(t, "PUT", "/v1/ranking", `{"experiments":[{"name":"a","share":0.1,"limits":`+bad+`}]}`, asAdmin)
		require.Equal(t, 40001, res.Code, "%s: %s", bad, res.body)
	}
}
