package events

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// MaxReportDays bounds the days of a report: older counts are not stored.
const MaxReportDays = KeepDays

// Verdicts on a difference.
const (
	Significant    = "significant"     // p < [Significance]
	NotSignificant = "not significant" // the variants may well be equal
	TooFew         = "too few"         // not tested, see [Enough]
)

// NewReport returns the report of the days from and to and those between: a row for each variant
// that is live or was counted. Counts of earlier runs of a variant name are omitted.
func NewReport(live *feed.Live, counted []Totals, from, to feed.Day) api.Report {
	r := api.Report{From: from.String(), To: to.String(), Days: int(to-from) + 1, Promotions: promotedRows(counted)}
	shares := map[string]float64{feed.Control: 1}
	names := []string{feed.Control}
	for _, v := range live.Variants {
		shares[v.Name] = v.Share
		shares[feed.Control] -= v.Share
		names = append(names, v.Name)
	}
	// The result of the subtractions from 1 is a whole number of buckets.
	shares[feed.Control] = math.Round(shares[feed.Control]*feed.Buckets) / feed.Buckets
	totals := totalsOf(live, counted)
	for name := range totals {
		_, known := shares[name]
		if !known {
			names = append(names, name)
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

// totalsOf returns each variant's totals by name: those of the current run, or of the last one if
// it has ended.
func totalsOf(live *feed.Live, counted []Totals) map[string]*Totals {
	totals, latest := map[string]*Totals{}, map[string]int{}
	for i := range counted {
		t := &counted[i]
		name, version := feed.VariantOf(t.Variant)
		v, runs := live.Variant(name)
		if runs && t.Variant != cmp.Or(v.Run, v.Name) || version < latest[name] {
			continue
		}
		totals[name], latest[name] = t, version
	}
	return totals
}

func fillRow(row *api.ReportRow, t *Totals) {
	of := func(kind Kind) int64 { return t.Counts[string(kind)] }
	row.Shown = shown(t.Counts[impressionsField], of(Click))
	row.Likes, row.Dislikes, row.Hides = of(Like), of(Dislike), of(Hide)
	row.Authors, row.Agents = t.Authors, t.Agents
	n := t.Counts[exploredShown]
	if n > 0 {
		explored := shown(n, t.Counts[exploredClicks])
		row.Explored = &explored
	}
	row.Sources = sourceRows(t.Counts)
	if median, ok := t.Ages.Median(); ok {
		median = math.Round(median)
		row.MedianAge = &median
	}
}

func compare(t, control *Totals) *api.ReportDifference {
	k1, n1 := t.Counts[string(Click)], t.Counts[impressionsField]
	k2, n2 := control.Counts[string(Click)], control.Counts[impressionsField]
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

// homeSources lists the sources of home, in the order of reports.
var homeSources = [...]feed.Source{feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery, feed.SourcePromoted}

// sourceRows returns rows for the sources with impressions; nil if home was not read.
func sourceRows(counts map[string]int64) (rows []api.ReportSource) {
	for _, s := range homeSources {
		n, k := counts[sourceShown+s.String()], counts[sourceClicked+s.String()]
		if n > 0 {
			rows = append(rows, api.ReportSource{Source: s.String(), Shown: shown(n, k)})
		}
	}
	return rows
}

// promotedRows sums the counts of promotions, sorted by id.
func promotedRows(counted []Totals) (rows []api.ReportPromotion) {
	sums := map[string]int64{}
	ids := map[string]bool{}
	for i := range counted {
		for field, n := range counted[i].Counts {
			kind, id, of := strings.Cut(field, ":")
			if of && strings.HasPrefix(kind, "promoted") {
				ids[id] = true
				sums[field] += n
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		rows = append(rows, api.ReportPromotion{ID: id, Shown: shown(sums[promotedShown+id], sums[promotedClicked+id]), Likes: sums[promotedLiked+id]})
	}
	return rows
}
