package memory

import (
	"context"

	"github.com/freshet/freshet/social/timeline"
)

// Push implements [timeline.Writer].
func (s *Lists) Push(ctx context.Context, names, versions []string, add []timeline.Position) ([]int, error) {
	held := make([]int, len(names))
	add = owned(add) // once for all lists: they share the ids
	err := s.change(ctx, names, func(i int, l *oneList) {
		if l.version != versions[i] {
			return
		}
		l.put(add, nil)
		l.trim(s.cfg.Cap)
		for _, p := range add {
			if p.Above(l.floor) {
				held[i]++
			}
		}
	})
	return held, err
}

// Remove implements [timeline.Writer].
func (s *Lists) Remove(ctx context.Context, names []string, ids []string) error {
	if len(ids) == 0 {
		return ctx.Err()
	}
	return s.change(ctx, names, func(_ int, l *oneList) {
		l.version = s.unique()
		l.remove(ids)
	})
}

// Replace implements [timeline.Writer].
func (s *Lists) Replace(ctx context.Context, list string, c timeline.Change) (done bool, err error) {
	add, floor := owned(c.Add), owned([]timeline.Position{c.Floor})[0]
	err = s.change(ctx, []string{list}, func(_ int, l *oneList) {
		if done = l.version == c.Version; !done {
			return
		}
		l.version = s.unique()
		l.remove(c.Remove)
		l.raise(floor)
		l.put(add, nil)
		l.trim(s.cfg.Cap)
	})
	return done, err
}

// ClearToken implements [timeline.Writer].
func (s *Lists) ClearToken(ctx context.Context, names []string) error {
	return s.change(ctx, names, func(_ int, l *oneList) {
		l.version = s.unique()
		l.cleared = l.state == timeline.Building
	})
}

// Drop implements [timeline.Writer].
func (s *Lists) Drop(ctx context.Context, names []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if l := s.byName[name]; l != nil {
			s.forget(l)
		}
	}
	return nil
}
