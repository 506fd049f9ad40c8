// Package recovery knows whether Redis has been down lately, so that answers say that what
// was handed out meanwhile may not be known everywhere yet.
package recovery

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/repeat"
)

// Watch knows whether Redis has been down lately, for this server or for
// another one that has left a note.
type Watch struct {
	engine.Filters // what was recorded

	notes   dedup.Notes
	cfg     Config
	began   time.Time
	until   atomic.Int64 // nanoseconds after began
	refused bool         // the notes cannot be read although Redis answers; only look uses it
}

var _ engine.Recovery = (*Watch)(nil)

// Config is how long things take.
type Config struct {
	After   time.Duration // how long Redis not answering has an effect
	Every   time.Duration // the pause between two looks
	Timeout time.Duration // of one look
	Logger  *slog.Logger
}

// Open looks for notes before it returns; Run does so again and again.
//
// Once Redis is back, others need a moment to notice and to leave their notes,
// and requests that began before are still under way: the pending grace, which is
// [Config.After], is longer than any request. A note stands for a grace longer than there is
// something to write.
func Open(ctx context.Context, filters engine.Filters, notes dedup.Notes, cfg Config) *Watch {
	w := &Watch{Filters: filters, notes: notes, cfg: cfg, began: time.Now()}
	w.look(ctx)
	return w
}

// Run looks for notes until ctx ends.
func (w *Watch) Run(ctx context.Context) { repeat.Every(ctx, w.cfg.Every, w.look) }

// look asks for notes. That Redis does not answer says as much as a note does.
func (w *Watch) look(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	noted, err := w.notes.Any(asking)
	if ctx.Err() != nil {
		return
	}
	down := errors.Is(err, dedup.ErrUnavailable)
	switch {
	case down:
		w.extend(w.cfg.After)
	case noted:
		w.extend(0)
	case err != nil && !w.refused:
		w.cfg.Logger.WarnContext(ctx, "the notes that servers leave after an outage cannot be read; what they handed out without Redis may be shown again", "error", err)
	}
	w.refused = err != nil && !down
}

// extend makes recovering last for d longer than until the next look.
func (w *Watch) extend(d time.Duration) {
	until := int64(time.Since(w.began) + d + 2*w.cfg.Every)
	w.until.Store(max(until, w.until.Load()))
}

// Recovering implements [engine.Recovery].
func (w *Watch) Recovering() bool { return int64(time.Since(w.began)) < w.until.Load() }

// ServerName is the name of this server's note: the same after a restart, so
// that the note of a process that died is renewed, and removed in the end, by
// the one that comes after it. It is told from others by its machine and its
// directory.
func ServerName(dir string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return host + ":" + dir
}
