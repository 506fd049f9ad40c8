package bench

import (
	"fmt"
	"strings"
)

// budgets compares what was measured with what is promised. What was not
// measured is left out; a short run measures too little to speak of either.
func budgets(results []Result) []Budget {
	list := []Budget{}
	add := func(what, limit, unit string, v float64, met bool) {
		list = append(list, Budget{What: what, Limit: limit, Measured: v, Unit: unit, Met: met})
	}
	atMost := func(what string, v float64, ok bool, limit float64, unit string) {
		if ok {
			add(what, fmt.Sprintf("≤ %g %s", limit, unit), unit, v, v <= limit)
		}
	}
	for _, r := range results {
		items, _ := r.figure("items")
		switch r.Part {
		case "load_more":
			least, beside := 0.5, "constant JSON"
			if r.Mode == Services {
				least, beside = 0.7, "LPOP + MGET"
			}
			for _, ratio := range r.Ratios {
				if strings.Contains(ratio.To, beside) {
					add("load_more, "+r.Mode+", of "+ratio.To, fmt.Sprintf("≥ %g", least), "", ratio.Median, ratio.Median >= least)
				}
			}
		case "refresh":
			if own, ok := r.figure("own share"); ok {
				atMost("refresh, services, own share of the time", own, ok, 0.1, "")
			}
			p50, ok := r.figure("p50")
			what := fmt.Sprintf("refresh, embedded, %.0f items", items)
			atMost(what+", p50", p50, ok, atSize(items, 1, 5), "ms")
			if p99, ok := r.figure("p99"); ok && items <= 100_000 {
				atMost(what+", p99", p99, ok, 5, "ms")
			}
		case "dedup":
			if seen, _ := r.figure("seen"); seen != float64(heavy[0]) {
				continue // the filters are the same for all
			}
			v, ok := r.figure("filter")
			if r.Mode == Embedded {
				v, ok = r.figure("filter, by its size")
			}
			atMost("memory of an impression, "+r.Mode, v, ok, 2, "bytes")
		case "ingest":
			what := fmt.Sprintf("ingest, embedded, %.0f items", items)
			if rate, ok := r.figure("ingest"); ok {
				add(what, "≥ 50000 items/s", "items/s", rate, rate >= 50_000)
			}
			p99, ok := r.figure("refresh p99, during the ingest to idle")
			atMost(what+", p99 of a refresh to idle", p99, ok, 3, "times")
		case "start":
			if ready, ok := r.figure("until /readyz answers"); ok && items <= 100_000 {
				atMost(fmt.Sprintf("start, embedded, %.0f items", items), ready, ok, 2, "s")
			}
			resident, ok := r.figure("resident")
			atMost(fmt.Sprintf("memory, embedded, %.0f items", items), resident, ok, 1024, "MiB")
		}
	}
	return list
}

// atSize is the limit for a catalog of up to 100,000 items, or of more.
func atSize(items, small, large float64) float64 {
	if items <= 100_000 {
		return small
	}
	return large
}
