package events

import (
	"iter"
	"strconv"
	"strings"
)

// Names of counts in stores, in addition to the kinds of acts. Names ending with a colon are
// followed by the id of a promotion or the name of a source of home, the name of ages by the number
// of a bucket.
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
)

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
