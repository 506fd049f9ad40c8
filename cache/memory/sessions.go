// Package memory keeps sessions in this process. They end with it; the next
// call of an agent then refreshes.
package memory

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// refreshedFor is how long the time of an agent's last refresh is remembered.
const refreshedFor = 8 * 24 * time.Hour

// releaseTimeout bounds giving claims back after a call failed halfway.
const releaseTimeout = 2 * time.Second

// Sessions implements [cache.Sessions] for one server. What a page hands out
// is claimed in the pending set of the dedup store before the session changes,
// and one lock per agent spans both. It does not use [cache.Replace.CheckedAt]:
// the check's clock may be another server's, and a request that is shorter
// than the grace cannot be too late.
type Sessions struct {
	claimer dedup.Claimer
	ttl     time.Duration
	clock   feed.Clock
	agents  agents
}

var _ cache.Sessions = (*Sessions)(nil)

// New makes sessions that live for ttl after their refresh by the clock and
// claim what they hand out from claimer.
func New(claimer dedup.Claimer, ttl time.Duration, clock feed.Clock) *Sessions {
	s := &Sessions{claimer: claimer, ttl: ttl, clock: clock}
	s.agents.seed = maphash.MakeSeed()
	for i := range s.agents.shards {
		s.agents.shards[i].byAgent = make(map[string]*state)
	}
	return s
}

// Replace implements [cache.Sessions].
func (s *Sessions) Replace(ctx context.Context, r cache.Replace) (cache.Page, error) {
	now := s.clock()
	a := s.agents.lock(r.Agent, now)
	defer s.agents.unlock(r.Agent, a)
	if page, ok, err := a.replay(r.Retry, now); ok || err != nil {
		return page, err
	}
	// Two steps, so that what is held is out of the rest too and a failure
	// leaves nothing to undo.
	clean, err := s.notHeld(ctx, r.Agent, r.Ranked, r.Now)
	if err != nil {
		return cache.Page{}, err
	}
	page, rest, err := s.claim(ctx, r.Agent, clean, r.Limit, r.Now)
	if err != nil {
		return cache.Page{}, err
	}
	a.session, a.ends = slices.Clone(rest), now.Add(s.ttl)
	a.refreshed = r.Now
	return a.remember(r.Retry, page, now), nil
}

// Pop implements [cache.Sessions].
func (s *Sessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	now := s.clock()
	a := s.agents.lock(p.Agent, now)
	defer s.agents.unlock(p.Agent, a)
	if page, ok, err := a.replay(p.Retry, now); ok || err != nil {
		return page, err
	}
	a.expire(now)
	var page []feed.Ref
	rest := a.session
	for len(page) < p.Limit && len(rest) > 0 {
		n := min(p.Limit-len(page), len(rest))
		taken, _, err := s.claim(ctx, p.Agent, rest[:n], n, p.Now)
		if err != nil {
			return cache.Page{}, s.giveBack(ctx, p.Agent, page, err)
		}
		if page == nil {
			page = taken // nearly always the whole page, so nothing is copied
		} else {
			page = append(page, taken...)
		}
		rest = rest[n:]
	}
	a.session = rest
	if len(page) == 0 && !p.Retry.Extend {
		return cache.Page{HasMore: len(rest) > 0}, nil
	}
	return a.remember(p.Retry, page, now), nil
}

// notHeld returns the refs whose groups are not pending.
func (s *Sessions) notHeld(ctx context.Context, agent string, refs []feed.Ref, now time.Time) ([]feed.Ref, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	claimed, err := s.claimer.Claim(ctx, agent, feed.Groups(refs), 0, now)
	if err != nil {
		return nil, explain(err)
	}
	if !slices.Contains(claimed, dedup.Held) {
		return refs, nil
	}
	clean := make([]feed.Ref, 0, len(refs))
	for i, c := range claimed {
		if c != dedup.Held {
			clean = append(clean, refs[i])
		}
	}
	return clean, nil
}

// claim takes up to limit refs, in order, and returns what it did not reach as
// rest, which shares refs' memory. What is held by somebody else is in neither.
func (s *Sessions) claim(ctx context.Context, agent string, refs []feed.Ref, limit int, now time.Time) (page, rest []feed.Ref, err error) {
	if limit <= 0 || len(refs) == 0 {
		return nil, refs, nil
	}
	claimed, err := s.claimer.Claim(ctx, agent, feed.Groups(refs), limit, now)
	if err != nil {
		return nil, nil, explain(err)
	}
	page = make([]feed.Ref, 0, min(limit, len(refs)))
	for i, c := range claimed {
		switch c {
		case dedup.Taken:
			page = append(page, refs[i])
		case dedup.Left:
			return page, refs[i:], nil
		case dedup.Held:
		}
	}
	return page, nil, nil
}

// giveBack releases a page that was claimed before the call failed with err.
// The caller's context may be what failed, so it is not used for that.
func (s *Sessions) giveBack(ctx context.Context, agent string, page []feed.Ref, err error) error {
	if len(page) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if failed := s.claimer.Release(ctx, agent, feed.Groups(page)); failed != nil {
		return fmt.Errorf("%w (and %d groups stay pending: %w)", err, len(page), failed)
	}
	return err
}

// Replay implements [cache.Sessions].
func (s *Sessions) Replay(_ context.Context, agent string, retry cache.Retry) (cache.Page, bool, error) {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	retry.Extend = false
	return a.replay(retry, now)
}

// Refreshed implements [cache.Sessions].
func (s *Sessions) Refreshed(_ context.Context, agent string) (time.Time, error) {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	a.expire(now)
	return a.refreshed, nil
}

// Restore implements [cache.Sessions].
func (s *Sessions) Restore(ctx context.Context, agent string, refs []feed.Ref, retry cache.Retry) error {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	a.expire(now)
	if len(refs) == 0 || !a.forget(retry.RequestID, refs) {
		return nil
	}
	if err := s.claimer.Release(ctx, agent, feed.Groups(refs)); err != nil {
		return explain(err)
	}
	if len(a.session) == 0 {
		a.ends = now.Add(s.ttl)
	}
	a.session = slices.Concat(refs, a.session)
	return nil
}

// Delete implements [cache.Sessions].
func (s *Sessions) Delete(_ context.Context, agent string) error {
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	a.session = nil
	return nil
}
