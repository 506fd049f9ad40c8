package memory

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// pendingShards spreads agents over locks; a power of two.
const pendingShards = 1024

// maxSweepGap is how long expired entries may lie about, in milliseconds.
const maxSweepGap = int64(time.Minute / time.Millisecond)

// mostStale bounds how many stale groups one check hands back; the next check
// of the agent hands back more.
const mostStale = 1000

// since is when a group was served, in Unix milliseconds, which day's journal has it, and
// whether it is held: then a release does not take it out.
type since struct {
	at   int64
	day  feed.Day // not at's day where the call was late or the clock was set back
	held bool
}

// pending holds every agent's exact set of what was served lately.
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

// of is the shard of an agent.
func (p *pending) of(agent string) *shard {
	return &p.shards[maphash.String(p.seed, agent)%pendingShards]
}

// lock locks and returns the shard of an agent.
func (p *pending) lock(agent string) *shard {
	s := p.of(agent)
	s.mu.Lock()
	return s
}

// counts reports whether an entry served at a time still counts at now. One
// from the future counts: the clock was set back.
func (p *pending) counts(at, now int64) bool { return now-at <= p.ttl }

// sweep drops the shard's expired entries, now and then, so that agents who
// never come back do not fill the memory. The shard is locked.
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

// put enters a group; the shard is locked.
func (s *shard) put(agent, group string, served since) {
	s.of(agent)[group] = served
}

// of is the agent's set; the shard is locked.
func (s *shard) of(agent string) map[string]since {
	groups := s.agents[agent]
	if groups == nil {
		groups = map[string]since{}
		s.agents[agent] = groups
	}
	return groups
}

// drop removes groups; the shard is locked.
func (s *shard) drop(agent string, groups []string) {
	held := s.agents[agent]
	for _, g := range groups {
		delete(held, g)
	}
	if held != nil && len(held) == 0 {
		delete(s.agents, agent)
	}
}

// check marks the groups that are pending. With stale it also lists those
// that have waited to be recorded for too long.
func (p *pending) check(agent string, groups []string, now int64, stale bool, out *dedup.Checked) {
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
	if !stale {
		return
	}
	for g, served := range held {
		if len(out.Stale) == mostStale {
			return
		}
		if now-served.at > dedup.StaleAfter.Milliseconds() && p.counts(served.at, now) {
			out.Stale = append(out.Stale, g)
		}
	}
}

// each gives every entry to fn, which returns what it is to be.
func (p *pending) each(fn func(agent, group string, served since) since) {
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		for agent, groups := range s.agents {
			for group, served := range groups {
				groups[group] = fn(agent, group, served)
			}
		}
		s.mu.Unlock()
	}
}
