package dedup

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
)

const (
	// cleanTicks is the number of ticks that the grace period is divided into. An entry waits two
	// ticks longer, so that it never waits less than the whole grace period: it may be added late in a
	// tick, and the tick after a slow call comes early. If calls are quick, it waits at most 9/8 of
	// the grace period.
	cleanTicks   = 16
	cleanBuckets = cleanTicks + 3 // one for each tick that an entry waits, and the one being filled
	// maxUncleaned bounds the number of waiting impressions. Further ones stay pending until their
	// agent's next refresh.
	maxUncleaned = 2_000_000
	cleanBatch   = 1000 // members per call
)

// pendingCleaner removes confirmed impressions from the pending sets after the grace period. All wait
// for the same time, so it turns a wheel and has no queue.
type pendingCleaner struct {
	w       Writer
	timeout time.Duration
	log     *slog.Logger
	ended   chan struct{}

	mu      sync.Mutex
	buckets [cleanBuckets][][]Impression // whole batches, by tick of confirmation
	now     int                          // current bucket
	waiting int
}

func startPendingCleaner(ctx context.Context, w Writer, cfg RecorderConfig) *pendingCleaner {
	s := &pendingCleaner{w: w, timeout: cfg.Timeout, log: cfg.Logger, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for range periodic.Every(ctx, max(cfg.Grace/cleanTicks, time.Millisecond)) {
			safego.Log(s.log, "settling impressions", func() { s.clean(ctx, s.tick()) })
		}
	}()
	return s
}

func (s *pendingCleaner) add(confirmed []Impression) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting+len(confirmed) > maxUncleaned {
		return
	}
	s.waiting += len(confirmed)
	s.buckets[s.now] = append(s.buckets[s.now], confirmed)
}

// tick advances by one tick and removes the bucket that has waited for the whole grace period: the
// oldest, which the next tick will fill.
func (s *pendingCleaner) tick() [][]Impression {
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

func (s *pendingCleaner) clean(ctx context.Context, due [][]Impression) {
	for step := range slices.Chunk(slices.Concat(due...), cleanBatch) {
		stepCtx, cancel := context.WithTimeout(ctx, s.timeout)
		err := s.w.ClearPending(stepCtx, step)
		cancel()
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "settling impressions failed; they stay pending until the agents' next refresh",
				"impressions", len(step), "error", err)
		}
	}
}
