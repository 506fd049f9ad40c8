package events

import (
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// MaxReportDays bounds a report: older days are not kept.
const MaxReportDays = KeepDays

// Verdicts on a difference.
const (
	Significant    = "significant"     // p < [Significance]
	NotSignificant = "not significant" // the variants may well be alike
	TooFew         = "too few"         // see [Enough]: not tested
)

// NewReport makes the report of the days from and to and those between: a row
// for each variant that is live or was counted.
func NewReport(live *feed.Live, counted []Totals, from, to feed.Day) api.Report {
	r := api.Report{From: from.String(), To: to.String(), Days: int(to-from) + 1, Promotions: promotedRows(counted)}
	shares := map[string]float64{feed.Control: 1}
	names := []string{feed.Control}
	for _, v := range live.Variants {
		shares[v.Name] = v.Share
		shares[feed.Control] -= v.Share
		names = append(names, v.Name)
	}
	// What is left of 1 by subtraction is a whole number of buckets.
	shares[feed.Control] = math.Round(shares[feed.Control]*feed.Buckets) / feed.Buckets
	totals := map[string]*Totals{}
	for i := range counted {
		t := &counted[i]
		totals[t.Variant] = t
		if _, known := shares[t.Variant]; !known {
			names = append(names, t.Variant)
		}
	}
	slices.Sort(names[1:])
	control := totals[feed.Control]
	if control == nil {
		control = &Totals{}
	}
	for i, name := range names {
		share, isLive := shares[name]
		row := api.ReportRow{Name: name, Live: isLive, Share: share}
		t := totals[name]
		if t == nil {
			t = &Totals{}
		}
		fillRow(&row, t)
		if i > 0 {
			row.Difference = compare(t, control)
		}
		r.Variants = append(r.Variants, row)
	}
	return r
}

func fillRow(row *api.ReportRow, t *Totals) {
	row.Shown = shown(t.Impressions, t.Clicks)
	row.Likes, row.Dislikes, row.Hides = t.Likes, t.Dislikes, t.Hides
	row.Authors, row.Agents = t.Authors, t.Agents
	if n := t.Explored; n > 0 {
		explored := shown(n, t.ExploredClicks)
		row.Explored = &explored
	}
	row.Sources = sourceRows(t.Sources)
	if median, ok := t.Ages.Median(); ok {
		median = math.Round(median)
		row.MedianAge = &median
	}
}

func compare(t, control *Totals) *api.ReportDifference {
	k1, n1, k2, n2 := t.Clicks, t.Impressions, control.Clicks, control.Impressions
	d := &api.ReportDifference{
		CTR:      proportion(k1, n1) - proportion(k2, n2),
		Interval: DifferenceInterval(k1, n1, k2, n2), Verdict: TooFew,
	}
	if !Enough(k1, n1, k2, n2) {
		return d
	}
	_, p := TwoProportions(k1, n1, k2, n2)
	d.P, d.Verdict = &p, NotSignificant
	if p < Significance {
		d.Verdict = Significant
	}
	return d
}
