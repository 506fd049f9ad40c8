package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/demo"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

const tunedAt = "2026-03-06T12:00:00Z"

// startTuned runs a server with a catalog that depends only on a seed and a fixed time.
func startTuned(t *testing.T) *process {
	t.Helper()
	now, err := time.Parse(time.RFC3339, tunedAt)
	require.NoError(t, err)
	p := start(t, map[string]string{"DATA_DIR": t.TempDir(), "RANKING": "curves=single"})
	var body bytes.Buffer
	for _, it := range demo.Generate(7, 1500, now) {
		line, err := json.Marshal(it)
		require.NoError(t, err)
		body.Write(append(line, '\n'))
	}
	var report struct{ Accepted int }
	require.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/items", "", body.String(), &report))
	require.Equal(t, 1500, report.Accepted)
	c, err := client.New(p.url, client.WithToken(adminToken))
	require.NoError(t, err)
	defer c.Close()
	for agent, profile := range demo.Profiles() {
		_, err := c.PutProfile(t.Context(), agent, profile)
		require.NoError(t, err)
	}
	return p
}

// tune runs a ranking command against the server.
func (p *process) tune(t *testing.T, in string, args ...string) result {
	t.Helper()
	return freshet(t, in, append(append([]string{"ranking"}, args...), "--server", p.url, "--token", adminToken)...)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *updateGolden {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run the test with -update if this is meant")
}

// TestRankingAnalyses runs the three commands against a real server: their output depends only on
// the catalog and the time.
func TestRankingAnalyses(t *testing.T) {
	t.Parallel()
	p := startTuned(t)
	t.Run("compare", func(t *testing.T) {
		got := p.tune(t, "", "compare", "--b", "scale=72h,offset=2h", "--at", tunedAt)
		require.Equal(t, exitOK, got.code, got.errs)
		golden(t, "ranking-compare.txt", got.out)
		assert.Contains(t, got.out, "8 agents")

		same := p.tune(t, "", "compare", "--at", tunedAt)
		assert.Contains(t, same.out, "B changes nothing")

		swapped := p.tune(t, "", "compare", "--a", "scale=72h,offset=2h", "--at", tunedAt, "--agents", "u_1,u_2")
		assert.Contains(t, swapped.out, "A  default, but scale=72h,offset=2h,")
		assert.Contains(t, swapped.out, "younger: ")

		file := write(t, "agents", "u_2\nu_1\n")
		fromFile := p.tune(t, "", "compare", "--a", "scale=72h,offset=2h", "--at", tunedAt, "--agents-file", file)
		assert.Equal(t, swapped.out, fromFile.out, "the figures do not depend on the order of the agents")
	})
	t.Run("compare as JSON, in batches", func(t *testing.T) {
		var agents []string
		for i := range 2*offline.MaxAgents + 1 {
			agents = append(agents, fmt.Sprintf("u_%d", i+1))
		}
		got := p.tune(t, strings.Join(agents, "\n"), "compare", "--b", "scale=72h", "--agents-file", "-", "--json")
		require.Equal(t, exitOK, got.code, got.errs)
		var c offline.Comparison
		require.NoError(t, json.Unmarshal([]byte(got.out), &c))
		var order []string
		for _, a := range c.PerAgent {
			order = append(order, a.Agent)
		}
		assert.Equal(t, agents, order)
		assert.Equal(t, len(agents), c.Figures.Agents)
		assert.Equal(t, 7, c.Figures.CoverageA.N)
	})
	t.Run("sweep", func(t *testing.T) {
		svg := filepath.Join(t.TempDir(), "scale.svg")
		got := p.tune(t, "", "sweep", "--scale", "6h..168h", "--steps", "5", "--at", tunedAt, "--svg", svg)
		require.Equal(t, exitOK, got.code, got.errs)
		golden(t, "ranking-sweep.txt", got.out)
		assert.Empty(t, got.errs, "no bar where nobody watches")
		drawn, err := os.ReadFile(svg)
		require.NoError(t, err)
		golden(t, "ranking-sweep.svg", string(drawn))
		wellFormed(t, drawn)
		for _, want := range []string{"overlap@20", "share of items that are new", "median age, hours", "6h", "168h"} {
			assert.Contains(t, string(drawn), ">"+want+"<")
		}
		left, err := os.ReadDir(filepath.Dir(svg))
		require.NoError(t, err)
		assert.Len(t, left, 1, "nothing but the drawing is left")
	})
	t.Run("sweep of two", func(t *testing.T) {
		svg := filepath.Join(t.TempDir(), "two.svg")
		got := p.tune(t, "", "sweep", "--scale", "12h,48h", "--offset", "0h,6h,12h", "--weight", "0.1", "--at", tunedAt, "--svg", svg, "--json")
		require.Equal(t, exitOK, got.code, got.errs)
		var s evaluation.Sweep
		require.NoError(t, json.Unmarshal([]byte(got.out), &s))
		var changes []string
		for _, point := range s.Points {
			changes = append(changes, point.Changes)
			assert.Equal(t, 0.1, point.Ranking.PopularityWeight)
		}
		assert.Equal(t, []string{
			"scale=12h,offset=0s,weight=0.1", "scale=48h,offset=0s,weight=0.1", "scale=12h,offset=6h,weight=0.1",
			"scale=48h,offset=6h,weight=0.1", "scale=12h,offset=12h,weight=0.1", "scale=48h,offset=12h,weight=0.1",
		}, changes)
		drawn, err := os.ReadFile(svg)
		require.NoError(t, err)
		wellFormed(t, drawn)
		assert.Equal(t, 9, strings.Count(string(drawn), "<polyline "), "three figures, a line for each offset")
		assert.Contains(t, string(drawn), ">offset=6h<")
	})
	t.Run("sweep into standard output", func(t *testing.T) {
		got := p.tune(t, "", "sweep", "--scale", "6h..168h", "--steps", "5", "--at", tunedAt, "--svg", "-")
		require.Equal(t, exitOK, got.code, got.errs)
		golden(t, "ranking-sweep.svg", got.out)
	})
	t.Run("busy server", func(t *testing.T) {
		want := p.tune(t, "", "compare", "--b", "scale=72h", "--at", tunedAt)
		sweep := []string{"sweep", "--scale", "6h,12h", "--at", tunedAt}
		wantSweep := p.tune(t, "", sweep...)
		var calls atomic.Int32
		proxy := testenv.Forward(t, p.url, nil)
		busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1)%2 == 1 {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, `{"code":50301,"msg":"too many requests in flight","data":null}`)
				return
			}
			proxy.ServeHTTP(w, r)
		}))
		defer busy.Close()
		through := &process{url: busy.URL}
		assert.Equal(t, want, through.tune(t, "", "compare", "--b", "scale=72h", "--at", tunedAt))
		assert.Equal(t, wantSweep, through.tune(t, "", sweep...))
	})
	t.Run("sweep into nowhere", func(t *testing.T) {
		got := p.tune(t, "", "sweep", "--scale", "6h,12h", "--svg", filepath.Join(t.TempDir(), "no", "such.svg"))
		assert.Equal(t, exitError, got.code)
		assert.Empty(t, got.out, "it says so before the work")
	})
	t.Run("replay", func(t *testing.T) { testReplay(t, p) })
	t.Run("token", func(t *testing.T) {
		got := freshet(t, "", "ranking", "compare", "--server", p.url, "--token", "wrong")
		assert.Equal(t, exitError, got.code)
		assert.Contains(t, got.errs, "40101")
	})
}

func testReplay(t *testing.T, p *process) {
	compared := p.tune(t, "", "compare", "--b", "scale=96h", "--at", tunedAt, "--k", "1", "--json")
	var c offline.Comparison
	require.NoError(t, json.Unmarshal([]byte(compared.out), &c))
	at, _ := time.Parse(time.RFC3339, tunedAt)
	var events strings.Builder
	events.WriteString("\ufeff")
	cl, err := client.New(p.url, client.WithToken(adminToken))
	require.NoError(t, err)
	defer cl.Close()
	for i := range 60 { // more than fit in one call with eight rankings
		agent := fmt.Sprintf("u_%d", i%8+1)
		moment := at.Add(-time.Duration(i) * time.Hour)
		lists, err := cl.Compare(t.Context(), client.CompareRequest{B: "scale=96h", Agents: []string{agent}, At: &moment, Lists: true, K: 9})
		require.NoError(t, err)
		clicked := lists.Lists.B[i*i%9].ID
		if i%2 == 0 {
			fmt.Fprintf(&events, `{"agent_id":%q,"id":%q,"at":%q,"type":"click","page":3}`+"\n", agent, clicked, moment.Format(time.RFC3339))
		} else {
			fmt.Fprintf(&events, `{"agent_id":%q,"id":%q,"at":%d.0,"type":"click"}`+"\n\n", agent, clicked, moment.Unix())
		}
	}
	good := events.String()
	got := p.tune(t, good, "replay", "-", "--b", "scale=96h")
	require.Equal(t, exitOK, got.code, got.errs)
	golden(t, "ranking-replay.txt", got.out)
	assert.Contains(t, got.out, "60 clicks of 8 agents")
	assert.Contains(t, got.out, "B ranks the clicked items higher")

	mixed := good + `{"agent_id":"u_1","id":"doc_1","at":1,"type":"like"}
{"agent_id":"u_1","id":"doc_1","at":1,"type":"click"}
{"agent_id":"u_1","id":"nothing","at":1772798400,"type":"click"}
not JSON
{"agent_id":"u:1","id":"doc_1","at":1772798400,"type":"click"}
{"agent_id":"u_1","id":"doc_1","type":"click"}
{"agent_id":"u_1","id":"doc_1","at":"noon","type":"click"}
{"agent_id":"u_1","id":"doc_1","at":1772798400}
{"agent_id":"u_1","id":"` + strings.Repeat("x", 64<<10) + `","at":1772798400,"type":"click"}
{"agent_id":"u_1","id":"doc_1","at":1,"type":"like"}`
	first := strings.Count(good, "\n") + 4
	got = p.tune(t, mixed, "replay", "-", "--sweep", "scale=6h..168h", "--steps", "7", "--k", "5")
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "lines that could not be read: 6")
	for _, want := range []string{
		"60 clicks of 8 agents", "has the best NDCG", `skipped: 2 events of type "like"`,
		"not scored: 1 click on items that are no longer in the catalog", "not scored: 1 click on items whose date in the catalog is after",
		fmt.Sprintf("line %d: it is not a JSON object", first), fmt.Sprintf("line %d: bad id: agent_id", first+1),
		fmt.Sprintf("line %d: at is missing", first+2), fmt.Sprintf("line %d: at must be a time", first+3),
		fmt.Sprintf("line %d: type is missing", first+4), fmt.Sprintf("line %d: it is longer than 64 KiB", first+5),
		"Limits of a replay",
	} {
		assert.Contains(t, got.out, want)
	}
	asJSON := p.tune(t, mixed, "replay", "-", "--json", "--allow-rejected")
	require.Equal(t, exitOK, asJSON.code, asJSON.errs)
	var report evaluation.Replay
	require.NoError(t, json.Unmarshal([]byte(asJSON.out), &report))
	assert.Equal(t, []int{60, 6, 2}, []int{report.Clicks, report.Rejected, report.Skipped["like"]})
	assert.Equal(t, map[offline.ClickState]int{offline.Gone: 1, offline.Later: 1}, report.NotScored)

	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	_, err = zw.Write([]byte(good))
	require.NoError(t, errors.Join(err, zw.Close()))
	got = p.tune(t, "", "replay", write(t, "good.ndjson.gz", packed.String()), "--b", "scale=96h")
	require.Equal(t, exitOK, got.code, got.errs)
	golden(t, "ranking-replay.txt", got.out)

	assert.Contains(t, p.tune(t, mixed[strings.LastIndex(mixed, "\n"):], "replay", "-").out, "There are no clicks to score.")
	assert.Contains(t, p.tune(t, "agent_id,id,at\nu_1,doc_1,1\n", "replay", "-").errs, "it is a table")
	assert.Contains(t, p.tune(t, strings.Split(good, "\n")[0], "replay", "-", "--b", "scale=1h").out, "Too few agents")
}

func wellFormed(t *testing.T, doc []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(doc)); ; {
		if _, err := dec.Token(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			return
		}
	}
}

func TestStudyUsageErrors(t *testing.T) {
	nobody := write(t, "nobody", " \n")
	empty := write(t, "empty", "\n \n")
	twice := write(t, "twice", "u_1\nu_2\nu_1\n")
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"compare", "now"}, `unknown command "now"`},
		{[]string{"compare", "--b", "scael=1h"}, `--b: bad ranking parameters: unknown parameter "scael"`},
		{[]string{"compare", "--a", "scale=0s"}, "--a: bad ranking parameters: decay.scale must be at least 1s"},
		{[]string{"compare", "--k", "0"}, "--k must be 1 to 100"},
		{[]string{"compare", "--sample", "201"}, "name them in --agents-file"},
		{[]string{"compare", "--sample", "3", "--agents", "u_1"}, "give one of --agents, --agents-file and --sample"},
		{[]string{"compare", "--agents", "u_1,u:2"}, "--agents, entry 2: bad id"},
		{[]string{"compare", "--agents-file", nobody}, "contains no agents"},
		{[]string{"compare", "--agents-file", twice}, "contains u_1 twice"},
		{[]string{"compare", "--agents-file", "no-such-file"}, "no such file"},
		{[]string{"compare", "--at", "noon"}, "--at must be a time"},
		{[]string{"compare", "--server", "localhost"}, "the server must be a URL"},
		{[]string{"sweep"}, "name a parameter to sweep"},
		{[]string{"sweep", "--scale", "24h"}, "name a parameter to sweep"},
		{[]string{"sweep", "--scale", "24h..6h"}, "the first value must be the smaller one"},
		{[]string{"sweep", "--scale", "6h..x"}, "must be a duration"},
		{[]string{"sweep", "--scale", "6h..24h", "--steps", "1"}, "--steps must be 2 to 100"},
		{[]string{"sweep", "--scale", "6h..24h", "--steps", "101"}, "not 101"},
		{[]string{"sweep", "--scale", "1h..999h", "--offset", "0h..9h", "--steps", "20"}, "at most 100"},
		{[]string{"sweep", "--scale", "1h,2h", "--offset", "1h,2h", "--weight", "1,2"}, "not three"},
		{[]string{"sweep", "--weight", "-1..1"}, "popularity.weight must be 0 to 1000"},
		{[]string{"sweep", "--scale", "6h..24h", "--svg", "-", "--json"}, "give --svg a file"},
		{[]string{"replay", empty}, empty + " is empty"},
		{[]string{"replay"}, "give one file of events"},
		{[]string{"replay", "x", "--b", "scale=1h", "--sweep", "scale=1h,2h"}, "--b or --sweep, not both"},
		{[]string{"replay", "x", "--sweep", "6h..24h"}, "give a parameter and its values"},
		{[]string{"replay", "x", "--sweep", "scale=1h..99h", "--steps", "60"}, "at most 39 are allowed"},
		{[]string{"replay", "x", "--k", "600"}, "--k must be 1 to the depth, 500"},
		{[]string{"replay", "x", "--depth", "0"}, "--depth must be 1 to 2000"},
		{[]string{"replay", "x", "--a", "decay=2"}, "--a: "},
	} {
		got := freshet(t, "", append([]string{"ranking"}, tt.args...)...)
		assert.Equal(t, exitUsage, got.code, "%v: %s", tt.args, got.errs)
		assert.Contains(t, got.errs, tt.says, "%v", tt.args)
		assert.Empty(t, got.out, "%v", tt.args)
	}
	missing := freshet(t, "", "ranking", "replay", "no-such-file")
	assert.Equal(t, exitError, missing.code)
	assert.Contains(t, missing.errs, "no such file")
}
