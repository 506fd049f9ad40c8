package experiment

import (
	"fmt"
	"math"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

const (
	// guardReaders is the number of readers of each arm from which on a limit may end an experiment.
	guardReaders = 1000
	// guardAlpha bounds the probability that a limit which holds ever ends an experiment.
	guardAlpha = 0.01
)

// Breach is a limit that a variant has broken.
type Breach struct {
	Variant        string
	Limit          feed.Limit
	Rate, Control  float64 // of the variant and of control
	Least          float64 // by how much the variant's exceeds control's at least, as a part of control's; +Inf if that is 0
	Readers, Other int64   // of the variant and of control
}

// String describes a breach in a sentence.
func (b Breach) String() string {
	format := func(rate float64) string {
		if b.Limit.Name == limitLatency {
			return fmt.Sprintf("%.0f ms", rate)
		}
		return fmt.Sprintf("%.2f %%", 100*rate)
	}
	least := ""
	if b.Control > 0 {
		least = fmt.Sprintf(", at least %.1f %% more", 100*b.Least)
	}
	return fmt.Sprintf("limit %s: %s, control %s%s; %g %% were allowed", b.Limit.Name, format(b.Rate), format(b.Control), least, math.Round(1e4*b.Limit.Most)/100)
}

const limitLatency = "latency"

// limitColumns holds the rate that each limit bounds.
var limitColumns = map[string][2]events.Column{
	"rejects":    {events.Rejected, events.Shown},
	"short":      {events.Short, events.Pages},
	limitLatency: {events.Millis, events.Pages},
}

// Guarded returns the runs whose limits [Breaches] checks, and their columns; nil if no variant has
// limits.
func Guarded(live *feed.Live) (runs []string, columns []events.Column) {
	for _, v := range live.Variants {
		if v.Limits.On() && version(v.Run) > 0 {
			runs = append(runs, v.Run)
		}
	}
	if runs == nil {
		return nil, nil
	}
	return append(runs, live.Run), events.Counted
}

// Breaches returns the limits that live variants have broken: those whose excess over control has a lower
// bound, valid at each look with a probability of 99 %, above what is allowed. cells holds the counts of
// the guarded runs, readers the numbers of their readers.
func Breaches(live *feed.Live, cells map[string]events.Cells, readers map[string]int64) (all []Breach) {
	for _, v := range live.Variants {
		n, control := readers[v.Run], readers[live.Run]
		if !v.Limits.On() || min(n, control) < guardReaders {
			continue
		}
		buckets := assigned(live, v.Name)
		if min(len(buckets[0]), len(buckets[1])) < MinBuckets {
			continue
		}
		for _, limit := range v.Limits.Each() {
			if limit.Most == 0 {
				continue
			}
			b := breach(limit, cells[v.Run], cells[live.Run], buckets)
			if b.Least > limit.Most {
				b.Variant, b.Readers, b.Other = v.Name, n, control
				all = append(all, b)
			}
		}
	}
	return all
}

// breach compares the rate of a limit. Least is 0 if nothing is sure.
func breach(limit feed.Limit, variant, control events.Cells, buckets [2][]int) Breach {
	columns := limitColumns[limit.Name]
	one, two := rateOf(variant, buckets[0], columns), rateOf(control, buckets[1], columns)
	b := Breach{Limit: limit, Rate: one.ratio, Control: two.ratio}
	if one.n == 0 || two.n == 0 {
		return b
	}
	// The excess over what is allowed has the variance of both rates, control's times the allowed part.
	allowed := 1 + limit.Most
	e := Estimate{one.ratio - allowed*two.ratio, variance(one.scores) + allowed*allowed*variance(two.scores)}
	low := e.Difference - reach(e.Variance, Width(one.ratio, allowed*two.ratio), guardAlpha)
	if low > 0 {
		b.Least = limit.Most + low/two.ratio
	}
	return b
}
