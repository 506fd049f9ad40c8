package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
)

// append journals entries; without a directory there is nothing to do.
func (s *Store) append(entries ...journal.Entry) error {
	says := func(e journal.Entry) bool { return len(e.Groups) > 0 }
	if s.journal == nil || !slices.ContainsFunc(entries, says) {
		return nil
	}
	err := s.journal.Append(entries...)
	if failed := err != nil; s.failing.Load() != failed {
		s.failing.Store(failed)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", dedup.ErrUnavailable, err)
	}
	return nil
}

// Writable tells whether what is handed out can be written down. It costs
// nothing while it is; after a failure each call tries, so that a server nobody
// sends readers to any more finds out when there is room again.
func (s *Store) Writable(ctx context.Context) error {
	if !s.failing.Load() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(s.clock()); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	if s.journal != nil {
		if err := s.journal.Probe(); err != nil {
			return fmt.Errorf("%w: %w", dedup.ErrUnavailable, err)
		}
	}
	s.failing.Store(false)
	return nil
}
