package app

import (
	"time"

	"github.com/freshet/freshet/configs"
)

// pauses are how long the work in the background waits. Tests that wait for that work
// shorten them.
type pauses struct {
	settle time.Duration // before what was recorded is no longer pending
	notes  time.Duration // between two looks at the servers' notes
	spool  time.Duration // between two tries to record what waits on disk
	warmUp time.Duration // between two tries to begin with Elasticsearch, or to recall what it refused
	// standby is the pause between two renewals of the list that stands in while
	// Elasticsearch is down.
	standby time.Duration
	watch   time.Duration // between two looks at the services for the metrics
	mapping time.Duration // between two looks at the mapping of the index
}

func newPauses(cfg configs.Config) pauses {
	return pauses{
		settle: cfg.PendingGrace(), notes: time.Second, spool: time.Second, warmUp: time.Second, standby: time.Minute, watch: 5 * time.Second, mapping: 5 * time.Second,
	}
}
