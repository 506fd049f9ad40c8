package experiment

import (
	"maps"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// MaxReportDays bounds the days of a report: older counts are not stored.
const MaxReportDays = events.KeepDays

// Verdicts on a difference.
const (
	Significant    = "significant"     // p < [Significance]
	NotSignificant = "not significant" // the variants may well be equal
	TooFew         = "too few"         // not tested, see [MinReaders] and [MinBuckets]
	Unbalanced     = "unbalanced"      // p < [Imbalance] for the numbers of readers
)

// Counts holds the counts that a report compares.
type Counts struct {
	Live    *feed.Live
	Totals  []events.Totals // of the days From to To
	From    feed.Day
	To      feed.Day
	Effect  float64 // of [api.ReportSize], as a part of the rate
	Cells   func(runs []string, columns []events.Column, from, to feed.Day) ([]events.DayCells, error)
	Readers func(runs []string) (n []int64, part float64, err error)
	// Began returns a version of the ranking, or [feed.ErrNotFound]. Its experiments' runs began with it.
	Began func(version int) (*feed.Live, error)
}

// Report returns a row for each variant that is live or was counted from From to To.
func (c *Counts) Report() (api.Report, error) {
	r := api.Report{From: c.From.String(), To: c.To.String(), Days: int(c.To-c.From) + 1, Promotions: promotedRows(c.Totals)}
	for i, name := range c.names() {
		row := c.row(name)
		if i > 0 {
			d, err := c.difference(name, row.Version)
			if err != nil {
				return api.Report{}, err
			}
			row.Difference = d
		}
		r.Variants = append(r.Variants, row)
	}
	if c.Live.Experiments() {
		return r, nil
	}
	size, err := c.plan()
	r.Size = size
	return r, err
}

// names returns the names of the rows: control first, then the others in order.
func (c *Counts) names() []string {
	names := []string{feed.Control}
	for _, v := range c.Live.Variants {
		names = append(names, v.Name)
	}
	for _, t := range c.Totals {
		name, _ := feed.VariantOf(t.Variant)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	return names
}

// row returns the figures of the newest run of a name. An older run may be of other parameters, and of
// other hours.
func (c *Counts) row(name string) api.ReportRow {
	row := api.ReportRow{Name: name}
	newest := &events.Totals{}
	if name == feed.Control {
		row.Live, row.Share, row.Version = true, 1, version(c.Live.Run)
		for _, v := range c.Live.Variants {
			row.Share -= v.Share
		}
		// The result of the subtractions from 1 is a whole number of buckets.
		row.Share = math.Round(row.Share*feed.Buckets) / feed.Buckets
	} else if v, live := c.Live.Variant(name); live {
		row.Live, row.Share, row.Version = true, v.Share, version(v.Run)
	} else {
		row.Version = -1
	}
	runs := c.runs(name)
	if row.Version < 0 {
		row.Version = version(runs[0].Variant)
	}
	for _, t := range runs {
		v := version(t.Variant)
		switch {
		case v == row.Version:
			newest = t
		case v < row.Version:
			row.Earlier = append(row.Earlier, api.ReportRun{Version: v, Shown: shown(t.Impressions(), t.Counts[string(events.Click)])})
		}
	}
	fillRow(&row, newest)
	return row
}

// runs returns the counted runs of a name, newest first.
func (c *Counts) runs(name string) (runs []*events.Totals) {
	for i := range c.Totals {
		of, _ := feed.VariantOf(c.Totals[i].Variant)
		if of == name {
			runs = append(runs, &c.Totals[i])
		}
	}
	slices.SortFunc(runs, func(a, b *events.Totals) int { return version(b.Variant) - version(a.Variant) })
	return runs
}

func version(run string) int {
	_, v := feed.VariantOf(run)
	return v
}

func fillRow(row *api.ReportRow, t *events.Totals) {
	of := func(kind events.Kind) int64 { return t.Counts[string(kind)] }
	row.Shown = shown(t.Impressions(), of(events.Click))
	row.Likes, row.Dislikes, row.Hides = of(events.Like), of(events.Dislike), of(events.Hide)
	row.Authors, row.Agents = t.Authors, t.Agents
	n, k := t.Explored()
	if n > 0 {
		explored := shown(n, k)
		row.Explored = &explored
	}
	row.Sources = sourceRows(t)
	for i, from := range events.PositionRanges {
		n, k := t.AtPositions(i)
		if n == 0 {
			continue
		}
		to := 0
		if i+1 < len(events.PositionRanges) {
			to = events.PositionRanges[i+1] - 1
		}
		row.Positions = append(row.Positions, api.ReportPosition{From: from, To: to, Shown: shown(n, k)})
	}
	if median, ok := t.Ages.Median(); ok {
		median = math.Round(median)
		row.MedianAge = &median
	}
}

// homeSources lists the sources of home, in the order of reports.
var homeSources = [...]feed.Source{feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery, feed.SourcePromoted}

// sourceRows returns rows for the sources with impressions; nil if home was not read.
func sourceRows(t *events.Totals) (rows []api.ReportSource) {
	for _, s := range homeSources {
		n, k := t.OfSource(s)
		if n > 0 {
			rows = append(rows, api.ReportSource{Source: s.String(), Shown: shown(n, k)})
		}
	}
	return rows
}

// promotedRows sums the counts of promotions, sorted by id.
func promotedRows(counted []events.Totals) (rows []api.ReportPromotion) {
	sums := map[string]events.PromotedCounts{}
	for i := range counted {
		for id, n := range counted[i].Promoted() {
			sums[id] = sums[id].Plus(n)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		n := sums[id]
		rows = append(rows, api.ReportPromotion{ID: id, Shown: shown(n.Shown, n.Clicks), Likes: n.Likes})
	}
	return rows
}
