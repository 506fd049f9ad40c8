package events

import (
	"iter"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
)

// The names that stores count under, beside the kinds of events. Behind those that end
// with a colon is the id of a promotion or the name of a source of home, and behind that of
// ages the number of a bucket.
const (
	ExploredField       = "explored"
	ExploredClicksField = "explored_clicks"

	impressionsField = "impressions"
	ageField         = "a"
	promotedShown    = "promoted:"
	promotedClicked  = "promoted_click:"
	promotedLiked    = "promoted_like:"
	sourceShown      = "source:"
	sourceClicked    = "source_click:"
)

// Field is the name that stores count it under.
func (p Promoted) Field() string { return promotedShown + p.Promotion }

// Field is the name that stores count it under.
func (a PromotedAct) Field() string {
	if a.Kind == Like {
		return promotedLiked + a.Promotion
	}
	return promotedClicked + a.Promotion
}

// SourceField is the name that stores count a click under, beside that of all clicks; ""
// for what no source of home has shown.
func (a *Act) SourceField() string {
	if a.Kind != Click || a.Source == feed.SourceScore {
		return ""
	}
	return sourceClicked + a.Source.String()
}

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
	prefix, of, _ := strings.Cut(field, ":")
	switch prefix + ":" {
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
	switch field {
	case impressionsField:
		t.Impressions += n
	case ExploredField:
		t.Explored += n
	case ExploredClicksField:
		t.ExploredClicks += n
	}
	if kind, err := ParseKind(field); err == nil {
		*t.Of(kind) += n
	} else if bucket, ok := strings.CutPrefix(field, ageField); ok {
		if i, err := strconv.Atoi(bucket); err == nil && i >= 0 && i < AgeBuckets {
			t.Ages[i] += n
		}
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
