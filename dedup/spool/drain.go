package spool

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
)

const (
	batch  = 1000 // impressions recorded per write
	atOnce = 64   // concurrent entries of a batch
)

func (s *Spool) run(ctx context.Context) {
	defer close(s.ended)
	for range periodic.Now(ctx, s.cfg.Every) {
		safego.Log(s.cfg.Logger, "recording impressions from disk", func() { s.pass(ctx) })
	}
}

// pass is one attempt to record the impressions on disk. The marker lasts for as long as there are
// any, and for a grace period after that, because requests that began earlier may not know of it
// yet. A marker of an earlier process is not renewed: there may be none. Two passes may follow early
// after a slow one, so they do not count toward the grace period.
func (s *Spool) pass(ctx context.Context) {
	var err error
	switch waits := s.waiting(); {
	case waits:
		s.idle = 0
		if err = s.mark(ctx, true); err == nil {
			err = s.drain(ctx)
		}
	case s.marked:
		s.idle++
		inGrace := time.Duration(s.idle-2)*s.cfg.Every < s.cfg.Grace
		if s.renews || !inGrace {
			err = s.mark(ctx, inGrace)
		}
	}
	// An unavailable or slow store is logged elsewhere.
	down := errors.Is(err, feed.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
	if err != nil && ctx.Err() == nil && !down {
		s.cfg.Logger.WarnContext(ctx, "impressions on disk cannot be recorded yet", "error", err)
	}
}

func (s *Spool) mark(ctx context.Context, leave bool) error {
	if s.cfg.Markers == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if leave {
		s.marked, s.renews = true, true // it may exist even after an error
		return s.cfg.Markers.Set(ctx, s.id)
	}
	err := s.cfg.Markers.Remove(ctx, s.id)
	s.marked = err != nil
	return err
}

// drain records all segments, oldest first, until none is left or the store fails. Unreadable
// segments are skipped or set aside.
func (s *Spool) drain(ctx context.Context) error {
	for _, seg := range s.toRecord() {
		n, failed, unread := s.record(ctx, seg)
		switch {
		case failed != nil:
			return failed
		case unread != nil:
			s.putOff(ctx, seg, unread)
			continue
		}
		if n > 0 {
			s.cfg.Logger.InfoContext(ctx, "impressions from disk were recorded", "impressions", n)
		}
		s.mu.Lock()
		s.delete(seg)
		s.mu.Unlock()
	}
	return nil
}

// toRecord lists the segments to record. It closes the current one only if there is no other:
// otherwise there would be many while the store is down.
func (s *Spool) toRecord() []*segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.closed) == 0 {
		s.rotate()
	}
	return slices.Clone(s.closed)
}

// putOff skips a segment that cannot be read. If it is permanently unreadable it is renamed; if the
// disk may be at fault, the next pass tries again.
func (s *Spool) putOff(ctx context.Context, seg *segment, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg.gone { // deleted meanwhile to free space
		return
	}
	if unreadable(why) {
		s.setAside(s.path(seg.serial), why)
		s.forget(seg)
		return
	}
	if !seg.unreadable {
		seg.unreadable = true
		s.cfg.Logger.WarnContext(ctx, "a segment of the impression spool cannot be read; reading it is retried", "error", why)
	}
}

// record writes a segment's impressions to the store, except those that are too old to matter;
// recorded excludes those that were only offered. failed is an error of the store, unread one of
// the file. Recording some impressions twice, because a later write failed, is harmless.
func (s *Spool) record(ctx context.Context, seg *segment) (recorded int, failed, unread error) {
	var waiting []journal.Entry
	var groups, old int
	flush := func() error {
		failed = s.write(ctx, waiting)
		waiting, groups = nil, 0
		return failed
	}
	horizon := s.clock().Add(-s.cfg.MaxAge).UnixMilli()
	unread = s.read(seg, func(e journal.Entry) error {
		if e.At < horizon {
			old += len(e.Groups)
			return nil
		}
		waiting, groups = append(waiting, e), groups+len(e.Groups)
		if e.Kind != journal.Offered {
			recorded += len(e.Groups)
		}
		if groups < batch {
			return nil
		}
		return flush()
	})
	if unread == nil {
		_ = flush()
	}
	if failed == nil && unread == nil && old > 0 {
		droppedTotal.Add(float64(old))
		s.cfg.Logger.WarnContext(ctx, "impressions dropped", "impressions", old, "why", "older than the window")
	}
	return recorded, failed, unread
}

// read passes each entry of a segment to fn and repairs the file.
func (s *Spool) read(seg *segment, fn func(journal.Entry) error) error {
	path := s.path(seg.serial)
	if _, err := regular(path); err != nil {
		return err
	}
	return journal.Recover(path, fn, s.cfg.Logger)
}

// write removes entries from the sessions and then adds them to a filter. The order matters: a
// group that is in a filter and not pending could be in the list of a refresh that checked the
// filter earlier, and be added to a session afterwards.
func (s *Spool) write(ctx context.Context, list []journal.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, e := range list {
		group.Go(safego.Func(func() error {
			if err := s.withdraw(ctx, e); err != nil || e.Kind == journal.Offered {
				return err
			}
			if ctx.Err() != nil { // confirm would enqueue it regardless of ctx, again in each pass
				return ctx.Err()
			}
			return s.confirm(ctx, e.Agent, e.Groups)
		}))
	}
	return group.Wait()
}

func (s *Spool) withdraw(ctx context.Context, e journal.Entry) error {
	if s.cfg.Withdraw == nil {
		return nil
	}
	err := s.cfg.Withdraw(ctx, e.Agent, e.Groups, time.UnixMilli(e.At))
	if errors.Is(err, dedup.ErrForeign) { // one foreign key must not block other agents' impressions
		s.cfg.Logger.WarnContext(ctx, "impressions from disk could not be removed from the agent's sessions and stay in them", "agent", e.Agent, "error", err)
		return nil
	}
	return err
}
