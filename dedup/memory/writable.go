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

// Writable reports whether the journal can be written. It costs nothing until a
// write has failed; then each call tries, so that a server that gets no requests
// any more notices when the disk has room again.
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
