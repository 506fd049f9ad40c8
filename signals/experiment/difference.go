package experiment

import (
	"errors"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// What each arm needs before a difference is tested: below it an estimate is not yet normal.
const (
	// MinReaders is the number of distinct readers.
	MinReaders = 100
	// MinBuckets is the number of buckets of agents: the variance of fewer is not known well enough. With 5,
	// one in six equal rankings would be called different.
	MinBuckets = 30
	// minClicks is the number of clicks if both arms are equal, as expected.
	minClicks = 25
)

// priorDays is the number of days before a run that tell what readers did.
const priorDays = 28

// clickRate is the rate that reports compare.
var clickRate = [2]events.Column{events.Clicked, events.Shown}

// runs of a variant and of control that can be compared.
type pair struct {
	variant, control string
	buckets          [2][]int // of the variant and of control
	cells            []events.DayCells
	prior            events.Cells
}

// difference compares the run of a variant that began with a version with the run of control that began
// with it.
func (c *Counts) difference(name string, version int) (*api.ReportDifference, error) {
	d := &api.ReportDifference{Interval: api.Interval{Low: -1, High: 1}, Verdict: TooFew}
	if version == 0 { // counted before runs had versions
		return d, nil
	}
	live, err := c.ranking(name, version)
	if err != nil || live == nil {
		return d, err
	}
	p, err := c.pair(live, name, version)
	if err != nil {
		return nil, err
	}
	run := series(&p)
	if len(run.days) == 0 {
		return d, nil
	}
	sums, last := run.sums, run.last
	readers, part, err := c.Readers([]string{p.variant, p.control})
	if err != nil {
		return nil, err
	}
	d.Readers = api.ReportPair{Variant: int64(float64(readers[0]) / part), Control: int64(float64(readers[1]) / part)}
	d.SampleRatio = balance(live, name, readers)
	control := sums[1].rate()
	width := Width(sums[0].rate(), control)
	d.Days, d.CTR, d.Interval = run.days, last.Difference, last.Interval(width, Significance)
	d.Size = run.size(control, c.Effect)
	d.Verdict = verdict(d, sums, min(len(p.buckets[0]), len(p.buckets[1])))
	if d.Verdict != TooFew {
		p := last.P(width)
		d.P = &p
	}
	return d, nil
}

// verdict returns the verdict on a difference of arms of so many buckets at least.
func verdict(d *api.ReportDifference, sums [2]sum, buckets int) string {
	pooled := (sums[0].k + sums[1].k) / (sums[0].n + sums[1].n)
	switch {
	case d.SampleRatio != nil && !d.SampleRatio.OK:
		return Unbalanced
	case buckets < MinBuckets || min(d.Readers.Variant, d.Readers.Control) < MinReaders || !(min(sums[0].n, sums[1].n)*min(pooled, 1-pooled) >= minClicks):
		return TooFew
	case d.Interval.Low > 0 || d.Interval.High < 0:
		return Significant
	}
	return NotSignificant
}

// sum holds the clicks and impressions of an arm.
type sum struct{ k, n float64 }

func (s sum) rate() float64 {
	if s.n == 0 {
		return 0
	}
	return s.k / s.n
}

// pair returns the arms of a run that began with a ranking.
func (c *Counts) pair(live *feed.Live, name string, version int) (p pair, err error) {
	p = pair{variant: feed.RunName(name, version), control: feed.RunName(feed.Control, version), buckets: assigned(live, name)}
	p.cells, err = c.Cells([]string{p.variant, p.control}, clickRate[:], c.To-events.KeepDays+1, c.To)
	if err != nil || len(p.cells) == 0 {
		return p, err
	}
	p.prior, err = c.before(version, p.cells[0].Day, p.buckets)
	return p, err
}

// ranking returns the ranking that a run began with, also of one that has ended: it stays as it ended. It is
// nil if the ranking is not known any more.
func (c *Counts) ranking(name string, version int) (*feed.Live, error) {
	run := feed.RunName(name, version)
	live, err := c.Live, error(nil)
	v, known := live.Variant(name)
	if !known || v.Run != run {
		live, err = c.Began(version)
	}
	if errors.Is(err, feed.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, known = live.Variant(name)
	if !known || v.Run != run {
		return nil, nil
	}
	return live, nil
}

// assigned returns the buckets of a variant and of control.
func assigned(live *feed.Live, name string) (buckets [2][]int) {
	var taken [feed.Buckets]bool
	for _, x := range live.Variants {
		for _, part := range x.Parts {
			for b := part[0]; b <= part[1]; b++ {
				taken[b] = true
				if x.Name == name {
					buckets[0] = append(buckets[0], b)
				}
			}
		}
	}
	for b := range feed.Buckets {
		if !taken[b] {
			buckets[1] = append(buckets[1], b)
		}
	}
	return buckets
}

// before returns what was counted while none of the given arms was in an experiment, before a run of a
// version whose first day is given, of [priorDays] days if so many are stored; nil if there are none. An
// experiment changes what its readers do, and the run's arms may have had different shares of it, as when
// a name is used again. A holdout, whose readers are in no other experiment, does not matter.
func (c *Counts) before(version int, first feed.Day, arms [2][]int) (sums events.Cells, err error) {
	var tested [feed.Buckets]bool
	for _, b := range slices.Concat(arms[0], arms[1]) {
		tested[b] = true
	}
	varied := map[int]bool{version: true}
	days := map[feed.Day]bool{}
	for to, oldest := first, c.To-events.KeepDays+1; to >= oldest && len(days) < priorDays; to -= priorDays + 1 {
		read, err := c.Cells(nil, clickRate[:], max(oldest, to-priorDays), to)
		if err != nil {
			return nil, err
		}
		for _, day := range read {
			name, v := feed.VariantOf(day.Run)
			varied[v] = varied[v] || v > version || name != feed.Control && touches(day.Cells, &tested)
		}
		for _, day := range slices.Backward(read) {
			name, v := feed.VariantOf(day.Run)
			if name != feed.Control || varied[v] || len(days) >= priorDays && !days[day.Day] {
				continue
			}
			if sums == nil {
				sums = events.Cells{}
			}
			sums.Merge(day.Cells)
			days[day.Day] = true
		}
	}
	return sums, nil
}

// touches reports whether anything was counted in one of the buckets.
func touches(cells events.Cells, buckets *[feed.Buckets]bool) bool {
	for cell := range cells {
		if buckets[cell.Bucket()] {
			return true
		}
	}
	return false
}

// run holds the figures of a run of two arms.
type run struct {
	arms   [2]Arm
	parity [2]events.Cells // of both arms, on even and odd days
	sums   [2]sum
	last   Estimate // of all days
	days   []api.ReportDay
}

// series adds up the days of a run.
func series(p *pair) *run {
	r := &run{parity: [2]events.Cells{{}, {}}}
	for i := range r.arms {
		r.arms[i] = Arm{Buckets: p.buckets[i], During: events.Cells{}, Before: p.prior, Columns: clickRate}
	}
	for i := 0; i < len(p.cells); {
		at := p.cells[i].Day
		day := api.ReportDay{Day: at.String()}
		for ; i < len(p.cells) && p.cells[i].Day == at; i++ {
			arm, shown, clicks := 0, &day.Impressions.Variant, &day.Clicks.Variant
			if p.cells[i].Run == p.control {
				arm, shown, clicks = 1, &day.Impressions.Control, &day.Clicks.Control
			}
			*shown, *clicks = r.add(arm, at, p.cells[i].Cells)
		}
		r.last = Compare(r.arms[0], r.arms[1])
		day.CTR, day.Interval = r.last.Difference, r.last.Interval(Width(r.sums[0].rate(), r.sums[1].rate()), Significance)
		r.days = append(r.days, day)
	}
	return r
}

// add adds the counts of an arm on a day, and returns its impressions and clicks.
func (r *run) add(arm int, day feed.Day, cells events.Cells) (n, k int64) {
	r.arms[arm].During.Merge(cells)
	r.parity[day%2].Merge(cells)
	n, k = total(cells, events.Shown), total(cells, events.Clicked)
	r.sums[arm].n += float64(n)
	r.sums[arm].k += float64(k)
	return n, k
}

// size returns how long the test takes, given control's rate; nil if that would be a guess.
func (r *run) size(rate, effect float64) *api.ReportSize {
	if r.sums[0].k+r.sums[1].k < minClicks {
		return nil
	}
	lasting := Lasting(r.arms[0], r.arms[1], r.parity[1], r.parity[0])
	return Size(r.last, len(r.days), lasting, (r.sums[0].n+r.sums[1].n)/2, rate, effect)
}

// total returns the sum of a column.
func total(cells events.Cells, column events.Column) (n int64) {
	for cell, count := range cells {
		if cell.Column() == column {
			n += count
		}
	}
	return n
}

// balance checks the numbers of readers of a variant and of control; nil if there are none.
func balance(live *feed.Live, name string, readers []int64) *api.ReportBalance {
	if readers[0]+readers[1] == 0 {
		return nil
	}
	v, _ := live.Variant(name)
	control := 1.0
	for _, x := range live.Variants {
		control -= x.Share
	}
	shares := []float64{v.Share, max(0, math.Round(control*feed.Buckets)/feed.Buckets)}
	if shares[0]+shares[1] == 0 {
		return nil
	}
	b := &api.ReportBalance{
		Expected: shares[0] / (shares[0] + shares[1]), Observed: float64(readers[0]) / float64(readers[0]+readers[1]),
		P: Balance(readers, shares),
	}
	b.OK = b.P >= Imbalance
	return b
}

// plan returns how much an experiment on half of the readers would need, by what readers were shown so
// far: as if the buckets were divided.
func (c *Counts) plan() (*api.ReportSize, error) {
	cells, err := c.Cells(nil, clickRate[:], c.To-priorDays+1, c.To)
	if err != nil {
		return nil, err
	}
	p := pair{variant: "a", control: "b"}
	for b := range feed.Buckets {
		p.buckets[b%2] = append(p.buckets[b%2], b)
	}
	for i := 0; i < len(cells); {
		day, sums := cells[i].Day, events.Cells{}
		for ; i < len(cells) && cells[i].Day == day; i++ {
			sums.Merge(cells[i].Cells)
		}
		p.cells = append(p.cells,
			events.DayCells{Run: p.variant, Day: day, Cells: sums.Of(p.buckets[0])},
			events.DayCells{Run: p.control, Day: day, Cells: sums.Of(p.buckets[1])})
	}
	r := series(&p)
	both := sum{r.sums[0].k + r.sums[1].k, r.sums[0].n + r.sums[1].n}
	return r.size(both.rate(), c.Effect), nil
}
