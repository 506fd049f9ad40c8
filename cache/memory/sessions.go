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
	state := s.agents.lock(r.Agent, now)
	defer s.agents.unlock(r.Agent, state)
	a := state.of(r.Call.Feed)
	if page, ok, err := a.replay(r.Call, now); ok || err != nil {
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
	a.refs, a.ends = slices.Clone(rest), now.Add(s.ttl)
	a.refreshed = r.Now
	state.of(r.Call.Feed.Other()).strike(feed.Keys(page))
	return a.remember(r.Call, page, now), nil
}

// Pop implements [cache.Sessions].
func (s *Sessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	now := s.clock()
	state := s.agents.lock(p.Agent, now)
	defer s.agents.unlock(p.Agent, state)
	a := state.of(p.Call.Feed)
	if page, ok, err := a.replay(p.Call, now); ok || err != nil {
		return page, err
	}
	a.expire(now)
	var page []feed.Ref
	rest := a.refs
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
	a.refs = rest
	if other := state.of(p.Call.Feed.Other()); len(other.refs) > 0 {
		other.strike(feed.Keys(page))
	}
	if len(page) == 0 && p.Call.Step == 0 {
		return cache.Page{HasMore: len(rest) > 0}, nil
	}
	return a.remember(p.Call, page, now), nil
}

// notHeld returns the refs of which nothing is pending.
func (s *Sessions) notHeld(ctx context.Context, agent string, refs []feed.Ref, now time.Time) ([]feed.Ref, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys := feed.Keys(refs)
	claimed, err := s.claimer.Claim(ctx, agent, keys, 0, now)
	if err != nil {
		return nil, contractError(err)
	}
	if !slices.Contains(claimed, dedup.Held) {
		return refs, nil
	}
	clean := make([]feed.Ref, 0, len(refs))
	for _, ref := range refs {
		held := claimed[0] == dedup.Held
		claimed = claimed[1:]
		if ref.ID != ref.Group {
			held = held || claimed[0] == dedup.Held
			claimed = claimed[1:]
		}
		if !held {
			clean = append(clean, ref)
		}
	}
	return clean, nil
}

// claim takes up to limit refs, in order, and returns what it did not reach as
// rest, which shares refs' memory. What another call holds is in neither.
func (s *Sessions) claim(ctx context.Context, agent string, refs []feed.Ref, limit int, now time.Time) (page, rest []feed.Ref, err error) {
	if limit <= 0 || len(refs) == 0 {
		return nil, refs, nil
	}
	if slices.ContainsFunc(refs, func(ref feed.Ref) bool { return ref.ID != ref.Group }) {
		return s.claimKeys(ctx, agent, refs, limit, now)
	}
	claimed, err := s.claimer.Claim(ctx, agent, feed.Groups(refs), limit, now)
	if err != nil {
		return nil, nil, contractError(err)
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

// claimKeys is claim where a ref has two keys, of which the store takes each by
// itself. Those that are free are found first. Another server may come between: what
// it has taken a key of is left to it.
func (s *Sessions) claimKeys(ctx context.Context, agent string, refs []feed.Ref, limit int, now time.Time) (page, rest []feed.Ref, err error) {
	rest, err = s.notHeld(ctx, agent, refs, now)
	for err == nil && len(page) < limit && len(rest) > 0 {
		next := rest[:min(limit-len(page), len(rest))]
		rest = rest[len(next):]
		page, err = s.claimBoth(ctx, agent, page, next, now)
	}
	if err != nil {
		return nil, nil, s.giveBack(ctx, agent, page, err)
	}
	return page, rest, nil
}

// claimBoth adds those of the refs to a page of which it has got every key.
func (s *Sessions) claimBoth(ctx context.Context, agent string, page, refs []feed.Ref, now time.Time) ([]feed.Ref, error) {
	keys := feed.Keys(refs)
	claimed, err := s.claimer.Claim(ctx, agent, keys, len(keys), now)
	if err != nil {
		return page, contractError(err)
	}
	var halves []string // of refs of which another server has the other key
	for _, ref := range refs {
		n := 1
		if ref.ID != ref.Group {
			n = 2
		}
		switch slices.Index(claimed[:n], dedup.Held) {
		case -1:
			page = append(page, ref)
		case 0:
			if n == 2 && claimed[1] == dedup.Taken {
				halves = append(halves, ref.ID)
			}
		case 1:
			halves = append(halves, ref.Group)
		}
		claimed = claimed[n:]
	}
	if len(halves) == 0 {
		return page, nil
	}
	if err := s.claimer.Release(ctx, agent, halves); err != nil {
		return page, contractError(err)
	}
	return page, nil
}

// giveBack releases a page that was claimed before the call failed with err.
// The caller's context may be what failed, so it is not used for that.
func (s *Sessions) giveBack(ctx context.Context, agent string, page []feed.Ref, err error) error {
	if len(page) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if failed := s.claimer.Release(ctx, agent, feed.Keys(page)); failed != nil {
		return fmt.Errorf("%w (and %d groups stay pending: %w)", err, len(page), failed)
	}
	return err
}

// Replay implements [cache.Sessions].
func (s *Sessions) Replay(_ context.Context, agent string, call cache.Call) (cache.Page, bool, error) {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	call.Step = 0
	return a.of(call.Feed).replay(call, now)
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
	return s.takeBack(ctx, agent, refs, call, true)
}

// Discard implements [cache.Sessions].
func (s *Sessions) Discard(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.takeBack(ctx, agent, refs, call, false)
}

func (s *Sessions) takeBack(ctx context.Context, agent string, refs []feed.Ref, call cache.Call, restore bool) error {
	now := s.clock()
	state := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, state)
	a := state.of(call.Feed)
	a.expire(now)
	free := a.only(call, refs)
	if len(free) > 0 {
		if err := s.claimer.Release(ctx, agent, feed.Keys(free)); err != nil {
			return contractError(err)
		}
	}
	if a.letGo(call, refs, restore, false); !restore || len(free) == 0 {
		return nil
	}
	// What is pending all the same was shown elsewhere meanwhile.
	free, err := s.notHeld(ctx, agent, free, now)
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
	a.of(call.Feed).letGo(call, refs, false, true)
	return nil
}

// Abandon implements [cache.Sessions]. The answer of a step in this process is
// never lost, so there is nothing to take back.
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
