package memory

import (
	"context"
	"errors"

	"github.com/freshet/freshet/dedup/journal"
)

// Close folds today's journal into its filter and releases the directory. It
// waits for past days that are still being folded, as long as ctx allows. What
// cannot be folded is no error, only logged: it is in the journals, which the
// next start reads. An error says that a journal did not reach the disk.
// Closing twice is harmless.
func (s *Store) Close(ctx context.Context) error {
	s.gate.Lock()
	closed := s.closed
	s.closed = true
	s.gate.Unlock()
	if closed || s.dir == "" {
		return nil
	}
	close(s.quit)
	<-s.watched
	s.rolling.Lock()
	if now := s.clock(); !s.jumped(now) {
		s.seen.Store(now.UnixMilli()) // else the next start has to notice
	}
	s.saveClock()
	s.rolling.Unlock()
	folded := make(chan struct{})
	go func() {
		s.folds.Wait()
		close(folded)
	}()
	select {
	case <-folded:
		err := s.journal.Close()
		if err == nil {
			s.foldToday()
		}
		return errors.Join(err, s.lock.Close())
	case <-ctx.Done():
		s.sayUnfolded(ctx.Err())
		// The lock stays with the folds that are still running.
		go func() {
			<-folded
			_ = s.lock.Close()
		}()
		return s.journal.Close()
	}
}

// foldToday stores today's filter and empties its journal, which is closed.
// What is pending is added to the filter where delivering is the impression,
// and kept in the journal where it is not.
func (s *Store) foldToday() {
	f, now := s.current, s.clock().UnixMilli()
	var keep []journal.Entry
	if s.keepPending(now); !s.cfg.Served {
		for i := range s.pending.shards {
			sh := &s.pending.shards[i]
			sh.mu.Lock()
			keep = append(keep, s.pending.entries(sh, s.kind, now)...)
			sh.mu.Unlock()
		}
	}
	s.step("journal closed")
	err := s.store(f)
	if err == nil {
		s.step("filter stored")
		err = journal.Rewrite(s.journalPath(f.day), keep)
	}
	if err != nil {
		s.sayUnfolded(err)
	}
}

func (s *Store) sayUnfolded(err error) {
	s.log.Warn("The day's journal could not be folded into a filter file. Nothing is lost: it is kept, and read at the next start.",
		"dir", s.dir, "error", err)
}

// store saves a day's filter, unless there is nothing in it: a day on which
// nothing happened leaves no file.
func (s *Store) store(f *filter) error {
	if f.empty() {
		return nil
	}
	return f.save(s.filterPath(f.day))
}
