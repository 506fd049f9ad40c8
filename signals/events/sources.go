package events

import "github.com/freshet/freshet/feed"

// homeSources are the sources of home, in the order of reports.
var homeSources = [...]feed.Source{feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery, feed.SourcePromoted}

// SourceRow is the figures of a source of home. They are among those of the whole variant.
type SourceRow struct {
	Source      string   `json:"source"` // following, trending, discovery or promoted
	Impressions int64    `json:"impressions"`
	Clicks      int64    `json:"clicks"`
	CTR         float64  `json:"ctr"`
	CTRInterval Interval `json:"ctr_interval"` // of 95 %, by Wilson
}

// sourceRows are the sources of which something was shown; nil: home was not read.
func sourceRows(counted map[string]Counts) (rows []SourceRow) {
	for _, s := range homeSources {
		if n, k := counted[s.String()].Impressions, counted[s.String()].Clicks; n > 0 {
			rows = append(rows, SourceRow{Source: s.String(), Impressions: n, Clicks: k, CTR: proportion(k, n), CTRInterval: Wilson(k, n)})
		}
	}
	return rows
}
