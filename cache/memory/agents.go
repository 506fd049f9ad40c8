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

// sweepEvery is how often a shard looks for what has expired.
const sweepEvery = time.Minute

// agents holds the states, spread over shards so that agents seldom wait for
// one another. A shard's lock is held only to find a state; the state's own
// lock is held for the whole call.
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
type state struct {
	mu    sync.Mutex
	users int // calls that hold or wait for mu; guarded by the shard's lock

	forYou, home session
}

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
	more          bool
	ends          time.Time
	others        []answered // the other calls that it has been answered to
	given         []feed.Ref // what the call itself has restored of these steps since
	delivered     []feed.Ref // what another one may have delivered
}

// answered is a call that a record of another one was answered to, and how many of its steps.
type answered struct {
	owner string
	steps int
}

func (r *record) answeredTo(owner string) int {
	return slices.IndexFunc(r.others, func(o answered) bool { return o.owner == owner })
}

// step holds the refs that one step of a call handed out.
type step struct {
	number int
	refs   []feed.Ref
}

func (s *agents) of(agent string) *shard {
	return &s.shards[maphash.String(s.seed, agent)%uint64(len(s.shards))]
}

// lock returns the agent's state, locked. It also does the sweeping: memory
// grows only by calls, so calls may as well shrink it.
func (s *agents) lock(agent string, now time.Time) *state {
	sh := s.of(agent)
	sh.mu.Lock()
	if now.Sub(sh.swept) >= sweepEvery {
		sh.sweep(now)
	}
	a := sh.byAgent[agent]
	if a == nil {
		a = new(state)
		sh.byAgent[agent] = a
	}
	a.users++
	sh.mu.Unlock()
	a.mu.Lock()
	return a
}

// unlock releases a state, and deletes it when it is empty.
func (s *agents) unlock(agent string, a *state) {
	sh := s.of(agent)
	sh.mu.Lock()
	a.users--
	if a.users == 0 && a.empty() {
		delete(sh.byAgent, agent)
	}
	sh.mu.Unlock()
	a.mu.Unlock()
}

// sweep drops what has expired of agents without a call.
func (sh *shard) sweep(now time.Time) {
	sh.swept = now
	for agent, a := range sh.byAgent {
		if a.users > 0 {
			continue
		}
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

// expire drops what has expired.
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
	page = cache.Page{HasMore: r.more, Again: true, Replayed: r.owner != call.Owner, Next: r.steps[len(r.steps)-1].number + 1}
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
	if page.Replayed {
		if i := r.answeredTo(call.Owner); i >= 0 {
			r.others = slices.Delete(r.others, i, i+1)
		}
		r.others = append(r.others, answered{call.Owner, len(r.steps)})
	}
	return page, true, nil
}

// remember makes the page of what was handed out and adds it to the call's
// record, if it has a request id: a step in this process is never run again, so
// other calls need none. A step after the first that handed out nothing changes
// only has_more.
func (a *session) remember(call cache.Call, refs []feed.Ref, now time.Time) cache.Page {
	page := cache.Page{Refs: refs, HasMore: len(a.refs) > 0, Next: call.Step + 1}
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
		r = &record{action: call.Action, limit: call.Limit, owner: call.Owner}
		if a.records == nil {
			a.records = make(map[string]*record)
		}
		a.records[call.RequestID] = r
	}
	r.more, r.ends = page.HasMore, now.Add(cache.RetryTTL)
	if page.Next > call.Step {
		r.steps = append(r.steps, step{call.Step, slices.Clone(refs)})
	}
	return page
}

// takeBack takes refs out of the call's record and returns those of them that it
// listed, all where the call has none. To restore, see [cache.Sessions], a record that was
// answered to other calls waits for each of them, and then returns what the call itself has
// restored.
func (a *session) takeBack(call cache.Call, refs []feed.Ref, restore bool) []feed.Ref {
	if call.RequestID == "" {
		return refs
	}
	r, found := a.records[call.RequestID]
	seen := 0
	switch {
	case !found:
		return nil
	case r.owner != call.Owner:
		other := r.answeredTo(call.Owner)
		if !restore || other < 0 {
			return nil
		}
		for _, s := range r.steps[:r.others[other].steps] {
			r.delivered = append(r.delivered, without(s.refs, refs)...)
		}
		if r.others = slices.Delete(r.others, other, other+1); len(r.others) > 0 {
			return nil
		}
		refs, r.given = without(r.given, r.delivered), nil
	case restore:
		refs = without(refs, r.delivered)
		for _, o := range r.others { // they may have of these steps what this one could not deliver
			seen = max(seen, o.steps)
		}
		for _, s := range r.steps[:seen] {
			r.given = append(r.given, among(s.refs, refs)...)
		}
	}
	var listed []feed.Ref
	left := 0
	for i := range r.steps {
		s := &r.steps[i]
		if i >= seen {
			listed = append(listed, among(s.refs, refs)...)
			s.refs = without(s.refs, refs)
		}
		left += len(s.refs)
	}
	r.more = r.more || restore
	if restore && left == 0 {
		delete(a.records, call.RequestID)
	}
	return listed
}

// among returns those refs that are among others.
func among(refs, others []feed.Ref) []feed.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(ref feed.Ref) bool { return !slices.Contains(others, ref) })
}

// without returns those refs that are not among others.
func without(refs, others []feed.Ref) []feed.Ref {
	return slices.DeleteFunc(slices.Clone(refs), func(ref feed.Ref) bool { return slices.Contains(others, ref) })
}

// contractError gives an error of the claimer the sentinel a caller of sessions
// looks for.
func contractError(err error) error {
	if errors.Is(err, dedup.ErrUnavailable) {
		return fmt.Errorf("%w: %w", cache.ErrUnavailable, err)
	}
	return fmt.Errorf("sessions: %w", err)
}
