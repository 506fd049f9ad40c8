package quality

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handMade has three readers and two rankings. "Most recent" ranks the items that u_1 reads 1 and
// 3, u_2's 7, and u_3's nowhere. With "default" it is 1, 1, 2 and nowhere.
func handMade(t *testing.T) (*replay, *Report) {
	t.Helper()
	d := dataOf(make([]int64, 25)...)
	for i := range d.items {
		d.items[i].URL = []string{"https://a.example/1", "https://www.A.example/2", "https://b.example/", "", ":"}[i%5]
	}
	upTo := func(from, to int) (list []int) {
		for i := from; i < to; i++ {
			list = append(list, i)
		}
		return list
	}
	r := &replay{board: newBoard(d, []contender{{name: mostRecent}, {name: byDefault}})}
	all := &moment{candidates: upTo(0, 24)} // u_3 reads item 24, which is too old
	r.board.add(&event{at: 10, reader: "u_1", item: 0}, all, [][]int{upTo(0, 24), upTo(0, 24)})
	r.board.add(&event{at: 20, reader: "u_1", item: 2}, all, [][]int{upTo(0, 3), {2, 0, 1}})
	r.board.add(&event{at: 20, reader: "u_2", item: 6}, all, [][]int{upTo(0, 7), {0, 6}})
	r.board.add(&event{at: 30, reader: "u_3", item: 24}, all, [][]int{upTo(0, 24), {0}})
	report, err := r.report()
	require.NoError(t, err)
	return r, report
}

func TestFiguresKnownValues(t *testing.T) {
	t.Parallel()
	_, report := handMade(t)
	assert.Equal(t, []int{3, 4, 1}, []int{report.Readers, report.Events, report.Outside})
	assert.Equal(t, 24.0, report.Candidates)
	assert.Equal(t, []int64{10, 30}, []int64{report.From.Unix(), report.Until.Unix()})
	rank3, rank7 := 1/math.Log2(4), 1/math.Log2(8)
	for name, want := range map[string][2]float64{
		"ndcg20":                   {((1+rank3)/2 + rank7) / 3, (1 + 1/math.Log2(3)) / 3},
		"mrr":                      {((1+1.0/3)/2 + 1.0/7) / 3, (1 + 0.5) / 3},
		"hr5":                      {1.0 / 3, 2.0 / 3},
		"hr20":                     {2.0 / 3, 2.0 / 3},
		"coverage":                 {20.0 / 24, 20.0 / 24}, // each ranking shows u_1 items 0 to 19
		"sites_per_page":           {2, (2 + 1 + 1) / 3.0}, // a and b; u_2 is shown only a, and by default so is u_3
		"ndcg20_minus_most_recent": {0, (1 - (1+rank3)/2 + 1/math.Log2(3) - rank7) / 3},
		"mrr_minus_default":        {((1+1.0/3)/2 + 1.0/7 - 1.5) / 3, 0},
		"hr5_minus_most_recent":    {0, 1.0 / 3},
	} {
		for i := range report.Rankings {
			row := &report.Rankings[i]
			got, known := row.Figure(name)
			assert.True(t, known)
			assert.InDelta(t, want[i], got.Value, 1e-12, "%s, %s", row.Ranking, name)
			assert.LessOrEqual(t, got.Low, got.Value+1e-9, name)
			assert.GreaterOrEqual(t, got.High, got.Value-1e-9, name)
		}
	}
}

func TestReportWritten(t *testing.T) {
	t.Parallel()
	r, report := handMade(t)
	var out strings.Builder
	require.NoError(t, report.Write(&out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	var row map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &row))
	assert.Equal(t, []any{"default", 3.0, 4.0}, []any{row["ranking"], row["readers"], row["events"]})
	for _, name := range []string{"ndcg20", "mrr", "hr5", "hr20", "coverage", "sites_per_page", "ndcg20_minus_most_recent", "ndcg20_minus_default"} {
		want, _ := report.Rankings[1].Figure(name)
		assert.InDelta(t, want.Value, row[name], 1e-6)
		assert.InDelta(t, want.Low, row[name+"_low"], 1e-6)
		assert.InDelta(t, want.High, row[name+"_high"], 1e-6)
	}
	out.Reset()
	require.NoError(t, report.Print(&out))
	assert.Contains(t, out.String(), "3 readers, 4 first reads from 1970-01-01 to 1970-01-01")
	assert.Contains(t, out.String(), "+0.") // the default is better

	for i := range r.board.sites {
		r.board.sites[i] = ""
	}
	r.board.hasSites = false
	report, err := r.report()
	require.NoError(t, err)
	out.Reset()
	require.NoError(t, report.Write(&out))
	assert.Contains(t, out.String(), `"sites_per_page":null,"sites_per_page_low":null,"sites_per_page_high":null`)
}

// The interval of a mean over many readers is that of the normal distribution, and is
// deterministic for the same readers.
func TestInterval(t *testing.T) {
	t.Parallel()
	const n = 500
	values, sum, squares := make([]float64, n), 0.0, 0.0
	for i := range values {
		values[i] = float64(i*i%101) / 100
		sum += values[i]
		squares += values[i] * values[i]
	}
	all := draws(n)
	got := estimate(mean(values), n, all, 0, 1)
	assert.InDelta(t, sum/n, got.Value, 1e-12)
	half := 1.96 * math.Sqrt((squares/n-got.Value*got.Value)/n)
	assert.InDelta(t, got.Value-half, got.Low, half/10)
	assert.InDelta(t, got.Value+half, got.High, half/10)
	assert.Equal(t, got, estimate(mean(values), n, draws(n), 0, 1))

	assert.Equal(t, Estimate{0.25, 0.25, 0.25}, estimate(mean([]float64{0.25}), 1, draws(1), 0, 1), "one reader tells nothing of others")
	for i := range values {
		values[i] = float64(i / (n - 1)) // only one reader has a value
	}
	got = estimate(mean(values), n, all, 0, 1)
	assert.GreaterOrEqual(t, got.Low, 0.0, "no less than there can be")
}

// The share of items shown to anyone lies within its interval, although each resample has fewer
// distinct readers.
func TestIntervalOfCoverage(t *testing.T) {
	t.Parallel()
	const n, items = 100, 400
	shown, proposed := make([]set, n), make([]set, n)
	for i := range n {
		shown[i], proposed[i] = newSet(items), newSet(items)
		for k := range items {
			proposed[i].add(k)
		}
		for k := range 3 {
			shown[i].add((7*i + 131*k) % items)
		}
	}
	figure, all := covered(shown, proposed), draws(n)
	got := estimate(figure, n, all, 0, 1)
	assert.Less(t, figure(all[0]), got.Value)
	assert.Less(t, got.Low, got.Value)
	assert.Greater(t, got.High, got.Value)
	assert.LessOrEqual(t, got.High, 1.0)
}
