// Package outage tracks whether Redis was down recently, so that answers report that items
// delivered during the outage may not be recorded everywhere yet.
package outage

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/periodic"
)

// Watch tracks whether Redis was down recently, for this server or for another one that has left a
// note.
type Watch struct {
	dedup.Filters // the recorded impressions

	markers dedup.OutageMarkers
	cfg     Config
	began   time.Time
	until   atomic.Int64 // end of the recovery, in nanoseconds since began
	refused bool         // the markers cannot be read although Redis answers; only checkMarkers uses this field
}

// Config configures a [Watch].
type Config struct {
	After   time.Duration // how long an outage of Redis has an effect
	Every   time.Duration // the pause between two checks
	Timeout time.Duration // of one check
	// Restarted returns how long ago Redis was started, if it had impressions before: an outage that
	// ended before this server started is otherwise unknown to it. It may be nil.
	Restarted func(context.Context) (ago time.Duration, used bool, err error)
	Logger    *slog.Logger
}

// Open checks for markers before it returns; Run repeats the check.
//
// Once Redis is back, other servers need some time to notice and to leave their markers, and requests
// that began before are still running: the pending grace, which is [Config.After], is longer than
// any request. A marker remains for one grace after there is nothing left to write.
func Open(ctx context.Context, filters dedup.Filters, markers dedup.OutageMarkers, cfg Config) *Watch {
	w := &Watch{Filters: filters, markers: markers, cfg: cfg, began: time.Now()} //nolint:forbidigo // a monotonic time, which no jump of the clock changes
	w.checkMarkers(ctx)
	w.checkRestart(ctx)
	return w
}

// checkRestart counts a restart of Redis shortly before this server started as an outage. If it cannot be
// read, only the markers tell.
func (w *Watch) checkRestart(ctx context.Context) {
	if w.cfg.Restarted == nil {
		return
	}
	asking, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	ago, used, err := w.cfg.Restarted(asking)
	if err == nil && used && ago < w.cfg.After {
		w.extend(w.cfg.After - ago)
	}
}

// Run checks for markers periodically until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	for range periodic.Every(ctx, w.cfg.Every) {
		w.checkMarkers(ctx)
	}
}

// checkMarkers checks for markers. If Redis does not answer, this counts as a marker.
func (w *Watch) checkMarkers(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	marked, err := w.markers.Any(asking)
	if ctx.Err() != nil {
		return
	}
	down := errors.Is(err, dedup.ErrUnavailable)
	switch {
	case down:
		w.extend(w.cfg.After)
	case marked:
		w.extend(0)
	case err != nil && !w.refused:
		w.cfg.Logger.WarnContext(ctx, "the markers that servers leave after an outage cannot be read; items delivered without Redis may be shown again", "error", err)
	}
	w.refused = err != nil && !down
}

// Restarted counts an outage that ended now. Calls that only waited for Redis meanwhile, and checks, do not
// notice one that is short, and a restart may lose the markers of servers that did.
func (w *Watch) Restarted() { w.extend(w.cfg.After) }

// extend makes the recovery last for d beyond the next check.
func (w *Watch) extend(d time.Duration) {
	until := int64(time.Since(w.began) + d + 2*w.cfg.Every)
	for {
		before := w.until.Load()
		if before >= until || w.until.CompareAndSwap(before, until) {
			return
		}
	}
}

// Recovering reports whether impressions of an outage may not be recorded yet. It does not block.
func (w *Watch) Recovering() bool { return int64(time.Since(w.began)) < w.until.Load() }
