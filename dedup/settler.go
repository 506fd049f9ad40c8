package dedup

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// settleTicks is how many ticks the grace is divided into. An entry waits
	// for one tick more, so never for less than the whole grace.
	settleTicks = 8
	// settleMost bounds what waits for its grace. Beyond it, entries simply
	// stay pending until their agent's next refresh.
	settleMost = 2_000_000
	settleStep = 1000 // members of one call
)

// settler takes confirmed impressions out of the pending sets after the
// grace.
type settler struct {
	w       Writer
	timeout time.Duration
	ended   chan struct{}

	mu      sync.Mutex
	buckets [settleTicks + 2][]Impression // by tick of confirmation
	now     int                           // current bucket
	waiting int
}

func startSettler(ctx context.Context, w Writer, cfg RecorderConfig) *settler {
	s := &settler{w: w, timeout: cfg.Timeout, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		tick := time.NewTicker(max(cfg.Grace/settleTicks, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.settle(ctx, s.turn())
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

func (s *settler) add(confirmed []Impression) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting+len(confirmed) > settleMost {
		return
	}
	s.waiting += len(confirmed)
	s.buckets[s.now] = append(s.buckets[s.now], confirmed...)
}

// turn moves on by one tick and takes out the bucket that has waited for the
// whole grace: the oldest, which the new tick is going to fill next time round.
func (s *settler) turn() []Impression {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = (s.now + 1) % len(s.buckets)
	oldest := (s.now + 1) % len(s.buckets)
	due := s.buckets[oldest]
	s.buckets[oldest] = nil
	s.waiting -= len(due)
	return due
}

func (s *settler) settle(ctx context.Context, due []Impression) {
	for len(due) > 0 {
		step := due[:min(len(due), settleStep)]
		due = due[len(step):]
		stepCtx, cancel := context.WithTimeout(ctx, s.timeout)
		err := s.w.Settle(stepCtx, step)
		cancel()
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "settling impressions failed; they stay pending until the agents' next refresh",
				"impressions", len(step), "error", err)
		}
	}
}

func (s *settler) wait() { <-s.ended }
