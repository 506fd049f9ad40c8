package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
)

// candidates is the number of groups in a check.
const candidates = 500

// heavy are the numbers of seen items of the compared agents.
var heavy = []int{100, 1000, 10_000}

// history holds the items that an agent was shown: the same number on each day of
// the window.
type history struct {
	agent string
	days  [][]string // oldest first
	asked []string   // candidates of a check; some were shown
	seen  []bool     // whether each of asked was shown
}

// dedupCapacity returns the number of impressions that a day's filter is sized for, and contains.
func (b *bench) dedupCapacity() int {
	if b.o.Short {
		return 5_000
	}
	return 200_000
}

// makeHistory returns a history of n items, with ids from name.
func makeHistory(n, days int, name func(i int) string) *history {
	h := &history{agent: "heavy_" + strconv.Itoa(n), days: make([][]string, days)}
	for i := range n {
		h.days[i%days] = append(h.days[i%days], name(i))
	}
	// Up to half of the candidates were shown, as for a frequent reader.
	shown := min(n, candidates/2)
	for i := range shown {
		h.asked, h.seen = append(h.asked, name(i*(n/shown))), append(h.seen, true)
	}
	for i := shown; i < candidates; i++ {
		h.asked, h.seen = append(h.asked, name(n+i)), append(h.seen, false)
	}
	return h
}

func (h *history) shown() int {
	n := 0
	for _, day := range h.days {
		n += len(day)
	}
	return n
}

// wrong records shown items that a check reports as unseen, and counts the unseen ones reported
// as seen.
func (b *bench) wrong(who string, h *history, says func(i int) bool) (hidden int) {
	for i, was := range h.seen {
		switch says := says(i); {
		case was && !says:
			b.impossible("%s: %s was shown %s but counts as unseen", who, h.agent, h.asked[i])
		case !was && says:
			hidden++
		}
	}
	return hidden
}

// fill writes the histories into a store and fills each day to its capacity with impressions of
// other agents.
func fill(ctx context.Context, store dedup.Writer, all []*history, capacity int, now time.Time) error {
	days := len(all[0].days)
	for day := range days {
		var batch []dedup.Impression
		for _, h := range all {
			for _, group := range h.days[day] {
				batch = append(batch, dedup.Impression{Agent: h.agent, Group: group})
			}
		}
		for i := len(batch); i < capacity; i++ {
			batch = append(batch, dedup.Impression{Agent: reader(i / page), Group: fmt.Sprintf("other_%d_%d", day, i)})
		}
		if err := recordAll(ctx, store, batch, now.AddDate(0, 0, day-days+1)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) histories(name func(i int) string) []*history {
	var all []*history
	for _, n := range heavy {
		all = append(all, makeHistory(n, b.o.Config.Dedup.WindowDays, name))
	}
	return all
}

// checks is the side that measures a store.
func (b *bench) checks(name string, store dedup.Checker, h *history, now time.Time) side {
	return side{name: name, run: func(ctx context.Context, _ int) (turn, error) {
		var last dedup.Checked
		t, err := eachFor(ctx, b.slice(), func(int) (took time.Duration, err error) {
			return timed(func() (err error) { last, err = store.Check(ctx, h.agent, h.asked, now); return err })
		})
		if err == nil {
			b.wrong(name, h, func(i int) bool { return last.Verdicts[i] != dedup.Unseen })
		}
		return t, err
	}}
}

// dedupEmbedded compares the filters in process with an exact set per agent and day.
func (b *bench) dedupEmbedded(ctx context.Context) (results []Result, err error) {
	capacity := b.dedupCapacity()
	cfg := b.embeddedConfig(filepath.Join(b.dir, "dedup"))
	cfg.Dedup.DailyCapacity = capacity
	now := time.Now()
	all := b.histories(func(i int) string { return "doc_" + strconv.Itoa(i) })

	var store dedup.Store
	var stop func(context.Context) error
	filters, err := heapOf(func() (err error) {
		if store, stop, err = b.openDedup(ctx, cfg, firstDay(cfg, now)); err != nil {
			return err
		}
		return fill(ctx, store, all, capacity, now)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop(context.WithoutCancel(ctx))) }()
	var sets exact
	exactly, err := heapOf(func() error { sets = exactSets(all, capacity); return nil })
	if err != nil {
		return nil, err
	}
	impressions := float64(capacity * cfg.Dedup.WindowDays)
	for _, h := range all {
		totals, err := b.compare(ctx, b.rounds(), sets.side(b, h), b.checks("freshet, filters in process", store, h, now))
		if err != nil {
			return results, err
		}
		results = append(results, Result{
			What: fmt.Sprintf("%d candidates of an agent with %d seen items; %d filters, each full with %d impressions",
				candidates, h.shown(), cfg.Dedup.WindowDays, capacity),
			Cases: measured(totals), Ratios: []Ratio{ratio(totals[1], totals[0])},
			Figures: []Value{
				{"seen", float64(h.shown()), ""},
				{"filter, by its size", float64(filterBytes(cfg)) / float64(capacity), "bytes/impression"},
				{"filters, on the heap", filters / impressions, "bytes/impression"},
				{"sets, on the heap", exactly / impressions, "bytes/impression"},
			},
		})
	}
	runtime.KeepAlive(sets)
	return results, nil
}

// heapOf returns the growth of the heap during build, in bytes.
func heapOf(build func() error) (float64, error) {
	before := heapNow()
	err := build()
	return heapNow() - before, err
}

// exact is a set per agent and day.
type exact map[string][]map[string]struct{}

func exactSets(all []*history, capacity int) exact {
	sets := exact{}
	put := func(agent string, day, days int, group string) {
		if sets[agent] == nil {
			sets[agent] = make([]map[string]struct{}, days)
		}
		if sets[agent][day] == nil {
			sets[agent][day] = map[string]struct{}{}
		}
		sets[agent][day][group] = struct{}{}
	}
	days := len(all[0].days)
	for day := range days {
		n := 0
		for _, h := range all {
			for _, group := range h.days[day] {
				put(h.agent, day, days, group)
				n++
			}
		}
		for ; n < capacity; n++ {
			put(reader(n/page), day, days, fmt.Sprintf("other_%d_%d", day, n))
		}
	}
	return sets
}

func (e exact) side(b *bench, h *history) side {
	found := make([]bool, candidates)
	return side{name: "a Go map for each agent and day", run: func(ctx context.Context, _ int) (turn, error) {
		return eachFor(ctx, b.slice(), func(int) (time.Duration, error) {
			return timed(func() error {
				for i, group := range h.asked {
					found[i] = false
					for _, day := range e[h.agent] {
						_, found[i] = day[group]
						if found[i] {
							break
						}
					}
				}
				return nil
			})
		})
	}}
}

// filterBytes returns the size of a day's filter in process.
func filterBytes(cfg configs.Config) uint64 {
	d := dedup.Config{WindowDays: cfg.Dedup.WindowDays, FalsePositiveRate: cfg.Dedup.FalsePositiveRate, DailyCapacity: cfg.Dedup.DailyCapacity}
	return d.MemoryFilter().Bytes()
}
