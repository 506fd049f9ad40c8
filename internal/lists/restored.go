package lists

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
	redislists "github.com/freshet/freshet/social/timeline/redis"
)

const (
	// stampsEvery is the pause between two looks at the stamps of the lists.
	stampsEvery = time.Second
	// stampsTimeout is the longest a look may take.
	stampsTimeout = time.Second
	// knownFor is how far back the queue knows what was delivered, with a margin for the
	// clocks of servers and for how long it takes to make it again.
	knownFor = jobs.CompletedLives - 4*time.Minute
	// ahead is how far a stamp may lie ahead, because servers' clocks differ.
	ahead = 2 * time.Minute
)

// Lost has delivered again what lists may lack since a moment, and returns how many jobs
// that takes.
type Lost func(ctx context.Context, since time.Time) (int, error)

// Restored notices that the Redis of the lists has other data than before, which may lack what was
// delivered: after a failover, a restart, or from a snapshot. It has that delivered again, or
// where it is not known what is lacking drops the lists, to be built again.
type Restored struct {
	stamps *redislists.Stamps
	lost   Lost
	late   *Late
	clock  feed.Clock
	log    *slog.Logger

	mu    sync.Mutex
	known map[string]string // stamp → the data this process knows to be right
	found []redislists.Stamp
	// refused says that Redis answers, but not what the stamps are.
	refused bool
}

// NewRestored returns what makes lists right that a Redis brings back, and tells late of
// them, which from now on trusts no lists before they were looked at.
func NewRestored(stamps *redislists.Stamps, lost Lost, late *Late, clock feed.Clock, log *slog.Logger) *Restored {
	late.watched = true
	return &Restored{stamps: stamps, lost: lost, late: late, clock: clock, log: log, known: map[string]string{}}
}

// Look finds data that is not known to be right. It is quick: to make it right is for repair.
func (r *Restored) Look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	began := r.late.doubts()
	list, err := r.stamps.Look(ctx, r.clock())
	down := errors.Is(err, timeline.ErrUnavailable)
	refused := err != nil && !down && ctx.Err() == nil
	if refused && !r.refused {
		r.log.WarnContext(ctx, "the stamps of lists cannot be read, so lists that a restored Redis brings back are taken as they are; let the user of Redis run scripts and INFO", "error", err)
	}
	r.refused = refused
	if down {
		r.late.Note()
	}
	r.found = r.found[:0]
	for _, st := range list {
		if r.known[st.Key] == "" && st.Of == st.Data {
			r.known[st.Key] = st.Data // this process has written nothing to any other
		}
		if r.known[st.Key] != st.Data || st.Of != st.Data {
			r.found = append(r.found, st)
		}
	}
	if len(r.found) > 0 {
		r.late.hold()
	} else if err == nil || refused {
		r.late.trust(began)
	}
}

// repair makes lists right on the data that look has found.
func (r *Restored) repair(ctx context.Context) {
	r.mu.Lock()
	found := slices.Clone(r.found)
	r.mu.Unlock()
	if len(found) == 0 {
		return
	}
	if err := r.repairAll(ctx, found); err != nil {
		if ctx.Err() == nil {
			r.log.WarnContext(ctx, "the lists are another Redis' than before, and cannot be repaired yet; the social store answers", "error", err)
		}
		return
	}
	r.Look(ctx) // lists are trusted when nothing is found any more
}

func (r *Restored) repairAll(ctx context.Context, found []redislists.Stamp) error {
	now := r.clock()
	var unknown []redislists.Stamp
	since := now
	for _, st := range found {
		switch from := r.lacksSince(st); {
		case from.IsZero() || from.Before(now.Add(-knownFor)) || from.After(now.Add(ahead)):
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
		if n > 0 { // a new installation has none
			r.log.WarnContext(ctx, "Redis has lists of which it is not known what they lack: they are dropped, and built as they are read", "lists", n)
		}
	}
	if len(unknown) < len(found) {
		n, err := r.lost(ctx, since)
		if err != nil {
			return err
		}
		r.log.WarnContext(ctx, "Redis may lack what was delivered to lists lately: it is delivered again", "since", since, "jobs", n)
		r.late.again()
	}
	adopted, err := r.stamps.Adopt(ctx, now, found)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, st := range adopted {
		r.known[st.Key] = st.Data
	}
	return err
}

// lacksSince is since when writes may be missing from data; zero: it is not known.
func (r *Restored) lacksSince(st redislists.Stamp) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case st.Of == st.Data:
		return st.Since // somebody else has noticed; this process wrote elsewhere until now
	case st.Of == "" && r.known[st.Key] == st.Data:
		return r.clock() // keys were taken away; what is gone is built again
	}
	return st.At
}

// Begin makes right what this process finds, as far as that is done soon: lists that
// are not known to be right are not read.
func (r *Restored) Begin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	r.Look(ctx)
	r.repair(ctx)
}

// Run looks and repairs until ctx ends.
func (r *Restored) Run(ctx context.Context) {
	repeat.Every(ctx, stampsEvery, func(ctx context.Context) {
		r.Look(ctx)
		r.repair(ctx)
	})
}
