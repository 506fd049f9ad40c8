// Package memory stores sessions in this process. They end with it; the agent's next call then
// refreshes.
package memory

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// refreshedFor is how long the time of an agent's last refresh is stored.
const refreshedFor = 8 * 24 * time.Hour

// Sessions implements [cache.Sessions] for one server. A page is claimed in the pending set of the
// dedup store before the session changes, and one lock per agent covers both.
// [cache.Replace.CheckedAt] is ignored: a request that is shorter than the grace period cannot be
// too late.
type Sessions struct {
	claimer dedup.Claimer
	ttl     time.Duration
	clock   feed.Clock
	agents  agents
	keys    sync.Pool // of *[]string
}

var _ cache.Sessions = (*Sessions)(nil)

// New returns sessions that live for ttl after their refresh, by the given clock, and claim the
// refs they hand out in claimer. Nothing else may claim in it.
func New(claimer dedup.Claimer, ttl time.Duration, clock feed.Clock) *Sessions {
	s := &Sessions{claimer: claimer, ttl: ttl, clock: clock, keys: sync.Pool{New: func() any { return new([]string) }}}
	s.agents.seed = maphash.MakeSeed()
	for i := range s.agents.shards {
		s.agents.shards[i].byAgent = make(map[string]*state)
	}
	return s
}

// Replace implements [cache.Sessions].
func (s *Sessions) Replace(ctx context.Context, r cache.Replace) (cache.Page, error) {
	now := s.clock()
	state := s.agents.lock(r.Agent, now)
	defer s.agents.unlock(r.Agent, state)
	a := state.of(r.Call.Feed)
	if page, ok, err := state.replay(r.Call, now); ok || err != nil {
		return page, err
	}
	clean, err := s.notPending(ctx, r.Agent, r.Ranked, r.Now)
	if err != nil {
		return cache.Page{}, err
	}
	n := min(max(r.Limit, 0), len(clean))
	page, rest := clean[:n:n], clean[n:]
	if err := s.claim(ctx, r.Agent, page, r.Now); err != nil {
		return cache.Page{}, err
	}
	state.expire(now)
	first := !r.Known && state.forYou.refreshed.IsZero() && state.home.refreshed.IsZero()
	a.refs, a.ends = rest, now.Add(s.ttl)
	a.refreshed = r.Now
	state.of(r.Call.Feed.Other()).remove(feed.Keys(page))
	return a.remember(r.Call, page, first, now), nil
}

// Pop implements [cache.Sessions].
func (s *Sessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	now := s.clock()
	state := s.agents.lock(p.Agent, now)
	defer s.agents.unlock(p.Agent, state)
	a := state.of(p.Call.Feed)
	if page, ok, err := state.replay(p.Call, now); ok || err != nil {
		return page, err
	}
	a.expire(now)
	var page []feed.Ref
	rest := a.refs
	for len(page) < p.Limit && len(rest) > 0 {
		n := min(p.Limit-len(page), len(rest))
		free, err := s.notPending(ctx, p.Agent, rest[:n:n], p.Now)
		if err != nil {
			return cache.Page{}, err
		}
		page, rest = append(page, free...), rest[n:]
		if len(page) == len(free) {
			page = free // nearly always the whole page, so nothing is copied
		}
	}
	if err := s.claim(ctx, p.Agent, page, p.Now); err != nil {
		return cache.Page{}, err
	}
	a.refs = rest
	other := state.of(p.Call.Feed.Other())
	if len(other.refs) > 0 {
		other.remove(feed.Keys(page))
	}
	if len(page) == 0 && p.Call.Step == 0 {
		return cache.Page{HasMore: len(rest) > 0}, nil
	}
	return a.remember(p.Call, page, false, now), nil
}

// notPending returns the refs that are not pending. If that is all of them, the result shares the
// memory of refs.
func (s *Sessions) notPending(ctx context.Context, agent string, refs []feed.Ref, now time.Time) ([]feed.Ref, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys := s.keys.Get().(*[]string)
	defer s.keys.Put(keys)
	*keys = feed.AppendKeys((*keys)[:0], refs)
	held, err := s.claimer.Pending(ctx, agent, *keys, now)
	clear(*keys) // the pool must not keep the ids
	if err != nil {
		return nil, contractError(err)
	}
	if !slices.Contains(held, true) {
		return refs, nil
	}
	clean := make([]feed.Ref, 0, len(refs))
	for _, ref := range refs {
		out := held[0]
		held = held[1:]
		if ref.ID != ref.Group {
			out = out || held[0]
			held = held[1:]
		}
		if !out {
			clean = append(clean, ref)
		}
	}
	return clean, nil
}

func (s *Sessions) claim(ctx context.Context, agent string, page []feed.Ref, now time.Time) error {
	if len(page) == 0 {
		return nil
	}
	if err := s.claimer.Claim(ctx, agent, feed.ClaimKeys(page), now); err != nil {
		return contractError(err)
	}
	return nil
}

// Replay implements [cache.Sessions].
func (s *Sessions) Replay(_ context.Context, agent string, call cache.Call) (cache.Page, bool, error) {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	call.Step = 0
	return a.replay(call, now)
}

// Next implements [cache.Sessions].
func (s *Sessions) Next(_ context.Context, agent string, name feed.Name, n int) ([]feed.Ref, error) {
	now := s.clock()
	state := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, state)
	a := state.of(name)
	a.expire(now)
	return slices.Clone(a.refs[:min(max(n, 0), len(a.refs))]), nil
}

// Refreshed implements [cache.Sessions].
func (s *Sessions) Refreshed(_ context.Context, agent string, name feed.Name) (time.Time, error) {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	a.expire(now)
	return a.of(name).refreshed, nil
}

// Restore implements [cache.Sessions].
func (s *Sessions) Restore(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.undo(ctx, agent, refs, call, true)
}

// Discard implements [cache.Sessions].
func (s *Sessions) Discard(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.undo(ctx, agent, refs, call, false)
}

func (s *Sessions) undo(ctx context.Context, agent string, refs []feed.Ref, call cache.Call, restore bool) error {
	now := s.clock()
	state := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, state)
	a := state.of(call.Feed)
	a.expire(now)
	free := a.heldAlone(call, refs)
	if len(free) > 0 {
		if err := s.claimer.Release(ctx, agent, feed.ClaimKeys(free)); err != nil {
			return contractError(err)
		}
	}
	a.release(call, refs, restore, false)
	if !restore || len(free) == 0 {
		return nil
	}
	// Refs that are still pending were shown elsewhere meanwhile.
	free, err := s.notPending(ctx, agent, free, now)
	if err != nil {
		return err
	}
	if len(a.refs) == 0 {
		a.ends = now.Add(s.ttl)
	}
	a.refs = slices.Concat(free, a.refs)
	return nil
}

// Omit implements [cache.Sessions].
func (s *Sessions) Omit(_ context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	a.of(call.Feed).release(call, refs, false, true)
	return nil
}

// Abandon implements [cache.Sessions]. It does nothing, because the reply of an in-process step is
// never lost.
func (s *Sessions) Abandon(context.Context, string, cache.Call) error { return nil }

// Delete implements [cache.Sessions].
func (s *Sessions) Delete(_ context.Context, agent string) error {
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	a.forYou.refs, a.home.refs = nil, nil
	return nil
}

// Forget implements [cache.Sessions].
func (s *Sessions) Forget(_ context.Context, agent string) error {
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	for _, session := range []*session{&a.forYou, &a.home} {
		session.refs, session.refreshed = nil, time.Time{}
	}
	return nil
}

// Withdraw implements [cache.Withdrawer]. It changes the pending set first, so that Withdraw can be
// retried after a failure.
func (s *Sessions) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	if err := s.claimer.AddShown(ctx, agent, groups, at); err != nil {
		return contractError(err)
	}
	a.forYou.remove(groups)
	a.home.remove(groups)
	return nil
}
