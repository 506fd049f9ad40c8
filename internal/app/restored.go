package app

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

// restoreWatch notices that the Redis of the lists has other data than before, which may
// lack what was delivered: after a failover, a restart, or from a snapshot of
// yesterday. It has what was delivered since delivered again, or where that is not
// known ends the lists, to be built again. Meanwhile the social store answers.
type restoreWatch struct {
	stamps *redislists.Stamps
	lost   func(ctx context.Context, since time.Time) (int, error) // has it delivered again
	late   *late
	clock  feed.Clock
	log    *slog.Logger

	mu    sync.Mutex
	known map[string]string // stamp → the data this process knows to be right
	found []redislists.Stamp
	// refused says that Redis answers, but not what the stamps are.
	refused bool
}

// look finds data that is not known to be right. It is quick: to make it right is
// for repair.
func (w *restoreWatch) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	began := w.late.doubts()
	list, err := w.stamps.Look(ctx, w.clock())
	down := errors.Is(err, timeline.ErrUnavailable)
	refused := err != nil && !down && ctx.Err() == nil
	if refused && !w.refused {
		w.log.WarnContext(ctx, "the stamps of lists cannot be read, so lists that a restored Redis brings back are taken as they are; let the user of Redis run scripts and INFO", "error", err)
	}
	w.refused = refused
	if down {
		w.late.note()
	}
	w.found = w.found[:0]
	for _, st := range list {
		if w.known[st.Key] == "" && st.Of == st.Data {
			w.known[st.Key] = st.Data // this process has written nothing to any other
		}
		if w.known[st.Key] != st.Data || st.Of != st.Data {
			w.found = append(w.found, st)
		}
	}
	if len(w.found) > 0 {
		w.late.hold()
	} else if err == nil || refused {
		w.late.trust(began)
	}
}

// repair makes lists right on the data that look has found.
func (w *restoreWatch) repair(ctx context.Context) {
	w.mu.Lock()
	found := slices.Clone(w.found)
	w.mu.Unlock()
	if len(found) == 0 {
		return
	}
	if err := w.repairAll(ctx, found); err != nil {
		if ctx.Err() == nil {
			w.log.WarnContext(ctx, "the lists are another Redis' than before, and cannot be repaired yet; the social store answers", "error", err)
		}
		return
	}
	w.look(ctx) // lists are trusted when nothing is found any more
}

func (w *restoreWatch) repairAll(ctx context.Context, found []redislists.Stamp) error {
	now := w.clock()
	var unknown []redislists.Stamp
	since := now
	for _, st := range found {
		switch from := w.lacksSince(st); {
		case from.IsZero() || from.Before(now.Add(-knownFor)) || from.After(now.Add(ahead)):
			unknown = append(unknown, st)
		case from.Before(since):
			since = from
		}
	}
	if len(unknown) > 0 {
		n, err := w.stamps.DropLists(ctx, unknown)
		if err != nil {
			return err
		}
		w.log.WarnContext(ctx, "Redis has lists of which it is not known what they lack: they are dropped, and built as they are read", "lists", n)
	}
	if len(unknown) < len(found) {
		n, err := w.lost(ctx, since)
		if err != nil {
			return err
		}
		w.log.WarnContext(ctx, "Redis may lack what was delivered to lists lately: it is delivered again", "since", since, "jobs", n)
		w.late.again()
	}
	return w.adopt(ctx, now, found)
}

// lacksSince is since when writes may be missing from data; zero: it is not known.
func (w *restoreWatch) lacksSince(st redislists.Stamp) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case st.Of == st.Data:
		return st.Since // somebody else has noticed; this process wrote elsewhere until now
	case st.Of == "" && w.known[st.Key] == st.Data:
		return w.clock() // keys were taken away; what is gone is built again
	}
	return st.At
}

func (w *restoreWatch) adopt(ctx context.Context, now time.Time, found []redislists.Stamp) error {
	var adopt []redislists.Stamp
	for _, st := range found {
		if st.Of != st.Data {
			adopt = append(adopt, st)
		}
	}
	done, err := w.stamps.Adopt(ctx, now, adopt)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, st := range adopt {
		if done[i] {
			w.known[st.Key] = st.Data
		}
	}
	for _, st := range found {
		if st.Of == st.Data {
			w.known[st.Key] = st.Data
		}
	}
	return err
}

// begin makes right what this process finds, as far as that is done soon: lists that
// are not known to be right are not read.
func (w *restoreWatch) begin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	w.look(ctx)
	w.repair(ctx)
}

// watch looks and repairs until ctx ends.
func (w *restoreWatch) watch(ctx context.Context) {
	repeat.Every(ctx, stampsEvery, func(ctx context.Context) {
		w.look(ctx)
		w.repair(ctx)
	})
}
