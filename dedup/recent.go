package dedup

import (
	"context"
	"errors"
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
	// recentAfterFailure is how long after a failed claim its deliveries are kept: longer than the
	// pause until the claim is made again, and than an attempt.
	recentAfterFailure = 30 * time.Second
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

	// Deliveries before wanted, which a failed claim was to record again, are put aside until then
	// when they are too old.
	wanted, until time.Time
	aside         []delivery
}

// add stores a delivery, and drops those older than keep.
func (q *recent) add(d delivery, keep time.Duration) {
	d.done = nil
	q.mu.Lock()
	defer q.mu.Unlock()
	if !d.at.Before(q.until) { // the claim was given up
		q.wanted, q.aside = time.Time{}, nil
	}
	q.deliveries = append(q.deliveries, d)
	q.groups += len(d.groups)
	for q.groups > recentMost || d.at.Sub(q.deliveries[0].at) > keep {
		if q.groups <= recentMost && q.deliveries[0].at.Before(q.wanted) {
			q.aside = append(q.aside, q.deliveries[0])
		}
		q.groups -= len(q.deliveries[0].groups)
		q.deliveries[0] = delivery{}
		q.deliveries = q.deliveries[1:]
	}
}

// claimed records a claim. After one that failed, what was delivered until then, and for as long as keep
// afterwards by requests in progress, is kept for another one.
func (q *recent) claimed(failed bool, now time.Time, keep time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !failed {
		q.wanted, q.until, q.aside = time.Time{}, time.Time{}, nil
		return
	}
	if !now.Before(q.until) {
		q.wanted, q.aside = now.Add(keep), nil
	}
	q.until = now.Add(recentAfterFailure)
}

// since returns the groups delivered at the given time or later, by agent.
func (q *recent) since(t time.Time) map[string][]string {
	q.mu.Lock()
	defer q.mu.Unlock()
	groups := make(map[string][]string)
	for _, some := range [][]delivery{q.aside, q.deliveries} {
		for _, d := range some {
			if !d.at.Before(t) {
				groups[d.agent] = append(groups[d.agent], d.groups...)
			}
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
// withdrawal fails, nothing is recorded, and the deliveries are kept for half a minute more: Reclaim may
// be retried until the store can be reached.
func (r *Recorder) Reclaim(ctx context.Context, withdraw Withdraw, since time.Time) error {
	lost := r.recent.since(since)
	var withdrawn errgroup.Group
	withdrawn.SetLimit(reclaims)
	for agent, all := range lost {
		withdrawn.Go(safego.Func(func() error {
			err := withdraw(ctx, agent, all, r.clock())
			if errors.Is(err, ErrForeign) { // it must not block other agents' impressions
				r.cfg.Logger.WarnContext(ctx, "recently delivered impressions could not be removed from the agent's sessions and stay in them", "agent", agent, "error", err)
				return nil
			}
			return err
		}))
	}
	err := withdrawn.Wait()
	r.recent.claimed(err != nil, r.clock(), r.cfg.Grace+recentBeyond)
	if err != nil {
		return fmt.Errorf("withdraw recently delivered impressions: %w", err)
	}
	for agent, all := range lost {
		r.enqueue(delivery{agent: agent, groups: all, at: r.clock()})
	}
	return nil
}
