package repair

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
	timelineredis "github.com/freshet/freshet/social/timeline/redis"
)

const (
	// stampsEvery is the pause between two checks of the stamps of the lists.
	stampsEvery = time.Second
	// stampsTimeout is the time limit of a check.
	stampsTimeout = time.Second
	// retainedFor is the age up to which the queue still has the completed jobs, less a margin for the
	// clock differences of servers and for the time that redelivery takes.
	retainedFor = jobs.CompletedTTL - 4*time.Minute
	// ahead is the tolerance for stamps in the future, because servers' clocks differ.
	ahead = 2 * time.Minute
)

// Redeliver delivers again what lists may lack since a time, and returns the number of jobs for that.
type Redeliver func(ctx context.Context, since time.Time) (int, error)

// DataCheck detects that the Redis of the lists has other data than before, which may lack
// deliveries: after a failover, a restart, or the restore of a snapshot. It delivers them again, or
// if it is unknown what is missing, drops the lists, which are then rebuilt.
type DataCheck struct {
	stamps       *timelineredis.Stamps
	redeliver    Redeliver
	completeness *Completeness
	clock        feed.Clock
	log          *slog.Logger

	mu    sync.Mutex
	known map[string]string // stamp → the data that this process knows to be right
	found []timelineredis.Stamp
	// refused means that Redis answers, but refuses to read the stamps.
	refused bool
}

// NewDataCheck returns a DataCheck that reports to c. From then on c counts no lists as
// complete before they were checked.
func NewDataCheck(stamps *timelineredis.Stamps, redeliver Redeliver, c *Completeness, clock feed.Clock, log *slog.Logger) *DataCheck {
	c.checksData = true
	return &DataCheck{stamps: stamps, redeliver: redeliver, completeness: c, clock: clock, log: log, known: map[string]string{}}
}

// Check finds data that is not known to be right. It is fast; repair does the repair.
func (r *DataCheck) Check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	began := r.completeness.outageCount()
	list, err := r.stamps.Look(ctx, r.clock())
	down := errors.Is(err, timeline.ErrUnavailable)
	refused := err != nil && !down && ctx.Err() == nil
	if refused && !r.refused {
		r.log.WarnContext(ctx, "the stamps of lists cannot be read, so outdated lists of a restored Redis are not detected; permit the Redis user to run scripts and INFO", "error", err)
	}
	r.refused = refused
	if down {
		r.completeness.Unreachable()
	}
	r.found = r.found[:0]
	for _, st := range list {
		if r.known[st.Key] == "" && st.Of == st.Data {
			r.known[st.Key] = st.Data // this process has not written to other data
		}
		if r.known[st.Key] != st.Data || st.Of != st.Data {
			r.found = append(r.found, st)
		}
	}
	if len(r.found) > 0 {
		r.completeness.markReplaced()
	} else if err == nil || refused {
		r.completeness.confirmData(began)
	}
}

// repair repairs the lists on the data that Check has found.
func (r *DataCheck) repair(ctx context.Context) {
	r.mu.Lock()
	found := slices.Clone(r.found)
	r.mu.Unlock()
	if len(found) == 0 {
		return
	}
	if err := r.repairAll(ctx, found); err != nil {
		if ctx.Err() == nil {
			r.log.WarnContext(ctx, "Redis has other list data than before, which cannot be repaired yet; timelines are read from the social store", "error", err)
		}
		return
	}
	r.Check(ctx) // lists are trusted once nothing is found
}

func (r *DataCheck) repairAll(ctx context.Context, found []timelineredis.Stamp) error {
	now := r.clock()
	var unknown []timelineredis.Stamp
	since := now
	for _, st := range found {
		switch from := r.missingSince(st); {
		case from.IsZero() || from.Before(now.Add(-retainedFor)) || from.After(now.Add(ahead)):
			unknown = append(unknown, st)
		case from.Before(since):
			since = from
		}
	}
	if len(unknown) > 0 {
		n, err := r.stamps.DropLists(ctx, unknown)
		if err != nil {
			return err
		}
		if n > 0 { // a new installation has no lists
			r.log.WarnContext(ctx, "Redis has lists with unknown gaps: they are dropped, and rebuilt when they are read", "lists", n)
		}
	}
	if len(unknown) < len(found) {
		n, err := r.redeliver(ctx, since)
		if err != nil {
			return err
		}
		r.log.WarnContext(ctx, "Redis may lack recent deliveries to lists: they are repeated", "since", since, "jobs", n)
		r.completeness.markRedelivery()
	}
	adopted, err := r.stamps.Adopt(ctx, now, found)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, st := range adopted {
		r.known[st.Key] = st.Data
	}
	return err
}

// missingSince returns the time since which writes may be missing from the data, or zero if it is
// unknown.
func (r *DataCheck) missingSince(st timelineredis.Stamp) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case st.Of == st.Data:
		return st.Since // another process has adopted the data; this one wrote elsewhere until now
	case st.Of == "" && r.known[st.Key] == st.Data:
		return r.clock() // keys were evicted or deleted; missing lists are rebuilt
	}
	return st.At
}

// Begin checks the lists and repairs them, within a short time limit: lists that are not known to
// be right are not read.
func (r *DataCheck) Begin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	r.Check(ctx)
	r.repair(ctx)
}

// Run checks and repairs periodically until ctx ends.
func (r *DataCheck) Run(ctx context.Context) {
	for range periodic.Every(ctx, stampsEvery) {
		r.Check(ctx)
		r.repair(ctx)
	}
}
