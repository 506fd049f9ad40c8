package memory

import (
	"hash/maphash"
	"iter"
	"sync"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// pendingShards is the number of locks that agents are spread over; a power of two.
const pendingShards = 1024

// maxSweepGap is the maximum time between two sweeps of expired entries, in milliseconds.
const maxSweepGap = int64(time.Minute / time.Millisecond)

// mostStale bounds the number of stale groups that one check returns; the agent's next check
// returns more.
const mostStale = 1000

// usualPage is the usual number of groups that become pending at once.
const usualPage = 20

// since records when a group was served, in Unix milliseconds, the day whose journal contains it,
// and whether it is held, so that a release does not remove it.
type since struct {
	at   int64
	day  feed.Day // differs from at's day if the call was late or the clock was set back
	held bool
}

// pending holds every agent's exact set of recently served groups.
type pending struct {
	seed   maphash.Seed
	ttl    int64 // milliseconds
	shards [pendingShards]shard
}

type shard struct {
	mu        sync.Mutex
	agents    map[string]map[string]since
	nextSweep int64 // Unix ms
}

func newPending(ttl time.Duration) *pending {
	p := &pending{seed: maphash.MakeSeed(), ttl: ttl.Milliseconds()}
	for i := range p.shards {
		p.shards[i].agents = map[string]map[string]since{}
	}
	return p
}

// of returns the shard of an agent.
func (p *pending) of(agent string) *shard {
	return &p.shards[maphash.String(p.seed, agent)%pendingShards]
}

// lock locks and returns the shard of an agent.
func (p *pending) lock(agent string) *shard {
	s := p.of(agent)
	s.mu.Lock()
	return s
}

// counts reports whether an entry served at the given time still counts at now. An entry from the
// future counts: the clock was set back.
func (p *pending) counts(at, now int64) bool { return now-at <= p.ttl }

// sweep periodically drops the shard's expired entries, so that agents who never return do not fill
// the memory. The shard must be locked.
func (p *pending) sweep(s *shard, now int64) {
	if now < s.nextSweep && s.nextSweep-now <= maxSweepGap {
		return
	}
	s.nextSweep = now + min(max(p.ttl/4, 1), maxSweepGap)
	for agent, groups := range s.agents {
		for group, served := range groups {
			if !p.counts(served.at, now) {
				delete(groups, group)
			}
		}
		if len(groups) == 0 {
			delete(s.agents, agent)
		}
	}
}

// put adds a group. The shard must be locked.
func (s *shard) put(agent, group string, served since) {
	s.of(agent)[group] = served
}

// of returns the agent's set, creating it if necessary. The shard must be locked.
func (s *shard) of(agent string) map[string]since {
	groups := s.agents[agent]
	if groups == nil {
		groups = make(map[string]since, usualPage)
		s.agents[agent] = groups
	}
	return groups
}

// drop removes groups. The shard must be locked.
func (s *shard) drop(agent string, groups []string) {
	held := s.agents[agent]
	for _, g := range groups {
		delete(held, g)
	}
	if held != nil && len(held) == 0 {
		delete(s.agents, agent)
	}
}

// check marks the groups that are pending. It also lists those that have waited too long to be recorded: all, or
// only [dedup.Marks].
func (p *pending) check(agent string, groups []string, now int64, all bool, out *dedup.Checked) {
	s := p.lock(agent)
	defer s.mu.Unlock()
	held := s.agents[agent]
	if len(held) == 0 {
		return
	}
	for i, g := range groups {
		if served, ok := held[g]; ok && p.counts(served.at, now) {
			out.Verdicts[i] = dedup.Pending
		}
	}
	for g, served := range held {
		if len(out.Stale) == mostStale {
			return
		}
		late := now-served.at > dedup.StaleAfter.Milliseconds() && p.counts(served.at, now)
		if late && (all || dedup.IsMark(g)) {
			out.Stale = append(out.Stale, g)
		}
	}
}

// locked yields each shard, locked.
func (p *pending) locked() iter.Seq[*shard] {
	return func(yield func(*shard) bool) {
		for i := range p.shards {
			s := &p.shards[i]
			s.mu.Lock()
			more := yield(s)
			s.mu.Unlock()
			if !more {
				return
			}
		}
	}
}
