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

// state is what is known of one agent.
type state struct {
	mu    sync.Mutex
	users int // calls that hold or wait for mu; guarded by the shard's lock

	session   []feed.Ref
	ends      time.Time
	refreshed time.Time
	records   map[string]record
}

// record is a page handed out under a request id.
type record struct {
	action string
	limit  int
	page   cache.Page
	ends   time.Time
	again  bool // it has been answered again
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

// unlock lets go of a state and forgets it when nothing is known of the agent.
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

// sweep drops what has expired of the agents nobody is calling for.
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

func (a *state) empty() bool {
	return len(a.session) == 0 && len(a.records) == 0 && a.refreshed.IsZero()
}

// expire drops what has had its time.
func (a *state) expire(now time.Time) {
	if !now.Before(a.ends) || len(a.session) == 0 {
		a.session = nil
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

// replay answers from the retry record; ok is false where there is none or the
// call is a further step of the one that made it.
func (a *state) replay(retry cache.Retry, now time.Time) (page cache.Page, ok bool, err error) {
	r, found := a.records[retry.RequestID]
	if !found || retry.RequestID == "" || retry.Extend || !now.Before(r.ends) {
		return cache.Page{}, false, nil
	}
	if r.action != retry.Action || r.limit != retry.Limit {
		return cache.Page{}, false, fmt.Errorf("%w (it was %s %d, this is %s %d)",
			cache.ErrConflict, r.action, r.limit, retry.Action, retry.Limit)
	}
	r.again = true
	a.records[retry.RequestID] = r
	page = r.page
	page.Refs = slices.Clone(page.Refs)
	page.Replayed = true
	return page, true, nil
}

// remember makes the page of what was handed out and stores it under the
// request id, if there is one. A further step of the same call adds to what is
// stored; one that handed out nothing makes no record of its own.
func (a *state) remember(retry cache.Retry, refs []feed.Ref, now time.Time) cache.Page {
	page := cache.Page{Refs: refs, HasMore: len(a.session) > 0}
	if retry.RequestID == "" {
		return page
	}
	stored := cache.Page{Refs: slices.Clone(refs), HasMore: page.HasMore}
	before, found := a.records[retry.RequestID]
	if retry.Extend {
		if found = found && now.Before(before.ends); found {
			stored.Refs = slices.Concat(before.page.Refs, refs)
		} else if len(refs) == 0 {
			return page
		}
	}
	if a.records == nil {
		a.records = make(map[string]record)
	}
	a.records[retry.RequestID] = record{
		action: retry.Action, limit: retry.Limit, page: stored, ends: now.Add(cache.RetryTTL), again: found && before.again,
	}
	return page
}

// forget takes refs out of a record, and deletes one that has no others. It
// reports false, and does nothing, where the record has been answered again.
func (a *state) forget(requestID string, refs []feed.Ref) bool {
	r, found := a.records[requestID]
	if !found {
		return true
	}
	if r.again {
		return false
	}
	r.page.Refs = slices.DeleteFunc(slices.Clone(r.page.Refs), func(ref feed.Ref) bool { return slices.Contains(refs, ref) })
	r.page.HasMore = true
	a.records[requestID] = r
	if len(r.page.Refs) == 0 {
		delete(a.records, requestID)
	}
	return true
}

// explain gives an error of the claimer the sentinel a caller of sessions
// looks for.
func explain(err error) error {
	if errors.Is(err, dedup.ErrUnavailable) {
		return fmt.Errorf("%w: %w", cache.ErrUnavailable, err)
	}
	return fmt.Errorf("sessions: %w", err)
}
