package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
)

// followers generates items and clicks of 24 days: with follow, readers open what others have opened
// within the last two days, whatever its age; otherwise anything.
func followers(follow bool) (items, clicks string) {
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Now().Add(-25 * 24 * time.Hour).Unix()
	const hours = 24 * 24
	var list, acts strings.Builder
	var times []int64
	opened := map[int][]int64{}
	read := map[[2]int]bool{}
	for h := range hours {
		at := begin + int64(h)*3600
		if h%2 == 0 { // more than a page of a server's items in all
			fmt.Fprintf(&list, `{"id":"i%d","title":"number %d","update_time":%d}`+"\n", len(times), len(times), at)
			times = append(times, at)
		}
		for k := range 2 {
			now, reader := at+int64(k+1)*900, random.IntN(40)
			best, most := -1, -1.0
			for i := max(0, len(times)-84); i < len(times); i++ {
				popular := random.Float64()
				for _, t := range opened[i] {
					if follow {
						popular += math.Exp2(-float64(now-t) / 172_800)
					}
				}
				if !read[[2]int{reader, i}] && popular > most {
					best, most = i, popular
				}
			}
			if best < 0 {
				continue
			}
			read[[2]int{reader, best}] = true
			opened[best] = append(opened[best], now)
			fmt.Fprintf(&acts, `{"agent_id":"u_%d","id":"i%d","at":%d,"type":"click"}`+"\n", reader, best, now)
		}
	}
	return list.String(), acts.String()
}

// TestRankingPropose fits a ranking to clicks, by the items of a server and by those of a file, and
// begins it as an experiment.
func TestRankingPropose(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir()})
	items, clicks := followers(true)
	stored := freshet(t, items, "ingest", "-", "--server", p.url, "--token", adminToken)
	require.Equal(t, exitOK, stored.code, stored.errs)
	propose := func(in string, args ...string) result {
		return p.tune(t, in, append([]string{"propose", "-", "--evaluations", "400"}, args...)...)
	}
	proposed := func(r result) (of evaluation.Proposed) {
		require.Equal(t, exitOK, r.code, r.errs)
		require.NoError(t, json.Unmarshal([]byte(r.out), &of))
		return of
	}
	before := answered[client.RankingVersion](t, p, "ranking", "show")
	got := proposed(propose(clicks, "--json"))
	assert.Equal(t, "change", got.Verdict)
	assert.Greater(t, got.Gain, got.Margin)
	assert.Equal(t, strings.Count(clicks, "\n"), got.Clicks)
	assert.Equal(t, strings.Count(items, "\n"), got.Items)
	assert.Equal(t, before.Ranking, got.Ranking)
	assert.Equal(t, before, answered[client.RankingVersion](t, p, "ranking", "show"), "nothing is changed")
	assert.NotContains(t, proposed(propose(clicks, "--json", "--keep", "weight_2d,curves")).Changes, "weight_2d")

	lines := strings.Split(strings.TrimSpace(clicks), "\n")
	rand.New(rand.NewPCG(7, 8)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	others := `{"agent_id":"u_1","id":"nobody-knows","at":1700000000,"type":"click"}` + "\n" + `{"agent_id":"u_1","id":"i1","at":"2999-01-01T00:00:00Z","type":"click"}` + "\n" +
		`{"agent_id":"u_1","id":"i1","at":1700000000,"type":"click"}` + "\n" + `{"agent_id":"u_1","id":"i1","at":1700000000,"type":"view"}` + "\n"
	text := propose(others+strings.Join(lines, "\n"), "--items", write(t, "items", items), "--as", "fitted", "--share", "10%", "--why", "by clicks")
	require.Equal(t, exitOK, text.code, text.errs)
	for _, want := range []string{
		fmt.Sprintf("%d clicks of 40 readers on %d items", got.Clicks, got.Items), "weight_2d", `as the experiment "fitted"`,
		"left out: 1 click on unknown items", "left out: 1 click before the date of their item", "left out: 1 click in the future", `skipped: 1 event of type "view"`,
		fmt.Sprintf("clicks that the fit has not seen: %+.4f nDCG@20", got.Gain),
	} {
		assert.Contains(t, text.out, want)
	}
	now := answered[client.RankingVersion](t, p, "ranking", "show")
	require.Len(t, now.Experiments, 1)
	assert.Equal(t, []any{"fitted", 0.1, got.Fitted, before.Ranking, "by clicks"}, []any{now.Experiments[0].Name, now.Experiments[0].Share, now.Experiments[0].Ranking, now.Ranking, now.Why})
	again := propose(clicks, "--as", "fitted", "--share", "10%")
	assert.Equal(t, exitError, again.code)
	assert.Contains(t, again.errs, `"fitted" runs already`)

	_, noise := followers(false)
	quiet := propose(noise, "--as", "nothing", "--share", "10%")
	require.Equal(t, exitOK, quiet.code, quiet.errs)
	assert.Contains(t, quiet.out, "No change: ")
	assert.Equal(t, now, answered[client.RankingVersion](t, p, "ranking", "show"))
}

func TestRankingProposeRefuses(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATA_DIR": t.TempDir()})
	items, clicks := followers(true)
	file := write(t, "items", items)
	lines := strings.SplitAfter(clicks, "\n")
	for name, tt := range map[string]struct {
		in   string
		args []string
		code int
		says string
	}{
		"an empty file":       {"", nil, exitUsage, "- is empty: it must have an event a line"},
		"one reader":          {onlyOf(lines, `"u_3"`), nil, exitError, "the number of readers with clicks is 1, but at least 20 are needed"},
		"one day":             {strings.Join(lines[:48], ""), nil, exitError, "but at least 4 are needed: a fit to earlier days is judged by later ones"},
		"nothing usable":      {`{"agent_id":"u","id":"x","at":1,"type":"click"}`, nil, exitError, "no click can be used: 1 on items that are not known, 0 before the date of their item, 0 in the future"},
		"the future":          {`{"agent_id":"u","id":"i1","at":"2999-01-01T00:00:00Z","type":"click"}`, nil, exitError, "1 in the future"},
		"a time that is none": {`{"agent_id":"u","id":"i1","at":NaN,"type":"click"}` + "\n" + clicks, nil, exitError, "lines that could not be read: 1"},
		"NaN in quotes":       {`{"agent_id":"u","id":"i1","at":"NaN","type":"click"}` + "\n" + clicks, nil, exitError, "lines that could not be read: 1"},
		"bad items":           {clicks, []string{"--items", write(t, "bad", `{"id":"a"}`)}, exitError, "line 1: bad item: title is missing"},
		"no items":            {clicks, []string{"--items", write(t, "none", "\n")}, exitError, "there are no items"},
		"no share":            {clicks, []string{"--as", "x"}, exitUsage, "--as requires --share"},
		"no name":             {clicks, []string{"--share", "10%"}, exitUsage, "--share requires --as"},
		"a reason for naught": {clicks, []string{"--why", "x"}, exitUsage, "require --as"},
		"a bad name":          {clicks, []string{"--as", "X Y", "--share", "10%"}, exitUsage, "--as: "},
		"a bad share":         {clicks, []string{"--as", "x", "--share", "NaN"}, exitUsage, "--share: "},
		"no parameter":        {clicks, []string{"--keep", "wieght"}, exitUsage, `--keep: "wieght" is no parameter`},
		"no weight":           {clicks, []string{"--also", "base"}, exitUsage, `--also: "base" is no weight of live popularity`},
		"a window":            {clicks, []string{"--window", "1m"}, exitUsage, "--window must be 1h to 8760h, not 1m"},
		"too many":            {clicks, []string{"--scored", "6000"}, exitUsage, "--scored must be 100 to 5000, not 6000"},
		"too few":             {clicks, []string{"--evaluations", "1"}, exitUsage, "--evaluations must be 40 to 100000, not 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"propose", "-", "--items", file, "--evaluations", "40"}, tt.args...)
			got := p.tune(t, tt.in, args...)
			assert.Equal(t, tt.code, got.code, got.errs)
			assert.Contains(t, got.errs, tt.says)
		})
	}
}

// onlyOf returns the lines that contain a text.
func onlyOf(lines []string, text string) string {
	var some strings.Builder
	for _, line := range lines {
		if strings.Contains(line, text) {
			some.WriteString(line)
		}
	}
	return some.String()
}
