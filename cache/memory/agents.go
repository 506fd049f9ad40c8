package memory

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

const (
	// sweepEvery is how often a shard looks for what has expired.
	sweepEvery = time.Minute
	// mostBack is how far the clock may go back until sessions are dropped: they were checked
	// against the window of another day, and would live until the clock is there again.
	mostBack = time.Hour
)

// agents holds the states, spread over shards so that agents seldom wait for
// one another: the lock of an agent's shard is held for the whole call.
type agents struct {
	seed   maphash.Seed
	shards [64]shard
}

type shard struct {
	mu      sync.Mutex
	byAgent map[string]*state
	swept   time.Time
}

// state is the state of one agent.
type state struct{ forYou, home session }

// of is the agent's session of a feed.
func (a *state) of(name feed.Name) *session {
	if name == feed.HomeFeed {
		return &a.home
	}
	return &a.forYou
}

// strike takes what is known by one of the keys, groups and ids, out of a session.
func (a *session) strike(keys []string) {
	if len(a.refs) == 0 || len(keys) == 0 {
		return
	}
	out := make(map[string]struct{}, len(keys))
	for _, key := range keys {
		out[key] = struct{}{}
	}
	// In place: a page that shares the session's memory is before it.
	a.refs = slices.DeleteFunc(a.refs, func(ref feed.Ref) bool {
		_, hit := out[ref.Group]
		if !hit && ref.ID != ref.Group {
			_, hit = out[ref.ID]
		}
		return hit
	})
}

// session is one feed of an agent.
type session struct {
	refs      []feed.Ref // what is left to page
	ends      time.Time
	refreshed time.Time
	records   map[string]*record
}

// record holds the answer to a call with a request id.
type record struct {
	action, owner string
	limit         int
	steps         []step
	more, first   bool
	ends          time.Time
	others        []string // the other calls that were answered with it
}

// held are the calls that hold a ref: a bit for each, the first for the call that made the
// record. See [cache.Sessions].
type held uint32

const (
	maker  held = 1
	beyond held = 1 << cache.MaxCalls // the calls that are not told apart, which give nothing back
)

// bit stands for a call; 0: it holds nothing.
func (r *record) bit(owner string) held {
	if owner == r.owner {
		return maker
	}
	return maker << (1 + slices.Index(r.others, owner)) &^ maker
}

// join is the bit of a call that is answered with a step.
func (r *record) join(owner string) held {
	if b := r.bit(owner); b != 0 {
		return b
	}
	if 1+len(r.others) == cache.MaxCalls {
		return beyond
	}
	r.others = append(r.others, owner)
	return r.bit(owner)
}

// step holds the refs that one step of a call handed out.
type step struct {
	number int
	refs   []feed.Ref
	held   []held // by whom each ref is
}

func (s *agents) of(agent string) *shard {
	return &s.shards[maphash.String(s.seed, agent)%uint64(len(s.shards))]
}

// lock returns the agent's state, and holds its shard's lock. It also does the sweeping:
// memory grows only by calls, so calls may as well shrink it.
func (s *agents) lock(agent string, now time.Time) *state {
	sh := s.of(agent)
	sh.mu.Lock()
	switch d := now.Sub(sh.swept); {
	case d < -mostBack:
		sh.byAgent, sh.swept = make(map[string]*state), now
	case d >= sweepEvery:
		sh.sweep(now)
	}
	a := sh.byAgent[agent]
	if a == nil {
		a = new(state)
		sh.byAgent[agent] = a
	}
	return a
}

// unlock ends the call, and deletes a state that is empty.
func (s *agents) unlock(agent string, a *state) {
	sh := s.of(agent)
	if a.empty() {
		delete(sh.byAgent, agent)
	}
	sh.mu.Unlock()
}

func (sh *shard) sweep(now time.Time) {
	sh.swept = now
	for agent, a := range sh.byAgent {
		a.expire(now)
		if a.empty() {
			delete(sh.byAgent, agent)
		}
	}
}

func (a *state) empty() bool { return a.forYou.empty() && a.home.empty() }

func (a *state) expire(now time.Time) {
	a.forYou.expire(now)
	a.home.expire(now)
}

func (a *session) empty() bool {
	return len(a.refs) == 0 && len(a.records) == 0 && a.refreshed.IsZero()
}

func (a *session) expire(now time.Time) {
	if !now.Before(a.ends) || len(a.refs) == 0 {
		a.refs = nil
	}
	if now.Sub(a.refreshed) >= refreshedFor {
		a.refreshed = time.Time{}
	}
	for id, r := range a.records {
		if !now.Before(r.ends) {
			delete(a.records, id)
		}
	}
	if len(a.records) == 0 {
		a.records = nil
	}
}

// replay answers a step from the call's record; ok is false where that does not
// have it.
func (a *session) replay(call cache.Call, now time.Time) (page cache.Page, ok bool, err error) {
	r, found := a.records[call.RequestID]
	if !found || call.RequestID == "" || !now.Before(r.ends) {
		return cache.Page{}, false, nil
	}
	page = cache.Page{HasMore: r.more, First: r.first, Again: true, Replayed: r.owner != call.Owner, Next: r.steps[len(r.steps)-1].number + 1}
	for _, s := range r.steps {
		if call.Step == 0 || s.number == call.Step {
			page.Refs = append(page.Refs, s.refs...)
			ok = true
		}
	}
	if !ok {
		return cache.Page{}, false, nil
	}
	if r.action != call.Action || r.limit != call.Limit {
		return cache.Page{}, false, fmt.Errorf("%w (it was %s %d, this is %s %d)",
			cache.ErrConflict, r.action, r.limit, call.Action, call.Limit)
	}
	by := r.join(call.Owner)
	for _, s := range r.steps {
		for i := range s.held {
			if call.Step == 0 || s.number == call.Step {
				s.held[i] |= by
			}
		}
	}
	if least := now.Add(cache.AnsweredTTL); r.ends.Before(least) {
		r.ends = least
	}
	return page, true, nil
}

// remember makes the page of what was handed out and adds it to the call's
// record, if it has a request id: a step in this process is never run again, so
// other calls need none. A step after the first that handed out nothing changes
// only has_more.
func (a *session) remember(call cache.Call, refs []feed.Ref, first bool, now time.Time) cache.Page {
	page := cache.Page{Refs: refs, HasMore: len(a.refs) > 0, Next: call.Step + 1, First: first}
	if len(refs) == 0 && call.Step > 0 {
		page.Next = call.Step
	}
	if call.RequestID == "" {
		return page
	}
	r, found := a.records[call.RequestID]
	if !found || !now.Before(r.ends) || call.Step == 0 {
		if page.Next == call.Step {
			return page
		}
		r = &record{action: call.Action, limit: call.Limit, owner: call.Owner, first: first}
		if a.records == nil {
			a.records = make(map[string]*record)
		}
		a.records[call.RequestID] = r
	}
	r.more, r.ends = page.HasMore, now.Add(cache.RetryTTL)
	if page.Next > call.Step {
		r.steps = append(r.steps, step{call.Step, slices.Clone(refs), slices.Repeat([]held{r.join(call.Owner)}, len(refs))})
	}
	page.Shared = len(r.others) > 0
	return page
}

// only returns those of the refs that the call's record lists and that no other call holds;
// all where the call has no record.
func (a *session) only(call cache.Call, refs []feed.Ref) []feed.Ref {
	if call.RequestID == "" {
		return refs
	}
	r, found := a.records[call.RequestID]
	if !found {
		return nil
	}
	by := r.bit(call.Owner)
	var out []feed.Ref
	for _, s := range r.steps {
		for i, ref := range s.refs {
			if by != 0 && s.held[i] == by && slices.Contains(refs, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

// letGo takes the call's hold off refs, and those that nobody holds then out of the record;
// omit takes them out whoever else holds them. A record that is restored to nothing is
// deleted.
func (a *session) letGo(call cache.Call, refs []feed.Ref, restore, omit bool) {
	r, found := a.records[call.RequestID]
	if !found {
		return
	}
	by := r.bit(call.Owner)
	if by == 0 {
		return
	}
	left := 0
	for i := range r.steps {
		s := &r.steps[i]
		kept := 0
		for k, ref := range s.refs {
			if s.held[k]&by != 0 && slices.Contains(refs, ref) {
				if s.held[k] &^= by; omit || s.held[k] == 0 {
					continue
				}
			}
			s.refs[kept], s.held[kept] = ref, s.held[k]
			kept++
		}
		s.refs, s.held = s.refs[:kept], s.held[:kept]
		left += kept
	}
	r.more = r.more || restore
	if restore && left == 0 {
		delete(a.records, call.RequestID)
	}
}

// contractError gives an error of the pending set the sentinel a caller of sessions
// looks for.
func contractError(err error) error {
	if errors.Is(err, dedup.ErrUnavailable) {
		// Its own outage comes first in the error, because it is the one to tell callers.
		return fmt.Errorf("%[2]w: %[1]w", err, cache.ErrUnavailable)
	}
	return fmt.Errorf("sessions: %w", err)
}
