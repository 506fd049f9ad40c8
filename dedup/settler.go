package dedup

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/internal/safego"
)

const (
	// settleTicks is the number of ticks that the grace period is divided into. An entry waits two
	// ticks longer, so that it never waits less than the whole grace period: it may be added late in a
	// tick, and the tick after a slow call comes early. If calls are quick, it waits at most 9/8 of
	// the grace period.
	settleTicks   = 16
	settleBuckets = settleTicks + 3 // one for each tick that an entry waits, and the one being filled
	// settleMost bounds the number of waiting impressions. Further ones stay pending until their
	// agent's next refresh.
	settleMost = 2_000_000
	settleStep = 1000 // members per call
)

// settler removes confirmed impressions from the pending sets after the grace period.
type settler struct {
	w       Writer
	timeout time.Duration
	log     *slog.Logger
	ended   chan struct{}

	mu      sync.Mutex
	buckets [settleBuckets][][]Impression // whole batches, by tick of confirmation
	now     int                           // current bucket
	waiting int
}

func startSettler(ctx context.Context, w Writer, cfg RecorderConfig) *settler {
	s := &settler{w: w, timeout: cfg.Timeout, log: cfg.Logger, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		tick := time.NewTicker(max(cfg.Grace/settleTicks, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				safego.Log(s.log, "settling impressions", func() { s.settle(ctx, s.turn()) })
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
	s.buckets[s.now] = append(s.buckets[s.now], confirmed)
}

// turn advances by one tick and removes the bucket that has waited for the whole grace period: the
// oldest, which the next tick will fill.
func (s *settler) turn() [][]Impression {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = (s.now + 1) % len(s.buckets)
	oldest := (s.now + 1) % len(s.buckets)
	due := s.buckets[oldest]
	s.buckets[oldest] = nil
	for _, batch := range due {
		s.waiting -= len(batch)
	}
	return due
}

func (s *settler) settle(ctx context.Context, due [][]Impression) {
	for step := range slices.Chunk(slices.Concat(due...), settleStep) {
		stepCtx, cancel := context.WithTimeout(ctx, s.timeout)
		err := s.w.Settle(stepCtx, step)
		cancel()
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "settling impressions failed; they stay pending until the agents' next refresh",
				"impressions", len(step), "error", err)
		}
	}
}
