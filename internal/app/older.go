package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/jobs"
	"github.com/freshet/freshet/timeline"
	redislists "github.com/freshet/freshet/timeline/redis"
)

const (
	// stampsEvery is the pause between two looks at the stamps of the lists.
	stampsEvery = time.Second
	// stampsTimeout is the longest a look may take.
	stampsTimeout = time.Second
	// knownFor is how far back the queue knows what was delivered, with a margin for
	// how long it takes to make it again.
	knownFor = jobs.CompletedLives - 10*time.Minute
	// ahead is how far a stamp may lie ahead, because servers' clocks differ.
	ahead = 2 * time.Minute
)

// older notices that the Redis of the lists has other data than before, which may
// lack what was delivered: after a failover, a restart, or from a snapshot of
// yesterday. It has what was delivered since delivered again, or where that is not
// known ends the lists, to be built again. Meanwhile the social store answers.
type older struct {
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
// for mend.
func (o *older) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	began := o.late.doubts()
	list, err := o.stamps.Look(ctx, o.clock())
	down := errors.Is(err, timeline.ErrUnavailable)
	refused := err != nil && !down && ctx.Err() == nil
	if refused && !o.refused {
		o.log.WarnContext(ctx, "the stamps of lists cannot be read, so lists that a restored Redis brings back are taken as they are; let the user of Redis run scripts and INFO", "error", err)
	}
	o.refused = refused
	if down {
		o.late.note()
	}
	o.found = o.found[:0]
	for _, st := range list {
		if o.known[st.Key] == "" && st.Of == st.Data {
			o.known[st.Key] = st.Data // this process has written nothing to any other
		}
		if o.known[st.Key] != st.Data || st.Of != st.Data {
			o.found = append(o.found, st)
		}
	}
	if len(o.found) > 0 {
		o.late.hold()
	} else if err == nil || refused {
		o.late.trust(began)
	}
}

// mend makes lists right on the data that look has found.
func (o *older) mend(ctx context.Context) {
	o.mu.Lock()
	found := slices.Clone(o.found)
	o.mu.Unlock()
	if len(found) == 0 {
		return
	}
	if err := o.mendAll(ctx, found); err != nil {
		if ctx.Err() == nil {
			o.log.WarnContext(ctx, "the lists are another Redis' than before, and cannot be made right yet; the social store answers", "error", err)
		}
		return
	}
	o.look(ctx) // lists are trusted when nothing is found any more
}

func (o *older) mendAll(ctx context.Context, found []redislists.Stamp) error {
	now := o.clock()
	var unknown []redislists.Stamp
	since := now
	for _, st := range found {
		switch from := o.lacksSince(st); {
		case from.IsZero() || from.Before(now.Add(-knownFor)) || from.After(now.Add(ahead)):
			unknown = append(unknown, st)
		case from.Before(since):
			since = from
		}
	}
	if len(unknown) > 0 {
		n, err := o.stamps.DropLists(ctx, unknown)
		if err != nil {
			return err
		}
		o.log.WarnContext(ctx, "Redis has lists of which it is not known what they lack: they are dropped, and built as they are read", "lists", n)
	}
	if len(unknown) < len(found) {
		n, err := o.lost(ctx, since)
		if err != nil {
			return err
		}
		o.log.WarnContext(ctx, "Redis may lack what was delivered to lists lately: it is delivered again", "since", since, "jobs", n)
		o.late.again()
	}
	return o.adopt(ctx, now, found)
}

// lacksSince is since when writes may be missing from data; zero: it is not known.
func (o *older) lacksSince(st redislists.Stamp) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case st.Of == st.Data:
		return st.Since // somebody else has noticed; this process wrote elsewhere until now
	case st.Of == "" && o.known[st.Key] == st.Data:
		return o.clock() // keys were taken away; what is gone is built again
	}
	return st.At
}

func (o *older) adopt(ctx context.Context, now time.Time, found []redislists.Stamp) error {
	var adopt []redislists.Stamp
	for _, st := range found {
		if st.Of != st.Data {
			adopt = append(adopt, st)
		}
	}
	done, err := o.stamps.Adopt(ctx, now, adopt)
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, st := range adopt {
		if done[i] {
			o.known[st.Key] = st.Data
		}
	}
	for _, st := range found {
		if st.Of == st.Data {
			o.known[st.Key] = st.Data
		}
	}
	return err
}

// begin makes right what this process finds, as far as that is done soon: lists that
// are not known to be right are not read.
func (o *older) begin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stampsTimeout)
	defer cancel()
	o.look(ctx)
	o.mend(ctx)
}

// watch looks and mends until ctx ends.
func (o *older) watch(ctx context.Context) {
	every(ctx, stampsEvery, func(ctx context.Context) {
		o.look(ctx)
		o.mend(ctx)
	})
}
