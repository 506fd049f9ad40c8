package dedup

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/internal/safego"
)

const (
	// recentBeyond is how much longer than the grace period a delivery is stored. Anything that left
	// the pending sets earlier than that has reached the replica that a failover promotes.
	recentBeyond = 5 * time.Second
	// recentMost bounds the number of impressions stored.
	recentMost = 2_000_000
	// reclaims is the number of agents processed concurrently.
	reclaims = 16
)

// recent holds the most recent deliveries, oldest first.
type recent struct {
	mu         sync.Mutex
	deliveries []delivery
	groups     int
}

// add stores a delivery, and drops those older than keep.
func (q *recent) add(d delivery, keep time.Duration) {
	d.done = nil
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deliveries = append(q.deliveries, d)
	q.groups += len(d.groups)
	for q.groups > recentMost || d.at.Sub(q.deliveries[0].at) > keep {
		q.groups -= len(q.deliveries[0].groups)
		q.deliveries[0] = delivery{}
		q.deliveries = q.deliveries[1:]
	}
}

// since returns the groups delivered at the given time or later, by agent.
func (q *recent) since(t time.Time) map[string][]string {
	q.mu.Lock()
	defer q.mu.Unlock()
	groups := make(map[string][]string)
	for _, d := range q.deliveries {
		if !d.at.Before(t) {
			groups[d.agent] = append(groups[d.agent], d.groups...)
		}
	}
	return groups
}

// Withdraw makes groups that an agent was shown pending and removes them from the pages still to be
// shown. It is the method of a session store, or [Claimer.AddShown] if sessions are elsewhere. An error
// that wraps [ErrForeign] concerns this agent alone, and a retry does not help.
type Withdraw func(ctx context.Context, agent string, groups []string, at time.Time) error

// Reclaim repairs a store that has lost its last writes in a failover: everything delivered since
// then, at most a grace period and five seconds ago, is withdrawn and then recorded again. If a
// withdrawal fails, nothing is recorded; Reclaim may be retried.
func (r *Recorder) Reclaim(ctx context.Context, withdraw Withdraw, since time.Time) error {
	lost := r.recent.since(since)
	var withdrawn errgroup.Group
	withdrawn.SetLimit(reclaims)
	for agent, all := range lost {
		withdrawn.Go(safego.Func(func() error { return withdraw(ctx, agent, all, r.clock()) }))
	}
	if err := withdrawn.Wait(); err != nil {
		return fmt.Errorf("withdraw recently delivered impressions: %w", err)
	}
	for agent, all := range lost {
		r.enqueue(delivery{agent: agent, groups: all, at: r.clock()})
	}
	return nil
}
