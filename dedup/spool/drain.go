package spool

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/repeat"
)

const (
	batch     = 1000 // impressions recorded at once
	withdraws = 8    // sessions withdrawn from at once
)

// run records what is on disk, whenever the store takes it.
func (s *Spool) run(ctx context.Context) {
	defer close(s.ended)
	repeat.Now(ctx, s.cfg.Every, func(ctx context.Context) {
		guard.Log(s.cfg.Logger, "recording impressions of the disk", func() { s.pass(ctx) })
	})
}

// pass is one attempt: leave the note, record, settle what was recorded a grace
// ago. The note is there for as long as anything is on disk.
func (s *Spool) pass(ctx context.Context) {
	if s.waiting() {
		if err := s.leaveNote(ctx); err != nil {
			s.complain(ctx, err)
			return
		}
		if err := s.drain(ctx); err != nil {
			s.complain(ctx, err)
			return
		}
		s.settle(ctx)
	}
	if s.noted && !s.waiting() {
		s.removeNote(ctx)
	}
}

// complain logs why nothing is recorded, unless the store is down, which is
// logged elsewhere, or the spool is being closed.
func (s *Spool) complain(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, dedup.ErrUnavailable) && !errors.Is(err, cache.ErrUnavailable) {
		s.cfg.Logger.WarnContext(ctx, "impressions on disk cannot be recorded yet", "error", err)
	}
}

func (s *Spool) leaveNote(ctx context.Context) error {
	if s.cfg.Notes == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	s.noted = true // even after an error it may have been made
	return s.cfg.Notes.Leave(ctx, s.cfg.Server)
}

func (s *Spool) removeNote(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.cfg.Notes.Remove(ctx, s.cfg.Server); err != nil {
		s.complain(ctx, err)
		return
	}
	s.noted = false
}

// drain records segment after segment, oldest first, until none is left or the
// store refuses. What cannot be read is out of the way then.
func (s *Spool) drain(ctx context.Context) error {
	for _, seg := range s.unrecorded() {
		n, failed, unread := s.record(ctx, seg)
		switch {
		case failed != nil:
			return failed
		case unread != nil:
			s.putOff(ctx, seg, unread)
			continue
		}
		if n > 0 {
			s.cfg.Logger.InfoContext(ctx, "impressions from the disk are recorded", "impressions", n)
		}
		s.mu.Lock()
		seg.recorded = true
		if n == 0 { // nothing to settle: all of it was only offered, or too old
			s.delete(seg)
		}
		s.mu.Unlock()
	}
	return nil
}

// unrecorded lists the segments to record. The current one is closed for it only
// where there is no other: while the store is down there would be many.
func (s *Spool) unrecorded() []*segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	recorded := func(seg *segment) bool { return seg.recorded }
	list := slices.DeleteFunc(slices.Clone(s.closed), recorded)
	if len(list) == 0 {
		s.rotate()
		list = slices.DeleteFunc(slices.Clone(s.closed), recorded)
	}
	return list
}

// putOff skips a segment that cannot be read: it is renamed where it never will
// be readable, and tried again in the next pass where the disk may be at fault.
func (s *Spool) putOff(ctx context.Context, seg *segment, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg.gone { // dropped meanwhile, to make room
		return
	}
	if unreadable(why) {
		s.setAside(s.path(seg.serial), why)
		s.forget(seg)
		return
	}
	if !seg.unreadable {
		seg.unreadable = true
		s.cfg.Logger.WarnContext(ctx, "a segment of the impression spool cannot be read; it is tried again", "error", why)
	}
}

// record writes a segment's impressions to the store, but for those that are
// too old to matter. failed is the store's error, unread that of the file.
// Recording some of them twice, because a later write failed, is harmless.
func (s *Spool) record(ctx context.Context, seg *segment) (recorded int, failed, unread error) {
	var old int
	horizon := s.clock().Add(-s.cfg.MaxAge).UnixMilli()
	flush := func(b []journal.Entry) error {
		n, err := s.write(ctx, b)
		recorded += n
		failed = err
		return err
	}
	var waiting entries
	unread = s.read(seg, func(e journal.Entry) error {
		if e.At < horizon {
			old += len(e.Groups)
			return nil
		}
		return waiting.add(e, flush)
	})
	if unread == nil {
		_ = waiting.flush(flush)
	}
	if failed == nil && unread == nil && old > 0 {
		droppedTotal.Add(float64(old))
		s.cfg.Logger.WarnContext(ctx, "impressions dropped", "impressions", old, "why", "older than the window")
	}
	return recorded, failed, unread
}

// read gives each entry of a segment to fn and repairs the file.
func (s *Spool) read(seg *segment, fn func(journal.Entry) error) error {
	path := s.path(seg.serial)
	if _, err := regular(path); err != nil {
		return err
	}
	return journal.Recover(path, fn, s.cfg.Logger)
}

// write takes entries out of the sessions and adds them to a filter. The order
// matters: what is in a filter and not pending could be in the list of a refresh
// that has asked the filter before, and be put into a session after.
func (s *Spool) write(ctx context.Context, b []journal.Entry) (recorded int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.withdraw(ctx, b); err != nil {
		return 0, err
	}
	var imps []dedup.Impression
	for _, e := range b {
		if e.Kind != journal.Offered {
			imps = append(imps, impressions(e)...)
		}
	}
	if len(imps) == 0 {
		return 0, nil
	}
	if _, err := s.w.Record(ctx, imps, s.clock()); err != nil {
		return 0, err
	}
	return len(imps), nil
}

func (s *Spool) withdraw(ctx context.Context, b []journal.Entry) error {
	if s.cfg.Sessions == nil {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(withdraws)
	for _, e := range b {
		group.Go(guard.Func(func() error {
			err := s.cfg.Sessions.Withdraw(ctx, e.Agent, e.Groups, time.UnixMilli(e.At))
			if errors.Is(err, cache.ErrForeign) { // it must not hold up what others were shown
				s.cfg.Logger.WarnContext(ctx, "what was shown is recorded, and stays in the agent's sessions", "agent", e.Agent, "error", err)
				return nil
			}
			return err
		}))
	}
	return group.Wait()
}
