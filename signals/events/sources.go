package events

import (
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// homeSources are the sources of home, in the order of reports.
var homeSources = [...]feed.Source{feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery, feed.SourcePromoted}

// sourceRows are the sources of which something was shown; nil: home was not read.
func sourceRows(counted map[string]Counts) (rows []api.ReportSource) {
	for _, s := range homeSources {
		if n, k := counted[s.String()].Impressions, counted[s.String()].Clicks; n > 0 {
			rows = append(rows, api.ReportSource{Source: s.String(), Shown: shown(n, k)})
		}
	}
	return rows
}
