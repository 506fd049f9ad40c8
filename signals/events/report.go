package events

import (
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
)

// MaxReportDays bounds a report: older days are not kept.
const MaxReportDays = KeepDays

// Verdicts on a difference.
const (
	Significant    = "significant"     // p < [Significance]
	NotSignificant = "not significant" // the variants may well be alike
	TooFew         = "too few"         // see [Enough]: not tested
)

// Report compares the variants of the ranking over some days.
type Report struct {
	From     string `json:"from"` // first day, YYYYMMDD, UTC
	To       string `json:"to"`   // last day
	Days     int    `json:"days"`
	Variants []Row  `json:"variants"` // control first, then by name
	// Promotions has those that were shown, or acted on, by id; nil where none was.
	Promotions []PromotedRow `json:"promotions,omitempty"`
}

// Row is one variant's figures.
type Row struct {
	Name        string   `json:"name"`
	Live        bool     `json:"live"`  // agents are in it now
	Share       float64  `json:"share"` // of all agents, now
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`          // clicks per impression; 0 of nothing
	CTRInterval Interval `json:"ctr_interval"` // of 95 %, by Wilson
	Likes       int64    `json:"likes"`
	Dislikes    int64    `json:"dislikes"`
	Hides       int64    `json:"hides"`
	// MedianAge is that of the items shown, in seconds, within 9.1 %; null where
	// nothing was shown.
	MedianAge *float64 `json:"median_age_seconds"`
	Authors   int64    `json:"authors"` // different ones, within about 1 %
	Agents    int64    `json:"agents"`  // the same
	// Explored is the part of it that exploration has shown; nil where there is none.
	Explored *Explored `json:"explored,omitempty"`
	// Sources has what of it home has shown, by the source that gave it; nil where that is
	// nothing.
	Sources []SourceRow `json:"sources,omitempty"`
	// Difference is the comparison with control; null for control itself.
	Difference *Difference `json:"difference"`
}

// Explored is the figures of the positions of a variant that exploration gave. They
// are among those of the whole variant.
type Explored struct {
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`
	CTRInterval Interval `json:"ctr_interval"` // of 95 %, by Wilson
}

// Difference compares a variant's click-through rate with control's.
//
// The test takes impressions for independent of each other, which those of one
// reader are not quite. So a p-value just below 0.05 means less than it says,
// the more so the fewer agents there are.
type Difference struct {
	CTR      float64  `json:"ctr"`      // the variant's rate less control's
	Interval Interval `json:"interval"` // of 95 %, by Newcombe
	P        *float64 `json:"p"`        // two-sided; null where the verdict is [TooFew]
	Verdict  string   `json:"verdict"`  // [Significant], [NotSignificant] or [TooFew]
}

// NewReport makes the report of the days from and to and those between: a row
// for each variant that is live or was counted.
func NewReport(live *feed.Live, counted []Totals, from, to feed.Day) Report {
	r := Report{From: from.String(), To: to.String(), Days: int(to-from) + 1, Promotions: promotedRows(counted)}
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
		row := Row{Name: name, Live: isLive, Share: share}
		t := totals[name]
		if t == nil {
			t = &Totals{}
		}
		row.fill(t)
		if i > 0 {
			row.Difference = compare(t, control)
		}
		r.Variants = append(r.Variants, row)
	}
	return r
}

func (row *Row) fill(t *Totals) {
	row.Impressions, row.Clicks, row.Likes, row.Dislikes, row.Hides = t.Impressions, t.Clicks, t.Likes, t.Dislikes, t.Hides
	row.Authors, row.Agents = t.Authors, t.Agents
	row.CTR, row.CTRInterval = proportion(t.Clicks, t.Impressions), Wilson(t.Clicks, t.Impressions)
	if n, k := t.Explored, t.ExploredClicks; n > 0 {
		row.Explored = &Explored{Impressions: n, Clicks: k, CTR: proportion(k, n), CTRInterval: Wilson(k, n)}
	}
	row.Sources = sourceRows(t.Sources)
	if median, ok := t.Ages.Median(); ok {
		median = math.Round(median)
		row.MedianAge = &median
	}
}

func compare(t, control *Totals) *Difference {
	k1, n1, k2, n2 := t.Clicks, t.Impressions, control.Clicks, control.Impressions
	d := &Difference{
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
