package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBudgets(t *testing.T) {
	results := []Result{
		{Part: "load_more", Mode: Services, Ratios: []Ratio{{To: "bare gin, LPOP + MGET", Median: 0.7}, {To: "bare gin, constant JSON", Median: 0.2}}},
		{Part: "load_more", Mode: Embedded, Ratios: []Ratio{{To: "bare gin, constant JSON", Median: 0.49}}},
		{Part: "refresh", Mode: Embedded, Figures: []Value{{"items", 100_000, ""}, {"p50", 1.1, "ms"}, {"p99", 4, "ms"}}},
		{Part: "refresh", Mode: Embedded, Figures: []Value{{"items", 1_000_000, ""}, {"p50", 4.9, "ms"}, {"p99", 40, "ms"}}},
		{Part: "refresh", Mode: Services, Figures: []Value{{"own share", 0.04, ""}}},
		{Part: "dedup", Mode: Services, Figures: []Value{{"seen", 100, ""}, {"filter", 1.9, ""}}},
		{Part: "dedup", Mode: Services, Figures: []Value{{"seen", 1000, ""}, {"filter", 1.9, ""}}},
		{Part: "ingest", Mode: Embedded, Figures: []Value{
			{"items", 100_000, ""}, {"ingest", 49_999, ""}, {"refresh p99, during the ingest to idle", 3, ""},
		}},
		{Part: "start", Mode: Embedded, Figures: []Value{{"items", 100_000, ""}, {"until /readyz answers", 2.5, "s"}}},
		{Part: "start", Mode: Embedded, Figures: []Value{{"items", 1_000_000, ""}, {"until /readyz answers", 14, "s"}, {"resident", 700, "MiB"}}},
		{
			Part: "timeline", Mode: Services, Ratios: []Ratio{{To: "bare gin, ZREVRANGE + MGET + SELECT", Median: 0.5}, {To: "bare gin, ZREVRANGE + MGET + SELECT", Median: 0.1}},
			Figures: []Value{{"page, p50", 10.5, "ms"}, {"page, p99", 20, "ms"}},
		},
		{Part: "timeline", Mode: Services, Ratios: []Ratio{{To: "bare gin, one query", Median: 0.1}}, Figures: []Value{{"followees", 10, ""}}},
		{Part: "timeline", Mode: Services, Figures: []Value{{"followees, cold", 1000, ""}, {"p99", 201, "ms"}}},
		{Part: "timeline", Mode: Services, Figures: []Value{{"followees, cold", 7500, ""}, {"p99", 201, "ms"}}},
		{Part: "posts", Mode: Services, Figures: []Value{{"publish, p50 beyond a commit", 4, "ms"}, {"publish, p99 beyond a commit", 21, "ms"}}},
		{Part: "posts", Mode: Services, Figures: []Value{{"unfollow, p50", 4, "ms"}, {"unfollow, p99", 21, "ms"}}},
		{Part: "posts", Mode: Services, Figures: []Value{{"lists", 500, ""}, {"publish, p50", 99, "ms"}, {"delete, p50", 101, "ms"}}},
		{Part: "posts", Mode: Services, Figures: []Value{{"lists", 5000, ""}, {"publish, p50", 99, "ms"}, {"delete, p50", 101, "ms"}, {"delete, p99", 300, "ms"}}},
		{Part: "posts", Mode: Services, Figures: []Value{{"lists", 10_000, ""}, {"delete, p99", 300, "ms"}}},
		{Part: "dedup", Mode: Embedded, Skipped: "not today"},
	}
	var got []string
	for _, b := range budgets(results) {
		got = append(got, fmt.Sprintf("%s %s %v", b.What, b.Limit, b.Met))
	}
	assert.Equal(t, []string{
		"load_more, services, of bare gin, LPOP + MGET ≥ 0.7 true",
		"load_more, embedded, of bare gin, constant JSON ≥ 0.5 false",
		"refresh, embedded, 100000 items, p50 ≤ 1 ms false",
		"refresh, embedded, 100000 items, p99 ≤ 5 ms true",
		"refresh, embedded, 1000000 items, p50 ≤ 5 ms true",
		"refresh, services, own share of the time ≤ 0.1  true",
		"memory of an impression, services ≤ 2 bytes true",
		"ingest, embedded, 100000 items ≥ 50000 items/s false",
		"ingest, embedded, 100000 items, p99 of a refresh to idle ≤ 3 times true",
		"start, embedded, 100000 items ≤ 2 s false",
		"memory, embedded, 1000000 items ≤ 1024 MiB true",
		"timeline page, services, of bare gin, ZREVRANGE + MGET + SELECT ≥ 0.5 true",
		"timeline page, list there, p50 ≤ 10 ms false",
		"timeline page, list there, p99 ≤ 50 ms true",
		"timeline page, cold, 1000 followees, p99 ≤ 200 ms false",
		"timeline page, cold, 7500 followees, p99 ≤ 500 ms true",
		"publish, to the answer, p50 beyond a commit ≤ 5 ms true",
		"publish, to the answer, p99 beyond a commit ≤ 20 ms false",
		"unfollow, p50 ≤ 50 ms true",
		"unfollow, p99 ≤ 200 ms true",
		"fan-out to 500 lists, p50 ≤ 100 ms true",
		"delete from 5000 lists, p50 ≤ 100 ms false",
		"delete from 5000 lists, p99 ≤ 500 ms true",
		"delete from 10000 lists, p99 ≤ 1000 ms true",
	}, got)
}

// TestReportFields checks the field names that programs rely on.
func TestReportFields(t *testing.T) {
	r := Report{
		Results: []Result{{
			Cases: []Case{{CPU: map[string]float64{}, AnswerBytes: 1}}, Ratios: []Ratio{{}}, Figures: []Value{{}}, Skipped: "x",
		}},
		Simulations: []Simulation{{Days: []DayPlayed{{Hidden: Compared{Bound: 1, Of: 1}}}}},
		Budgets:     []Budget{{}}, Impossible: []string{},
	}
	var out bytes.Buffer
	require.NoError(t, r.Write(&out))
	var top map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &top))
	at := func(v any, path ...any) string {
		for _, step := range path {
			switch step := step.(type) {
			case string:
				v = v.(map[string]any)[step]
			case int:
				v = v.([]any)[step]
			}
		}
		return fmt.Sprint(slices.Sorted(maps.Keys(v.(map[string]any))))
	}
	assert.Equal(t, "[budgets impossible machine results seconds settings simulations]", at(top))
	assert.Equal(t, "[cases figures mode part ratios skipped what]", at(top, "results", 0))
	assert.Equal(t, "[alloc_bytes allocs answer_bytes calls cpu_us latency_us name per_second]", at(top, "results", 0, "cases", 0))
	assert.Equal(t, "[max p50 p95 p99]", at(top, "results", 0, "cases", 0, "latency_us"))
	assert.Equal(t, "[max median min of rounds to]", at(top, "results", 0, "ratios", 0))
	assert.Equal(t, "[name unit value]", at(top, "results", 0, "figures", 0))
	assert.Equal(t, "[limit measured met unit what]", at(top, "budgets", 0))
	assert.Equal(t, "[backend days false_positive_rate probes repeats seconds traffic window_days]", at(top, "simulations", 0))
	assert.Equal(t, "[day fill hidden impressions memory visits]", at(top, "simulations", 0, "days", 0))
	assert.Equal(t, "[bound expected measured of]", at(top, "simulations", 0, "days", 0, "hidden"))
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 7: "7", 0.000123: "0.000123", 0.4567: "0.457", 1.234: "1.23", 56.78: "56.8", 999.94: "999.9", 12345.6: "12346", -3.14159: "-3.14",
	} {
		assert.Equal(t, want, number(v))
	}
}
