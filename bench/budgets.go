package bench

import (
	"fmt"
	"strings"
)

// budgets compares measurements with the documented promises, and omits those without a
// measurement. The results of a short run are not conclusive.
func budgets(results []Result) []Budget {
	p := promises{}
	for i := range results {
		p.of(&results[i])
	}
	return p
}

// promises holds the budgets with their measurements.
type promises []Budget

func (p *promises) add(what, limit, unit string, v float64, met bool) {
	*p = append(*p, Budget{What: what, Limit: limit, Measured: v, Unit: unit, Met: met})
}

// atMost adds a budget for a figure that must not exceed limit.
func (p *promises) atMost(r *Result, figure, what string, limit float64, unit string) {
	if v, ok := r.figure(figure); ok {
		p.add(what, fmt.Sprintf("≤ %g %s", limit, unit), unit, v, v <= limit)
	}
}

// atLeast adds a budget for the ratio of a result to the side whose name contains beside.
func (p *promises) atLeast(r *Result, what, beside string, least float64) {
	for _, ratio := range r.Ratios {
		if strings.Contains(ratio.To, beside) {
			p.add(what+", "+r.Mode+", of "+ratio.To, fmt.Sprintf("≥ %g", least), "", ratio.Median, ratio.Median >= least)
		}
	}
}

func (p *promises) of(r *Result) {
	items, _ := r.figure("items")
	size := fmt.Sprintf("%.0f items", items)
	switch r.Part {
	case "load_more":
		if r.Mode == Services {
			p.atLeast(r, "load_more", "LPOP + MGET", 0.7)
		} else {
			p.atLeast(r, "load_more", "constant JSON", 0.5)
		}
	case "refresh":
		p.atMost(r, "own share", "refresh, services, own share of the time", 0.1, "")
		p.atMost(r, "p50", "refresh, embedded, "+size+", p50", atSize(items, 1, 5), "ms")
		if items <= 100_000 {
			p.atMost(r, "p99", "refresh, embedded, "+size+", p99", 5, "ms")
		}
	case "dedup":
		seen, _ := r.figure("seen")
		if seen != float64(heavy[0]) {
			return // the filters are the same for all agents
		}
		figure := "filter"
		if r.Mode == Embedded {
			figure = "filter, by its size"
		}
		p.atMost(r, figure, "memory of an impression, "+r.Mode, 2, "bytes")
	case "ingest":
		what := "ingest, embedded, " + size
		if rate, ok := r.figure("ingest"); ok {
			p.add(what, "≥ 50000 items/s", "items/s", rate, rate >= 50_000)
		}
		p.atMost(r, "refresh p99, during the ingest to idle", what+", p99 of a refresh to idle", 3, "times")
	case "start":
		if items <= 100_000 {
			p.atMost(r, "until /readyz answers", "start, embedded, "+size, 2, "s")
		}
		p.atMost(r, "resident", "memory, embedded, "+size, 1024, "MiB")
	case "timeline":
		p.timeline(r)
	case "posts":
		p.posts(r)
	case "statements":
		p.atMost(r, publishStatements, "publish without followers, PostgreSQL's statements", 1.2, "ms")
	}
}

func (p *promises) timeline(r *Result) {
	if len(r.Ratios) > 0 && strings.Contains(r.Ratios[0].To, "ZREVRANGE") {
		p.atLeast(&Result{Mode: r.Mode, Ratios: r.Ratios[:1]}, "timeline page", "ZREVRANGE", 0.5)
		p.atMost(r, "page, p50", "timeline page, list there, p50", 10, "ms")
		p.atMost(r, "page, p99", "timeline page, list there, p99", 50, "ms")
	}
	if n, ok := r.figure("followees, cold"); ok {
		limit := 500.0
		if n <= 1000 {
			limit = 200
		}
		p.atMost(r, "p99", fmt.Sprintf("timeline page, cold, %.0f followees, p99", n), limit, "ms")
	}
}

func (p *promises) posts(r *Result) {
	p.atMost(r, "publish, p50 beyond a commit", "publish, to the answer, p50 beyond a commit", 5, "ms")
	p.atMost(r, "publish, p99 beyond a commit", "publish, to the answer, p99 beyond a commit", 20, "ms")
	p.atMost(r, "unfollow, p50", "unfollow, p50", 50, "ms")
	p.atMost(r, "unfollow, p99", "unfollow, p99", 200, "ms")
	switch n, _ := r.figure("lists"); n {
	case 500:
		p.atMost(r, "publish, p50", "fan-out to 500 lists, p50", 100, "ms")
	case 5000:
		p.atMost(r, "delete, p50", "delete from 5000 lists, p50", 100, "ms")
		p.atMost(r, "delete, p99", "delete from 5000 lists, p99", 500, "ms")
	case 10_000:
		p.atMost(r, "delete, p99", "delete from 10000 lists, p99", 1000, "ms")
	}
}

// atSize returns small for a catalog of up to 100,000 items, else large.
func atSize(items, small, large float64) float64 {
	if items <= 100_000 {
		return small
	}
	return large
}
