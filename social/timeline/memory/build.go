package memory

import (
	"context"
	"strings"

	"github.com/freshet/freshet/social/timeline"
)

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
		s.forget(l)
	}
	l := &oneList{name: strings.Clone(name), token: s.unique(), started: now, ends: now.Add(timeline.BuildTTL)}
	l.state, l.version = timeline.Building, l.token
	l.place = s.order.PushFront(l)
	s.byName[l.name] = l
	s.count(l)
	return l.token, timeline.Building, nil
}

// Commit implements [timeline.Builder].
func (s *Lists) Commit(ctx context.Context, name, token string, c timeline.Content) (done bool, err error) {
	add, floor := owned(c.Entries), owned([]timeline.Position{c.Floor})[0]
	err = s.change(ctx, []string{name}, func(_ int, l *oneList) {
		if l.token != token || l.cleared {
			return
		}
		if done = true; l.state == timeline.Ready {
			return
		}
		gone := l.gone
		l.gone, l.state = nil, timeline.Ready
		l.raise(floor)
		l.put(add, gone)
		l.trim(s.cfg.Cap)
		s.use(l, s.cfg.Clock().Add(s.cfg.TTL))
	})
	return done, err
}

// Abandon implements [timeline.Builder].
func (s *Lists) Abandon(ctx context.Context, name, token string) error {
	return s.change(ctx, []string{name}, func(_ int, l *oneList) {
		if l.token == token && l.state != timeline.Ready {
			s.forget(l)
		}
	})
}
