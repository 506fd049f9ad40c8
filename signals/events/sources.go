package events

import (
	"strings"

	"github.com/freshet/freshet/feed"
)

// homeSources are the sources of home, in the order of reports.
var homeSources = [...]feed.Source{feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery, feed.SourcePromoted}

// SourceCounts are the counts of a source of home.
type SourceCounts struct{ Impressions, Clicks int64 }

// The names that stores count a source of home under are these before its own.
const (
	sourceShown   = "source:"
	sourceClicked = "source_click:"
)

// SourceField is the name that stores count the impressions of a source under.
func SourceField(s feed.Source) string { return sourceShown + s.String() }

// SourceField is the name that stores count a click under, beside that of all clicks; ""
// for what no source of home has shown.
func (a *Act) SourceField() string {
	if a.Kind != Click || a.Source == feed.SourceScore {
		return ""
	}
	return sourceClicked + a.Source.String()
}

// AddSource adds what stores have counted under a name; false: it is not the name of
// anything about a source.
func (t *Totals) AddSource(field string, n int64) bool {
	var c SourceCounts
	prefix, name, found := strings.Cut(field, ":")
	switch prefix + ":" {
	case sourceShown:
		c.Impressions = n
	case sourceClicked:
		c.Clicks = n
	default:
		found = false
	}
	if !found {
		return false
	}
	if t.Sources == nil {
		t.Sources = map[string]SourceCounts{}
	}
	sum := t.Sources[name]
	t.Sources[name] = SourceCounts{sum.Impressions + c.Impressions, sum.Clicks + c.Clicks}
	return true
}

// SourceRow is the figures of a source of home. They are among those of the whole variant.
type SourceRow struct {
	Source      string   `json:"source"` // following, trending, discovery or promoted
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`
	CTRInterval Interval `json:"ctr_interval"` // of 95 %, by Wilson
}

// sourceRows are the sources of which something was shown; nil: home was not read.
func sourceRows(counted map[string]SourceCounts) (rows []SourceRow) {
	for _, s := range homeSources {
		if n, k := counted[s.String()].Impressions, counted[s.String()].Clicks; n > 0 {
			rows = append(rows, SourceRow{Source: s.String(), Impressions: n, Clicks: k, CTR: proportion(k, n), CTRInterval: Wilson(k, n)})
		}
	}
	return rows
}
