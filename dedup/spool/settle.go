package spool

import (
	"context"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
)

// settle ends the pending entries of what was recorded a grace ago, and deletes
// it. The pass that recorded it counts as one, and two more do not count,
// because a pass may come early after one that took long.
func (s *Spool) settle(ctx context.Context) {
	s.mu.Lock()
	var due []*segment
	for _, seg := range s.closed {
		if seg.recorded {
			seg.passes++
			if time.Duration(seg.passes-3)*s.cfg.Every >= s.cfg.Grace {
				due = append(due, seg)
			}
		}
	}
	s.mu.Unlock()
	for _, seg := range due {
		if err := s.settleOne(ctx, seg); err != nil {
			s.complain(ctx, err)
			return
		}
	}
}

// settleOne ends a segment. One that cannot be read any more stays pending
// until its readers' next refreshes.
func (s *Spool) settleOne(ctx context.Context, seg *segment) error {
	var failed error
	flush := func(b []journal.Entry) error {
		var imps []dedup.Impression
		for _, e := range b {
			imps = append(imps, impressions(e)...)
		}
		stepCtx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
		defer cancel()
		failed = s.w.Settle(stepCtx, imps)
		return failed
	}
	var waiting entries
	unread := s.read(seg, func(e journal.Entry) error { return waiting.add(e, flush) })
	if unread == nil {
		_ = waiting.flush(flush)
	}
	if failed != nil {
		return failed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delete(seg)
	return nil
}

// entries collects journal entries until they are a batch.
type entries struct {
	list   []journal.Entry
	groups int
}

func (b *entries) add(e journal.Entry, flush func([]journal.Entry) error) error {
	b.list, b.groups = append(b.list, e), b.groups+len(e.Groups)
	if b.groups < batch {
		return nil
	}
	return b.flush(flush)
}

func (b *entries) flush(flush func([]journal.Entry) error) error {
	if b.groups == 0 {
		return nil
	}
	if err := flush(b.list); err != nil {
		return err
	}
	b.list, b.groups = b.list[:0], 0
	return nil
}

func impressions(e journal.Entry) []dedup.Impression {
	list := make([]dedup.Impression, len(e.Groups))
	for i, g := range e.Groups {
		list[i] = dedup.Impression{Agent: e.Agent, Group: g}
	}
	return list
}
