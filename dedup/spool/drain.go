package spool

import (
	"context"
	"errors"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
)

// batch is how many impressions are recorded at once.
const batch = 1000

// run records what is on disk, whenever the store takes it.
func (s *Spool) run(ctx context.Context) {
	defer close(s.ended)
	tick := time.NewTicker(s.cfg.Every)
	defer tick.Stop()
	for {
		s.drain(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// drain records segment after segment, oldest first, until none is left or the
// store refuses.
func (s *Spool) drain(ctx context.Context) {
	for ctx.Err() == nil {
		serial, ok := s.oldest()
		if !ok {
			return
		}
		n, err := s.record(ctx, serial)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, dedup.ErrUnavailable) {
				s.cfg.Logger.WarnContext(ctx, "impressions on disk cannot be recorded yet", "error", err)
			}
			return
		}
		drainedTotal.Add(float64(n))
		s.cfg.Logger.InfoContext(ctx, "impressions from the disk are recorded", "impressions", n)
		s.mu.Lock()
		s.forget(serial)
		s.mu.Unlock()
	}
}

// oldest names the segment to record next; the current one is closed for it.
func (s *Spool) oldest() (serial uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.closed) == 0 {
		s.rotate()
	}
	if len(s.closed) == 0 {
		return 0, false
	}
	return s.closed[0], true
}

// record writes a segment's impressions to the store, but for those that are
// too old to matter. Recording some of them twice, because a later write
// failed, is harmless.
func (s *Spool) record(ctx context.Context, serial uint64) (recorded int, err error) {
	var old int
	horizon := s.clock().Add(-s.cfg.MaxAge).UnixMilli()
	pending := make([]dedup.Impression, 0, batch)
	flush := func() error {
		if len(pending) == 0 {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
		defer cancel()
		if _, err := s.w.Record(ctx, pending, s.clock()); err != nil {
			return err
		}
		recorded += len(pending)
		pending = pending[:0]
		return nil
	}
	err = journal.Recover(s.path(serial), func(e journal.Entry) error {
		if e.At < horizon {
			old += len(e.Groups)
			return nil
		}
		for _, g := range e.Groups {
			pending = append(pending, dedup.Impression{Agent: e.Agent, Group: g})
			if len(pending) == batch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	}, s.cfg.Logger)
	if err == nil {
		err = flush()
	}
	if err == nil && old > 0 {
		droppedTotal.Add(float64(old))
		s.cfg.Logger.WarnContext(ctx, "impressions dropped", "impressions", old, "why", "older than the window")
	}
	return recorded, err
}
