package memory

import (
	"context"

	"github.com/freshet/freshet/social/timeline"
)

// Read implements [timeline.Reader].
func (s *Lists) Read(ctx context.Context, list string, below timeline.Position, n int) (timeline.Page, error) {
	pages, err := s.ReadMany(ctx, []string{list}, below, n)
	if err != nil {
		return timeline.Page{}, err
	}
	return pages[0], nil
}

// ReadMany implements [timeline.Reader].
func (s *Lists) ReadMany(ctx context.Context, names []string, below timeline.Position, n int) ([]timeline.Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := s.cfg.Clock()
	pages := make([]timeline.Page, len(names))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range names {
		l := s.find(name, now)
		if l == nil {
			continue
		}
		pages[i] = l.page(below, n)
		if l.state == timeline.Ready {
			s.use(l, now.Add(s.cfg.TTL))
		}
	}
	return pages, nil
}

// Heads implements [timeline.Reader].
func (s *Lists) Heads(ctx context.Context, names []string) ([]timeline.Head, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := s.cfg.Clock()
	heads := make([]timeline.Head, len(names))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range names {
		l := s.find(name, now)
		if l == nil {
			continue
		}
		heads[i] = timeline.Head{State: l.state, Floor: l.floor, Version: l.version}
		if n := len(l.oldest); n > 0 && l.state == timeline.Ready {
			heads[i].Newest = l.oldest[n-1]
		}
	}
	return heads, nil
}
