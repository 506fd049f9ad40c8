package events

import (
	"iter"
	"strconv"
	"strings"
)

// The names that stores count under, beside the kinds of acts. Behind those that end with a
// colon is the id of a promotion or the name of a source of home, and behind that of ages the
// number of a bucket.
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

// Counts yields what the batch adds whatever was counted before, and the names to count it
// under.
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

// Add adds what a store has counted under a name. One that a newer version wrote is left
// out.
func (t *Totals) Add(field string, n int64) {
	if bucket, ok := strings.CutPrefix(field, ageField); ok {
		if i, err := strconv.Atoi(bucket); err == nil && i >= 0 && i < AgeBuckets {
			t.Ages[i] += n
		}
		return
	}
	name, of, several := strings.Cut(field, ":")
	if several {
		name += ":"
	}
	switch name {
	case impressionsField:
		t.Impressions += n
	case exploredShown:
		t.Explored += n
	case exploredClicks:
		t.ExploredClicks += n
	case string(Click):
		t.Clicks += n
	case string(Like):
		t.Likes += n
	case string(Dislike):
		t.Dislikes += n
	case string(Hide):
		t.Hides += n
	case promotedShown:
		addTo(&t.Promoted, of, Counts{Impressions: n})
	case promotedClicked:
		addTo(&t.Promoted, of, Counts{Clicks: n})
	case promotedLiked:
		addTo(&t.Promoted, of, Counts{Likes: n})
	case sourceShown:
		addTo(&t.Sources, of, Counts{Impressions: n})
	case sourceClicked:
		addTo(&t.Sources, of, Counts{Clicks: n})
	}
}

// Counts are those of a promotion or of a source of home; the likes of a source are not
// counted.
type Counts struct{ Impressions, Clicks, Likes int64 }

func (c Counts) plus(d Counts) Counts {
	return Counts{c.Impressions + d.Impressions, c.Clicks + d.Clicks, c.Likes + d.Likes}
}

func addTo(counts *map[string]Counts, of string, c Counts) {
	if *counts == nil {
		*counts = map[string]Counts{}
	}
	(*counts)[of] = (*counts)[of].plus(c)
}
