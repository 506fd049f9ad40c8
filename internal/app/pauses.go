package app

import (
	"time"

	"github.com/freshet/freshet/configs"
)

const (
	// noteEvery is the pause between two looks at the servers' notes.
	noteEvery = time.Second
	// spoolEvery is the pause between two tries to record what waits on disk.
	spoolEvery = time.Second
	// warmUpEvery is the pause between two tries to begin with Elasticsearch.
	warmUpEvery = time.Second
	// watchEvery is the pause between two looks at the services for the metrics.
	watchEvery = 5 * time.Second
)

// pauses are how long the work beside requests waits. Tests that wait for that work
// shorten them.
type pauses struct {
	settle time.Duration // before what was recorded is no longer pending: dedup.pending_grace
	notes  time.Duration
	spool  time.Duration
	warmUp time.Duration
	watch  time.Duration
}

func newPauses(cfg configs.Config) pauses {
	return pauses{settle: cfg.Dedup.PendingGrace, notes: noteEvery, spool: spoolEvery, warmUp: warmUpEvery, watch: watchEvery}
}
