package memory

import (
	"context"
	"time"

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
	pages := make([]timeline.Page, len(names))
	return pages, s.each(ctx, names, func(i int, l *oneList, now time.Time) {
		pages[i] = l.page(below, n)
		if l.state == timeline.Ready {
			s.use(l, now.Add(s.cfg.TTL))
		}
	})
}

// Heads implements [timeline.Reader].
func (s *Lists) Heads(ctx context.Context, names []string) ([]timeline.Head, error) {
	heads := make([]timeline.Head, len(names))
	return heads, s.each(ctx, names, func(i int, l *oneList, _ time.Time) {
		heads[i] = timeline.Head{State: l.state, Floor: l.floor, Version: l.version}
		if n := len(l.oldest); n > 0 && l.state == timeline.Ready {
			heads[i].Newest, heads[i].Size = l.oldest[n-1], n
		}
	})
}
