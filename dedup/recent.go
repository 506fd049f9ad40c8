package dedup

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/internal/guard"
)

const (
	// recentBeyond is how much longer than the grace a delivery is remembered.
	// A store that fails over has had what left the pending sets before that.
	recentBeyond = 5 * time.Second
	// recentMost bounds the impressions that are remembered.
	recentMost = 2_000_000
	// reclaims is how many agents are reclaimed for at once.
	reclaims = 16
)

// recent holds the latest deliveries, oldest first.
type recent struct {
	mu         sync.Mutex
	deliveries []delivery
	groups     int
}

// add remembers a delivery, and forgets those older than keep.
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

// since are the groups delivered at a time or later, by agent.
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

// Withdraw makes what an agent was shown pending, and takes it out of what is
// going to be shown. It is that of a session store, or [Claimer.Hold] where
// sessions are elsewhere.
type Withdraw func(ctx context.Context, agent string, groups []string, at time.Time) error

// Reclaim repairs a store that has lost its last writes in a failover: what was
// delivered since then, at most a grace period and five seconds ago, is withdrawn
// and then recorded again. After an error, where that failed, nothing is recorded;
// calling again is harmless.
func (r *Recorder) Reclaim(ctx context.Context, withdraw Withdraw, since time.Time) error {
	lost := r.recent.since(since)
	var withdrawn errgroup.Group
	withdrawn.SetLimit(reclaims)
	for agent, all := range lost {
		withdrawn.Go(guard.Func(func() error { return withdraw(ctx, agent, all, r.clock()) }))
	}
	if err := withdrawn.Wait(); err != nil {
		return fmt.Errorf("withdraw again what was delivered lately: %w", err)
	}
	for agent, all := range lost {
		r.enqueue(delivery{agent: agent, groups: all, at: r.clock()})
	}
	return nil
}
