package memory

import (
	"context"
	"strings"

	"github.com/freshet/freshet/internal/convert"
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
	return pages, s.each(ctx, names, func(i int, l *oneList) {
		pages[i] = l.page(below, n)
		if l.state == timeline.Ready {
			s.use(l, s.cfg.Clock().Add(timeline.TTL))
		}
	})
}

// Heads implements [timeline.Reader].
func (s *Lists) Heads(ctx context.Context, names []string) ([]timeline.Head, error) {
	heads := make([]timeline.Head, len(names))
	return heads, s.each(ctx, names, func(i int, l *oneList) {
		heads[i] = timeline.Head{State: l.state, Floor: l.floor, Version: l.version}
		n := len(l.oldest)
		if n > 0 && l.state == timeline.Ready {
			heads[i].Newest, heads[i].Size = l.oldest[n-1], n
		}
	})
}

// Versions implements [timeline.Reader].
func (s *Lists) Versions(ctx context.Context, names []string) ([]string, error) {
	versions := make([]string, len(names))
	return versions, s.each(ctx, names, func(i int, l *oneList) { versions[i] = l.version })
}

// Push implements [timeline.Writer].
func (s *Lists) Push(ctx context.Context, additions []timeline.Addition) ([]int, error) {
	held := make([]int, len(additions))
	names := convert.Each(additions, func(a timeline.Addition) string { return a.List })
	ids := map[string]string{} // all lists share these
	err := s.each(ctx, names, func(i int, l *oneList) {
		a := additions[i]
		if l.version != a.Version {
			return
		}
		add := make([]timeline.Position, len(a.Entries))
		for n, p := range a.Entries {
			if ids[p.ID] == "" {
				ids[p.ID] = strings.Clone(p.ID)
			}
			add[n] = timeline.Position{At: p.At, ID: ids[p.ID]}
		}
		l.put(add, nil)
		l.trim(s.cfg.Cap)
		for _, p := range a.Entries {
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
	return s.each(ctx, names, func(_ int, l *oneList) {
		l.version = s.unique()
		l.remove(ids)
	})
}

// Replace implements [timeline.Writer].
func (s *Lists) Replace(ctx context.Context, list string, c timeline.Change) (done bool, err error) {
	add, floor := owned(c.Add), owned([]timeline.Position{c.Floor})[0]
	err = s.each(ctx, []string{list}, func(_ int, l *oneList) {
		done = l.version == c.Version
		if !done {
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
	return s.each(ctx, names, func(_ int, l *oneList) {
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
		s.byName.Remove(name)
	}
	return nil
}

// Begin implements [timeline.Builder].
func (s *Lists) Begin(ctx context.Context, name string) (string, timeline.State, error) {
	if err := ctx.Err(); err != nil {
		return "", timeline.None, err
	}
	now := s.cfg.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	if l := s.find(name, now); l != nil {
		if l.state == timeline.Ready || !l.cleared && now.Sub(l.started) < timeline.TakeOver {
			return "", l.state, nil
		}
		s.byName.Remove(name)
	}
	l := &oneList{name: strings.Clone(name), token: s.unique(), started: now, ends: now.Add(timeline.BuildTTL)}
	l.state, l.version = timeline.Building, l.token
	s.byName.Add(l.name, l)
	s.count(l)
	return l.token, timeline.Building, nil
}

// Commit implements [timeline.Builder].
func (s *Lists) Commit(ctx context.Context, name, token string, c timeline.Content) (done bool, err error) {
	add, floor := owned(c.Entries), owned([]timeline.Position{c.Floor})[0]
	err = s.each(ctx, []string{name}, func(_ int, l *oneList) {
		if l.token != token || l.cleared {
			return
		}
		done = true
		if l.state == timeline.Ready {
			return
		}
		gone := l.gone
		l.gone, l.state = nil, timeline.Ready
		l.raise(floor)
		l.put(add, gone)
		l.trim(s.cfg.Cap)
		s.use(l, s.cfg.Clock().Add(timeline.TTL))
	})
	return done, err
}

// Abandon implements [timeline.Builder].
func (s *Lists) Abandon(ctx context.Context, name, token string) error {
	return s.each(ctx, []string{name}, func(_ int, l *oneList) {
		if l.token == token && l.state != timeline.Ready {
			s.byName.Remove(name)
		}
	})
}
