// Package memory stores sessions in this process. They end with it; the agent's next call then
// refreshes. The pages of calls with a request id are in a file, too, so that their retries get them
// after a kill.
package memory

import (
	"context"
	"fmt"
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
	pages   *pages    // nil: records end with the process
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

// Store is the dedup store of [Open].
type Store interface {
	dedup.Claimer
	dedup.Checker
}

// Open is [New] with records that survive a kill, in an existing directory. A record whose page was not
// claimed before the kill has not been handed out, and is dropped: the store must know what was claimed.
func Open(ctx context.Context, dir string, store Store, ttl time.Duration, clock feed.Clock) (*Sessions, error) {
	s := New(store, ttl, clock)
	s.pages = &pages{path: dir, clock: clock}
	lines, err := s.pages.load()
	if err != nil {
		return nil, fmt.Errorf("pages for retries: %w", err)
	}
	var revived []line
	for _, l := range lines {
		ok, err := s.revive(ctx, store, &l)
		if err != nil {
			return nil, fmt.Errorf("pages for retries: %w", err)
		}
		if ok {
			revived = append(revived, l)
		}
	}
	// What is dropped now must not be found at the next start: another page may have it by then.
	if err := s.pages.begin(revived); err != nil {
		return nil, fmt.Errorf("pages for retries: %w", err)
	}
	return s, nil
}

// revive takes a record from the file, with those of its refs that count as shown, to which it cuts the
// line; ok is false if there are none. No call holds them until a retry asks for them.
func (s *Sessions) revive(ctx context.Context, store dedup.Checker, l *line) (ok bool, err error) {
	now := s.clock()
	r := &record{action: l.Action, limit: l.Limit, calls: []string{"killed"}, more: l.More, first: l.First, ends: time.UnixMilli(l.Ends)}
	latest := now.Add(cache.RetryTTL)
	if r.ends.After(latest) { // the clock was set back
		r.ends = latest
	}
	for i := range l.Steps {
		kept := &l.Steps[i]
		groups := make([]string, len(kept.Refs))
		for k, ref := range kept.Refs {
			keys, _ := ref.AppendTakenKeys(nil)
			groups[k] = keys[0]
		}
		checked, err := store.Check(ctx, l.Agent, groups, now)
		if err != nil {
			return false, err
		}
		var shown []feed.Ref
		for k, ref := range kept.Refs {
			if checked.Verdicts[k] != dedup.Unseen {
				shown = append(shown, ref)
			}
		}
		kept.Refs, ok = shown, ok || len(shown) > 0
		r.steps = append(r.steps, step{kept.Number, shown, make([]held, len(shown))})
	}
	if !ok {
		return false, nil
	}
	a := s.agents.lock(l.Agent, now)
	defer s.agents.unlock(l.Agent, a)
	a.of(l.Feed).put(l.ID, r)
	return true, nil
}

// Close closes the file of [Open].
func (s *Sessions) Close(context.Context) error {
	if s.pages == nil {
		return nil
	}
	return s.pages.close()
}

// Replace implements [cache.Sessions].
func (s *Sessions) Replace(ctx context.Context, r cache.Replace) (cache.Page, error) {
	now := s.clock()
	state := s.agents.lock(r.Agent, now)
	defer s.agents.unlock(r.Agent, state)
	a := state.of(r.Call.Feed)
	if page, ok, err := s.replay(state, r.Agent, r.Call, now); ok || err != nil {
		return page, err
	}
	clean, err := s.notPending(ctx, r.Agent, r.Ranked, r.Now)
	if err != nil {
		return cache.Page{}, err
	}
	n := min(max(r.Limit, 0), len(clean))
	page, rest := clean[:n:n], clean[n:]
	state.expire(now)
	first := !r.Known && state.forYou.refreshed.IsZero() && state.home.refreshed.IsZero() && state.named.refreshed.IsZero()
	answer, kept := a.remember(r.Call, page, len(rest) > 0, first, now)
	if err := s.claim(ctx, r.Agent, a, r.Call, kept, page, r.Now); err != nil {
		return cache.Page{}, err
	}
	a.refs, a.ends = rest, now.Add(s.ttl)
	a.refreshed = r.Now
	if r.Call.Feed.Named() {
		state.open(r.Call.Feed.Scope(), r.Now)
	}
	state.withdraw(feed.Keys(page), a)
	a.put(r.Call.RequestID, kept)
	return answer, nil
}

// Pop implements [cache.Sessions].
func (s *Sessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	now := s.clock()
	state := s.agents.lock(p.Agent, now)
	defer s.agents.unlock(p.Agent, state)
	a := state.of(p.Call.Feed)
	if page, ok, err := s.replay(state, p.Agent, p.Call, now); ok || err != nil {
		return page, err
	}
	a.expire(now)
	var page, rest []feed.Ref
	if a.begun(p.Call.Feed) {
		rest = a.refs
	}
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
	answer, kept := cache.Page{HasMore: len(rest) > 0}, (*record)(nil)
	if len(page) > 0 || p.Call.Step > 0 {
		answer, kept = a.remember(p.Call, page, len(rest) > 0, false, now)
	}
	if err := s.claim(ctx, p.Agent, a, p.Call, kept, page, p.Now); err != nil {
		return cache.Page{}, err
	}
	if len(page) > 0 || a.begun(p.Call.Feed) {
		a.refs = rest
	}
	others := p.Call.Feed.Others()
	if len(state.of(others[0]).refs)+len(state.of(others[1]).refs) > 0 {
		state.withdraw(feed.Keys(page), a)
	}
	a.put(p.Call.RequestID, kept)
	return answer, nil
}

// notPending returns the refs that are not pending. If that is all of them, the result shares the
// memory of refs.
func (s *Sessions) notPending(ctx context.Context, agent string, refs []feed.Ref, now time.Time) ([]feed.Ref, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys := s.keys.Get().(*[]string)
	defer s.keys.Put(keys)
	*keys = (*keys)[:0]
	for _, ref := range refs {
		*keys, _ = ref.AppendTakenKeys(*keys)
	}
	held, err := s.claimer.Pending(ctx, agent, *keys, now)
	if err != nil {
		clear(*keys) // the pool must not keep the ids
		return nil, contractError(err)
	}
	if !slices.Contains(held, true) {
		clear(*keys)
		return refs, nil
	}
	clean := make([]feed.Ref, 0, len(refs))
	for _, ref := range refs {
		_, n := ref.AppendTakenKeys((*keys)[:0])
		if !slices.Contains(held[:n], true) {
			clean = append(clean, ref)
		}
		held = held[n:]
	}
	clear(*keys)
	return clean, nil
}

// claim makes a page pending, after its record is in the file: a record whose page is not pending is
// dropped at the next start.
func (s *Sessions) claim(ctx context.Context, agent string, a *session, call cache.Call, r *record, page []feed.Ref, now time.Time) error {
	if r != nil {
		if err := s.pages.keep(agent, call, r); err != nil {
			return err
		}
	}
	if len(page) == 0 {
		return nil
	}
	if err := s.claimKeys(ctx, agent, page, now); err != nil {
		if r != nil {
			// If this fails, too, the next start drops it, unless another page has the same by then.
			_ = s.pages.keep(agent, call, a.records[call.RequestID])
		}
		return contractError(err)
	}
	return nil
}

// claimKeys claims the keys of a page. What another feed has shown a moment ago, and a named feed shows
// again, is still that feed's: giving the page of either back leaves it pending.
func (s *Sessions) claimKeys(ctx context.Context, agent string, page []feed.Ref, now time.Time) error {
	keys := feed.ClaimKeys(page)
	if !slices.ContainsFunc(page, func(r feed.Ref) bool { return r.Scope != "" && r.ShownBefore }) {
		return s.claimer.Claim(ctx, agent, keys, now)
	}
	pending, err := s.claimer.Pending(ctx, agent, keys, now)
	if err != nil {
		return err
	}
	var own, shown []string
	for i, key := range keys {
		if pending[i] {
			shown = append(shown, key)
		} else {
			own = append(own, key)
		}
	}
	if len(shown) > 0 {
		if err := s.claimer.AddShown(ctx, agent, shown, now); err != nil {
			return err
		}
	}
	return s.claimer.Claim(ctx, agent, own, now)
}

// Replay implements [cache.Sessions].
func (s *Sessions) Replay(_ context.Context, agent string, call cache.Call) (cache.Page, bool, error) {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	call.Step = 0
	return s.replay(a, agent, call, now)
}

// replay is state.replay; a record that it lets live longer does so also in the file.
func (s *Sessions) replay(a *state, agent string, call cache.Call, now time.Time) (cache.Page, bool, error) {
	var ends time.Time
	r := a.of(call.Feed).records[call.RequestID]
	if r != nil {
		ends = r.ends
	}
	page, ok, err := a.replay(call, now)
	if ok && r.ends.After(ends) {
		err = s.pages.keep(agent, call, r)
	}
	return page, ok, err
}

// Next implements [cache.Sessions].
func (s *Sessions) Next(_ context.Context, agent string, name feed.Name, n int) ([]feed.Ref, error) {
	now := s.clock()
	state := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, state)
	a := state.of(name)
	a.expire(now)
	if !a.begun(name) {
		return nil, nil
	}
	return slices.Clone(a.refs[:min(max(n, 0), len(a.refs))]), nil
}

// Refreshed implements [cache.Sessions].
func (s *Sessions) Refreshed(_ context.Context, agent string, name feed.Name) (time.Time, error) {
	now := s.clock()
	a := s.agents.lock(agent, now)
	defer s.agents.unlock(agent, a)
	a.expire(now)
	return a.refreshed(name), nil
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
	if err := s.pages.keep(agent, call, a.records[call.RequestID]); err != nil {
		return err
	}
	// Refs that are still pending were shown elsewhere meanwhile.
	free, err := s.notPending(ctx, agent, free, now)
	if err != nil {
		return err
	}
	if len(a.refs) == 0 {
		a.ends = now.Add(s.ttl)
	} else if !a.begun(call.Feed) { // another named feed has replaced the session
		return nil
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
	for _, session := range a.sessions() {
		session.refs = nil
	}
	return nil
}

// Forget implements [cache.Sessions].
func (s *Sessions) Forget(_ context.Context, agent string) error {
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	for _, session := range a.sessions() {
		session.refs, session.refreshed = nil, time.Time{}
	}
	a.opened = nil
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
	a.withdraw(groups, nil)
	return nil
}
