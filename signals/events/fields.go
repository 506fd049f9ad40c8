package events

import (
	"iter"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Names of counts in stores, in addition to the kinds of acts. Names ending with a colon are
// followed by the id of a promotion, the name of a source of home or the index of a range of
// positions, the name of ages by the number of a bucket.
const (
	impressionsField = "impressions"
	ageField         = "a"
	exploredShown    = "explored"
	exploredClicks   = "explored_clicks"
	promotedShown    = "promoted:"
	promotedClicked  = "promoted_click:"
	promotedLiked    = "promoted_like:"
	sourceShown      = "source:"
	sourceClicked    = "source_click:"
	positionShown    = "position:"
	positionClicked  = "position_click:"
)

// PositionRanges holds the first position of each range of positions by which impressions and clicks
// of an experiment are counted. Positions count from 1, over the pages of a session.
var PositionRanges = [...]int{1, 2, 3, 4, 6, 11, 21, 51}

// rangeOf returns the index of a position's range.
func rangeOf(position int) int {
	i := len(PositionRanges) - 1
	for PositionRanges[i] > position {
		i--
	}
	return i
}

// AtPositions returns the impressions and clicks of a range of positions.
func (t *Totals) AtPositions(index int) (impressions, clicks int64) {
	i := strconv.Itoa(index)
	return t.Counts[positionShown+i], t.Counts[positionClicked+i]
}

// Counts yields the batch's unconditional additions and the names of their counts.
func (b *Batch) Counts() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		if b.Impressions > 0 && !yield(impressionsField, b.Impressions) {
			return
		}
		for i, n := range b.Ages {
			if n > 0 && !yield(ageField+strconv.Itoa(i), n) {
				return
			}
		}
		for source, n := range b.Sources {
			if !yield(sourceShown+source.String(), n) {
				return
			}
		}
		for i, n := range b.Positions {
			if !yield(positionShown+strconv.Itoa(i), n) {
				return
			}
		}
	}
}

// Add adds a count that a store has under a name.
func (t *Totals) Add(field string, n int64) {
	if bucket, ok := strings.CutPrefix(field, ageField); ok {
		if i, err := strconv.Atoi(bucket); err == nil && i >= 0 && i < AgeBuckets {
			t.Ages[i] += n
		}
		return
	}
	if t.Counts == nil {
		t.Counts = map[string]int64{}
	}
	t.Counts[field] += n
}

// Impressions returns the number of impressions.
func (t *Totals) Impressions() int64 { return t.Counts[impressionsField] }

// Explored returns the impressions and clicks of exploration.
func (t *Totals) Explored() (impressions, clicks int64) {
	return t.Counts[exploredShown], t.Counts[exploredClicks]
}

// OfSource returns the impressions and clicks of a source of home.
func (t *Totals) OfSource(s feed.Source) (impressions, clicks int64) {
	return t.Counts[sourceShown+s.String()], t.Counts[sourceClicked+s.String()]
}

// PromotedCounts holds the counts of a promotion.
type PromotedCounts struct{ Shown, Clicks, Likes int64 }

// Plus returns the sum of two counts.
func (p PromotedCounts) Plus(o PromotedCounts) PromotedCounts {
	return PromotedCounts{p.Shown + o.Shown, p.Clicks + o.Clicks, p.Likes + o.Likes}
}

// Promoted returns the counts of each promotion, by id.
func (t *Totals) Promoted() map[string]PromotedCounts {
	all := map[string]PromotedCounts{}
	for field, n := range t.Counts {
		for prefix, counts := range map[string]PromotedCounts{promotedShown: {Shown: n}, promotedClicked: {Clicks: n}, promotedLiked: {Likes: n}} {
			id, ok := strings.CutPrefix(field, prefix)
			if ok {
				all[id] = all[id].Plus(counts)
			}
		}
	}
	return all
}
