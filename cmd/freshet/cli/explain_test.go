package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

const explanationJSON = `{"agent_id":"u_1","limit":2,"variant":"control","proposed":true,"origin":"2026-03-06T12:00:00Z",
"ranking":{"decay":{"scale":"72h","offset":"1h","decay":0.5,"floor":1e-06},"popularity":{"weight":0.5},"base":0.1},
"candidates":[
 {"rank":1,"id":"doc_1","group":"doc_1","source":"memory","title":"A river in spring","age":7200,"score":3.0931,"decay":0.99987,
  "relevance":{"total":2.1,"base":0.1,"tags":[{"name":"water","score":2}]},"popularity":{"value":9,"factor":1.5},"outcome":"seen","day":"20260304"},
 {"rank":2,"id":"a/very/long:identifier_of_an_item_that_nobody_can_remember","title":"冬の朝、川はゆっくりと流れる。そして春が来る前に","age":90000,"score":1e-7,"decay":1e-6,
  "relevance":{"total":0.1,"base":0.1},"popularity":{"value":0,"factor":1},"outcome":"paged"},
 {"rank":3,"id":"x","title":"evil \u001b[31mred\u202e","age":-5,"score":0.1,"decay":1,"outcome":"pending"},
 {"rank":4,"id":"y","title":"Y","age":5,"score":0.09,"decay":1,"outcome":"paged","variety":{"place":2,"page":1,"source":"explore","factor":1}},
 {"rank":5,"id":"z","title":"Z","age":5,"score":0.08,"decay":1,"outcome":"kept"}],
"counts":{"rounds":1,"recalled":5,"seen":1,"pending":1,"paged":2,"kept":1},
"times_ms":{"profile":0.04,"recall":1.26,"dedup":0.3,"hydrate":0.2,"factors":0.5,"total":2.4},"degraded":["dedup"]%ITEM%}`

func explanation(t *testing.T, item string) client.Explanation {
	t.Helper()
	var x client.Explanation
	require.NoError(t, json.Unmarshal([]byte(strings.Replace(explanationJSON, "%ITEM%", item, 1)), &x))
	return x
}

func assertGolden(t *testing.T, name, got string) {
	t.Helper()
	assert.NotContains(t, got, "\x1b")
	golden := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestWriteExplanation(t *testing.T) {
	x := explanation(t, "")
	for name, tt := range map[string]struct {
		all   bool
		width int
	}{"page": {false, 0}, "all": {true, 0}, "narrow": {false, 100}} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, cli.WriteExplanation(&out, x, tt.all, tt.width))
			assertGolden(t, "explain-"+name+".txt", out.String())
			table, _, _ := strings.Cut(out.String(), "recalled=")
			for _, line := range strings.Split(table, "\n") {
				assert.True(t, tt.width == 0 || uniseg.StringWidth(line) <= tt.width, line)
			}
		})
	}
	t.Run("of somebody who has seen much", func(t *testing.T) {
		x := explanation(t, `,"unlisted":899,"out_of_time":true`)
		var out strings.Builder
		require.NoError(t, cli.WriteExplanation(&out, x, false, 80))
		assert.Contains(t, out.String(), ", kept=1, not listed=899, out of time, degraded=dedup\n")
	})
	t.Run("what comes again", func(t *testing.T) {
		x := explanation(t, "")
		x.Candidates[0].Outcome, x.Candidates[0].ShownBefore = "paged", true
		var out strings.Builder
		require.NoError(t, cli.WriteExplanation(&out, x, false, 0))
		assert.Regexp(t, `(?m)^ *1  paged, seen 20260304 `, out.String())
	})
	t.Run("nothing", func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, cli.WriteExplanation(&out, client.Explanation{}, false, 80))
		assert.True(t, strings.HasPrefix(out.String(), "recalled=0"), out.String())
	})
}

func TestWriteExplainedItem(t *testing.T) {
	for name, item := range map[string]string{
		"candidate": `,"item":{"rank":1,"id":"doc_1","title":"A river in spring","age":7200,"score":3.0931,"decay":0.99987,
			"relevance":{"total":3.6,"base":0.1,"tags":[{"name":"water","score":2}],"keywords":[{"name":"river bank","score":1.5,"in":"title"}]},
			"popularity":{"value":9,"factor":1.5},"outcome":"seen","day":"20260304","reason":"It ranks 1 of 5, but \u001b[31mseen."}`,
		"learned": `,"item":{"rank":1,"id":"doc_1","title":"A river in spring","age":7200,"score":0.174,"decay":0.99987,
			"relevance":{"total":0.11625,"base":0.1,"learned":[{"kind":"tag","value":"go","score":0.05,"clicks":6,"likes":1},{"kind":"author","value":"ann","factor":0.775,"dislikes":2,"hides":1}]},
			"popularity":{"value":9,"factor":1.5},"outcome":"paged","reason":"It ranks 1 of 5."}`,
		"unknown": `,"item":{"rank":0,"id":"doc_2","outcome":"unknown","reason":"There is no item with this id."}`,
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, cli.WriteExplainedItem(&out, explanation(t, item)))
			assertGolden(t, "explain-item-"+name+".txt", out.String())
		})
	}
}

const homeJSON = `{"agent_id":"u_1","feed":"home","limit":2,"variant":"control","origin":"2026-03-06T12:00:00Z","ranking":{"base":0.1},
"candidates":[
 {"rank":1,"id":"post:1","source":"following","title":"Rain at last","age":7200,"score":1.92,"decay":0.96,"base":1,"affinity":{"n":5,"factor":1.25},
  "popularity":{"value":3,"factor":1.6},"outcome":"paged","variety":{"place":1,"page":1,"source":"following","right":"following","factor":1}},
 {"rank":2,"id":"post:2","source":"following","title":"Seen","age":7200,"score":1,"decay":0.96,"base":1,"affinity":{"n":0,"factor":1},
  "popularity":{"value":0,"factor":1},"outcome":"seen","day":"20260304"},
 {"rank":1,"id":"article-2026-0001","source":"discovery","title":"A river","age":60,"score":3,"decay":1,"relevance":{"total":3,"base":0.1},
  "popularity":{"value":0,"factor":1},"outcome":"paged","variety":{"place":2,"page":1,"source":"discovery","right":"trending","factor":1}}],
"counts":{"rounds":1,"recalled":3,"seen":1,"paged":2},"times_ms":{}%ITEM%}`

func TestWriteExplanationOfHome(t *testing.T) {
	write := func(item string, all bool, width int) string {
		var x client.Explanation
		require.NoError(t, json.Unmarshal([]byte(strings.Replace(homeJSON, "%ITEM%", item, 1)), &x))
		var out strings.Builder
		if item != "" {
			require.NoError(t, cli.WriteExplainedItem(&out, x))
		} else {
			require.NoError(t, cli.WriteExplanation(&out, x, all, width))
		}
		return out.String()
	}
	assertGolden(t, "explain-home.txt", write("", false, 0))
	assertGolden(t, "explain-home-all.txt", write("", true, 0))
	assertGolden(t, "explain-home-narrow.txt", write("", true, 80))
	assertGolden(t, "explain-home-item.txt", write(`,"item":{"rank":1,"id":"post:1","source":"following","title":"Rain at last","age":7200,"score":1.92,"decay":0.96,
"base":1,"affinity":{"n":5,"factor":1.25},"popularity":{"value":3,"factor":1.6},"outcome":"paged","reason":"It ranks 1 in following."}`, false, 0))
}
