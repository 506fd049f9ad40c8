package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/repeat"
)

// recovery knows whether Redis has been down lately, for this server or for
// another one that has left a note.
type recovery struct {
	*redisbloom.Store // what is in the filters

	notes   dedup.Notes
	after   time.Duration // how long Redis not answering has an effect
	every   time.Duration // the pause between two looks
	timeout time.Duration // of one look
	log     *slog.Logger
	began   time.Time
	until   atomic.Int64 // nanoseconds after began
	refused bool         // the notes cannot be read although Redis answers; only look uses it
}

var _ engine.Recovery = (*recovery)(nil)

// watchRecovery looks for notes before it returns, and then again and again until
// the system is closed.
//
// Once Redis is back, others need a moment to notice and to leave their notes,
// and requests that began before are still under way: the pending grace is
// longer than any request. A note stands for a grace longer than there is
// something to write.
func (a *App) watchRecovery(ctx context.Context, store *redisbloom.Store, notes dedup.Notes) *recovery {
	r := &recovery{
		Store: store, notes: notes, after: a.pauses.settle, every: a.pauses.notes,
		timeout: a.cfg.Server.RequestTimeout, log: a.log, began: time.Now(),
	}
	r.look(ctx)
	a.background(ctx, func(ctx context.Context) { repeat.Every(ctx, r.every, r.look) })
	return r
}

// look asks for notes. That Redis does not answer says as much as a note does.
func (r *recovery) look(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	noted, err := r.notes.Any(asking)
	if ctx.Err() != nil {
		return
	}
	down := errors.Is(err, dedup.ErrUnavailable)
	switch {
	case down:
		r.extend(r.after)
	case noted:
		r.extend(0)
	case err != nil && !r.refused:
		r.log.WarnContext(ctx, "the notes that servers leave after an outage cannot be read; what they handed out without Redis may be shown again", "error", err)
	}
	r.refused = err != nil && !down
}

// extend makes recovering last for d longer than until the next look.
func (r *recovery) extend(d time.Duration) {
	until := int64(time.Since(r.began) + d + 2*r.every)
	r.until.Store(max(until, r.until.Load()))
}

// Recovering implements [engine.Recovery].
func (r *recovery) Recovering() bool { return int64(time.Since(r.began)) < r.until.Load() }

// serverName is the name of this server's note: the same after a restart, so
// that the note of a process that died is renewed, and removed in the end, by
// the one that comes after it. It is told from others by its machine and its
// directory.
func serverName(dir string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return host + ":" + dir
}
