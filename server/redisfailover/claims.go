package redisfailover

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
)

// claims are the claims of recent deliveries that are pending after a change of masters.
type claims struct {
	due   bool      // one is to be made now
	left  int       // those that have not succeeded yet
	since time.Time // delivery time from which the next one claims; zero means unlimited

	// A claim that failed is made again after pause, until the given time.
	until, next time.Time
	pause       time.Duration
}

// tick makes the next claim due, unless the pause after a failure has not passed.
func (c *claims) tick(now time.Time) { c.due = c.left > 0 && !now.Before(c.next) }

// succeeded records a claim that began at the given time.
func (c *claims) succeeded(began time.Time, hold time.Duration) {
	c.left--
	c.pause, c.next = 0, time.Time{}
	if c.since.IsZero() {
		c.since = began.Add(-hold)
	}
}

// failed records a claim that failed, and reports whether it is made again.
func (c *claims) failed(now time.Time) bool {
	if now.After(c.until) {
		c.left = 0
		return false
	}
	c.pause = min(max(2*c.pause, checkEvery), reclaimPause)
	c.next = now.Add(c.pause)
	return true
}

// claim makes the claim that is due.
func (w *Watch) claim(ctx context.Context, clock feed.Clock, reclaim Reclaim) {
	w.claims.due = false
	began := clock()
	err := reclaim(ctx, w.claims.since)
	if err == nil {
		w.claims.succeeded(began, w.hold)
		return
	}
	if w.claims.failed(time.Now()) {
		w.log.WarnContext(ctx, "cannot record again the deliveries just before a Redis master was replaced yet; trying again", "next_try_in", w.claims.pause, "error", err)
		return
	}
	w.log.ErrorContext(ctx, "cannot record again the deliveries just before a Redis master was replaced; their items may be shown again", "tried_for", reclaimFor, "error", err)
}
