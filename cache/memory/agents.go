package memory

import (
	"cmp"
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
	// sweepEvery is the interval at which a shard removes expired data.
	sweepEvery = time.Minute
	// mostBack is how far the clock may go back before sessions are dropped: they were checked against
	// the window of another day, and would live until the clock has caught up.
	mostBack = time.Hour
)

// agents holds the states of all agents, spread over shards to reduce contention: the lock of an
// agent's shard is held for the whole call.
type agents struct {
	seed   maphash.Seed
	shards [64]shard
}

type shard struct {
	mu      sync.Mutex
	byAgent map[string]*state
	swept   time.Time
}

// state is the state of one agent. Named feeds share a session.
type state struct {
	forYou, home, named session
	opened              []opened // the named feeds refreshed last, the latest first
}

// opened is a named feed and the time of its last refresh.
type opened struct {
	scope string
	at    time.Time
}

// maxOpened is the number of named feeds of which the last refresh is known.
const maxOpened = 16

// open notes a refresh of a named feed.
func (a *state) open(scope string, at time.Time) {
	a.opened = slices.DeleteFunc(a.opened, func(o opened) bool { return o.scope == scope })
	a.opened = slices.Insert(a.opened, 0, opened{scope, at})
	a.opened = a.opened[:min(len(a.opened), maxOpened)]
}

// refreshed returns the time of the last refresh of a feed.
func (a *state) refreshed(name feed.Name) time.Time {
	if !name.Named() || name == feed.AnyNamed {
		return a.of(name).refreshed
	}
	for _, o := range a.opened {
		if o.scope == name.Scope() {
			return o.at
		}
	}
	return time.Time{}
}

// of returns the agent's session of a feed.
func (a *state) of(name feed.Name) *session {
	switch {
	case name.Named():
		return &a.named
	case name == feed.HomeFeed:
		return &a.home
	}
	return &a.forYou
}

// sessions returns the agent's sessions.
func (a *state) sessions() [3]*session { return [3]*session{&a.forYou, &a.home, &a.named} }

// withdraw removes refs with a group or id in keys from all sessions but one.
func (a *state) withdraw(keys []string, but *session) {
	for _, s := range a.sessions() {
		if s != but {
			s.remove(keys)
		}
	}
}

// remove removes refs with a group or id in keys from a session. A named feed keeps those that are
// marked as shown before.
func (a *session) remove(keys []string) {
	if len(a.refs) == 0 || len(keys) == 0 {
		return
	}
	out := make(map[string]struct{}, len(keys))
	for _, key := range keys {
		out[key] = struct{}{}
	}
	// In place: a page that shares the session's memory precedes it.
	var buf [4]string
	a.refs = slices.DeleteFunc(a.refs, func(ref feed.Ref) bool {
		taken, _ := ref.AppendTakenKeys(buf[:0])
		return slices.ContainsFunc(taken, func(key string) bool {
			_, hit := out[key]
			return hit
		})
	})
}

// begun reports whether the session has refs of the feed: another named feed may have replaced it.
func (a *session) begun(name feed.Name) bool {
	return len(a.refs) > 0 && a.refs[0].Scope == name.Scope()
}

// recordedAs returns what the record of a call stores as its action: named feeds share the records.
func recordedAs(call cache.Call) string {
	if call.Feed.Named() {
		return call.Action + ":" + call.Feed.Scope()
	}
	return call.Action
}

// session is the state of one feed of an agent.
type session struct {
	refs      []feed.Ref // refs left to page
	ends      time.Time
	refreshed time.Time
	records   map[string]*record
}

// record holds the response to a call with a request id.
type record struct {
	action      string
	limit       int
	calls       []string // owners of the call that made it and of the first others that it was returned to
	steps       []step
	more, first bool
	ends        time.Time
}

// held is the set of calls that hold a ref, one bit each, in the order of [record.calls]. See
// [cache.Sessions].
type held uint32

const (
	beyond   held = 1 << cache.MaxCalls // all calls beyond MaxCalls; none of them can remove it
	everyone      = 2*beyond - 1
)

// bit returns the bit of a call; 0 if it can return nothing.
func (r *record) bit(owner string) held {
	i := slices.Index(r.calls, owner)
	if i < 0 {
		return 0
	}
	return 1 << i
}

// join adds a call that receives a step from the record and returns its bit.
func (r *record) join(owner string) held {
	if r.bit(owner) == 0 && len(r.calls) < cache.MaxCalls {
		r.calls = append(r.calls, owner)
	}
	return cmp.Or(r.bit(owner), beyond)
}

// step holds the refs that one step of a call handed out.
type step struct {
	number int
	refs   []feed.Ref
	held   []held // the holders of each ref
}

func (s *agents) of(agent string) *shard {
	return &s.shards[maphash.String(s.seed, agent)%uint64(len(s.shards))]
}

// lock returns the agent's state with its shard locked. It also sweeps expired data: memory grows
// only through calls, so sweeping during calls is sufficient.
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

// unlock unlocks the shard, after deleting the state if it is empty.
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

func (a *state) empty() bool {
	return a.forYou.empty() && a.home.empty() && a.named.empty() && len(a.opened) == 0
}

func (a *state) expire(now time.Time) {
	for _, s := range a.sessions() {
		s.expire(now)
	}
	if len(a.opened) > 0 {
		a.opened = slices.DeleteFunc(a.opened, func(o opened) bool { return now.Sub(o.at) >= refreshedFor })
	}
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

// replay answers a step from the call's record; ok is false if the record does not contain it. A
// record of another feed under the same request id is a conflict.
func (a *state) replay(call cache.Call, now time.Time) (page cache.Page, ok bool, err error) {
	own := a.of(call.Feed)
	if call.RequestID == "" || own.recorded(call.RequestID, now) {
		return own.replay(call, now)
	}
	for _, other := range call.Feed.Others() {
		if a.of(other).recorded(call.RequestID, now) {
			return cache.Page{}, false, fmt.Errorf("%w (it was of another feed)", cache.ErrConflict)
		}
	}
	return cache.Page{}, false, nil
}

// recorded reports whether there is a record under a request id.
func (a *session) recorded(id string, now time.Time) bool {
	r, found := a.records[id]
	return found && now.Before(r.ends)
}

// replay answers a step from the call's record; ok is false if the record does not contain it.
func (a *session) replay(call cache.Call, now time.Time) (page cache.Page, ok bool, err error) {
	if call.RequestID == "" || !a.recorded(call.RequestID, now) {
		return cache.Page{}, false, nil
	}
	r := a.records[call.RequestID]
	page = cache.Page{HasMore: r.more, First: r.first, Recorded: true, Replayed: r.calls[0] != call.Owner, Next: r.steps[len(r.steps)-1].number + 1}
	for _, s := range r.steps {
		if call.Step == 0 || s.number == call.Step {
			page.Refs = append(page.Refs, s.refs...)
			ok = true
		}
	}
	if !ok {
		return cache.Page{}, false, nil
	}
	if r.action != recordedAs(call) || r.limit != call.Limit {
		return cache.Page{}, false, fmt.Errorf("%w (it was %s %d, this is %s %d)",
			cache.ErrConflict, r.action, r.limit, recordedAs(call), call.Limit)
	}
	by := r.join(call.Owner)
	for _, s := range r.steps {
		for i := range s.held {
			if call.Step == 0 || s.number == call.Step {
				s.held[i] |= by
			}
		}
	}
	least := now.Add(cache.AnsweredTTL)
	if r.ends.Before(least) {
		r.ends = least
	}
	return page, true, nil
}

// remember returns the page for the refs handed out, and the call's record with it, which the caller
// stores; nil if the record does not change. more reports whether the session then holds something.
// Calls without a request id need no record, because an in-process step is never run again. A step
// after the first that handed out nothing changes only has_more.
func (a *session) remember(call cache.Call, refs []feed.Ref, more, first bool, now time.Time) (cache.Page, *record) {
	page := cache.Page{Refs: refs, HasMore: more, Next: call.Step + 1, First: first}
	if len(refs) == 0 && call.Step > 0 {
		page.Next = call.Step
	}
	if call.RequestID == "" {
		return page, nil
	}
	r := &record{action: recordedAs(call), limit: call.Limit, calls: []string{call.Owner}, first: first}
	was, found := a.records[call.RequestID]
	if found && now.Before(was.ends) && call.Step > 0 {
		*r = *was
		r.calls, r.steps = slices.Clone(was.calls), slices.Clone(was.steps)
	} else if page.Next == call.Step {
		return page, nil
	}
	r.more, r.ends = page.HasMore, now.Add(cache.RetryTTL)
	if page.Next > call.Step {
		r.steps = append(r.steps, step{call.Step, slices.Clone(refs), slices.Repeat([]held{r.join(call.Owner)}, len(refs))})
	}
	page.Shared = len(r.calls) > 1
	return page, r
}

// put stores a record, if there is one.
func (a *session) put(id string, r *record) {
	if r == nil {
		return
	}
	if a.records == nil {
		a.records = make(map[string]*record)
	}
	a.records[id] = r
}

// heldAlone returns those of the refs that the call's record lists and that no other call holds;
// all of them if the call has no request id.
func (a *session) heldAlone(call cache.Call, refs []feed.Ref) []feed.Ref {
	if call.RequestID == "" {
		return refs
	}
	r, found := a.records[call.RequestID]
	if !found {
		return nil
	}
	by := r.bit(call.Owner)
	if by == 0 {
		return nil
	}
	var out []feed.Ref
	for _, s := range r.steps {
		for i, ref := range s.refs {
			if s.held[i] == by && slices.Contains(refs, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

// release removes the call's hold on refs, and removes from the record those that are then unheld;
// omit removes the holds of all calls. If restoring leaves a record without refs, it is deleted.
func (a *session) release(call cache.Call, refs []feed.Ref, restore, omit bool) {
	r, found := a.records[call.RequestID]
	if !found {
		return
	}
	by := r.bit(call.Owner)
	if by == 0 {
		return
	}
	if omit {
		by = everyone
	}
	left := 0
	for i := range r.steps {
		s := &r.steps[i]
		kept := 0
		for k, ref := range s.refs {
			if slices.Contains(refs, ref) {
				s.held[k] &^= by
			}
			if s.held[k] != 0 {
				s.refs[kept], s.held[kept] = ref, s.held[k]
				kept++
			}
		}
		s.refs, s.held = s.refs[:kept], s.held[:kept]
		left += kept
	}
	r.more = r.more || restore
	if restore && left == 0 {
		delete(a.records, call.RequestID)
	}
}

// contractError wraps an error of the pending set in the sentinel that callers of sessions test
// for.
func contractError(err error) error {
	if errors.Is(err, dedup.ErrUnavailable) {
		// The session store's outage comes first in the error, because it is the one to report to
		// callers.
		return fmt.Errorf("%[2]w: %[1]w", err, cache.ErrUnavailable)
	}
	return fmt.Errorf("sessions: %w", err)
}
