package app

import (
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/itemindex"
)

// pauses are how long the work in the background waits. Tests that wait for that work
// shorten them.
type pauses struct {
	settle time.Duration // before what was recorded is no longer pending
	notes  time.Duration // between two looks at the servers' notes
	spool  time.Duration // between two tries to record what waits on disk
	index  itemindex.Pauses
	watch  time.Duration // between two looks at the services for the metrics
}

func newPauses(cfg configs.Config) pauses {
	return pauses{
		settle: cfg.PendingGrace(), notes: time.Second, spool: time.Second, watch: 5 * time.Second,
		index: itemindex.Pauses{WarmUp: time.Second, Standby: time.Minute, Mapping: 5 * time.Second},
	}
}
