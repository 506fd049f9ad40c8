package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
)

// TestReclaim has a store that lost its last writes: deliveries since a given time, at most the
// grace and five seconds ago, are withdrawn and recorded again; older ones are not.
func TestReclaim(t *testing.T) {
	t.Parallel()
	w, start := newFlaky(), time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	now := start
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	at := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = start.Add(d) }
	r, err := dedup.NewRecorder(t.Context(), w, clock, dedup.RecorderConfig{Grace: 10 * time.Second})
	require.NoError(t, err)
	deliver := func(d time.Duration, agent string, groups ...string) {
		at(d)
		require.NoError(t, r.Confirm(t.Context(), agent, groups))
	}
	deliver(0, "u_1", "old")
	deliver(6*time.Second, "u_1", "a", "b")
	deliver(12*time.Second, "u_2", "a")
	deliver(20*time.Second, "u_1", "c")

	again := func(since time.Duration) map[string][]string {
		var mu sync.Mutex
		of := map[string][]string{}
		require.NoError(t, r.Reclaim(t.Context(), func(_ context.Context, agent string, groups []string, _ time.Time) error {
			mu.Lock()
			defer mu.Unlock()
			of[agent] = append(of[agent], groups...)
			return nil
		}, start.Add(since)))
		return of
	}
	assert.Equal(t, map[string][]string{"u_1": {"a", "b", "c"}, "u_2": {"a"}}, again(0))
	assert.Len(t, again(0)["u_1"], 3, "what was recorded again is not a delivery of its own")
	assert.Equal(t, map[string][]string{"u_1": {"c"}}, again(20*time.Second))
	fails := func(context.Context, string, []string, time.Time) error { return errors.New("read only") }
	require.ErrorContains(t, r.Reclaim(t.Context(), fails, start), "read only")
	r.Close(t.Context())
	assert.Equal(t, map[dedup.Impression]int{
		{Agent: "u_1", Group: "old"}: 1, {Agent: "u_1", Group: "a"}: 3, {Agent: "u_1", Group: "b"}: 3,
		{Agent: "u_2", Group: "a"}: 3, {Agent: "u_1", Group: "c"}: 4,
	}, w.recorded)
}

// TestNothingToReclaim: deliveries to a store without replicas are not kept.
func TestNothingToReclaim(t *testing.T) {
	t.Parallel()
	w := newFlaky()
	r, err := dedup.NewRecorder(t.Context(), w, time.Now, dedup.RecorderConfig{NoFailover: true})
	require.NoError(t, err)
	require.NoError(t, r.Confirm(t.Context(), "u_1", []string{"a"}))
	require.NoError(t, r.Reclaim(t.Context(), func(context.Context, string, []string, time.Time) error {
		return errors.New("nothing is withdrawn")
	}, time.Time{}))
	r.Close(t.Context())
	assert.Equal(t, map[dedup.Impression]int{{Agent: "u_1", Group: "a"}: 1}, w.recorded)
}

// TestReclaimAfterOutage has a new master that cannot be reached for longer than deliveries are kept, while
// agents of other masters, and the first requests after it, get pages: what the old master may have lost is
// recorded again nevertheless, and is dropped once that has succeeded.
func TestReclaimAfterOutage(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	clock := func() time.Time { return time.Unix(now.Load(), 0) }
	r, err := dedup.NewRecorder(t.Context(), newFlaky(), clock, dedup.RecorderConfig{Grace: 10 * time.Second})
	require.NoError(t, err)
	defer r.Close(t.Context())
	claim := func(failure error) (agents []string) {
		var mu sync.Mutex
		err := r.Reclaim(t.Context(), func(_ context.Context, agent string, _ []string, _ time.Time) error {
			mu.Lock()
			defer mu.Unlock()
			agents = append(agents, agent)
			return failure
		}, time.Time{})
		require.ErrorIs(t, err, failure)
		slices.Sort(agents)
		return agents
	}
	r.Deliver("old", []string{"a"})
	now.Add(16)
	r.Deliver("u_1", []string{"lost"})
	for i := range 60 {
		claim(errors.New("not ready"))
		now.Add(5)
		r.Deliver(fmt.Sprint("during_", i), []string{"a"})
	}
	r.Deliver("u_2", []string{"first"})
	assert.Equal(t, []string{"during_0", "during_1", "during_56", "during_57", "during_58", "during_59", "u_1", "u_2"}, claim(nil),
		"what requests in progress have delivered, and the latest")
	now.Add(16)
	r.Deliver("u_3", []string{"later"})
	assert.Equal(t, []string{"u_3"}, claim(nil))
	claim(errors.New("never ready"))
	now.Add(60)
	r.Deliver("u_4", []string{"much later"})
	assert.Equal(t, []string{"u_4"}, claim(nil), "the claim was given up")
}

// TestReclaimForeignKey has an agent whose key belongs to another application: the deliveries of others are
// recorded again.
func TestReclaimForeignKey(t *testing.T) {
	t.Parallel()
	w := newFlaky()
	r, err := dedup.NewRecorder(t.Context(), w, time.Now, dedup.RecorderConfig{})
	require.NoError(t, err)
	for _, agent := range []string{"foreign", "u_1"} {
		require.NoError(t, r.Confirm(t.Context(), agent, []string{"a"}))
	}
	require.NoError(t, r.Reclaim(t.Context(), func(_ context.Context, agent string, _ []string, _ time.Time) error {
		if agent == "foreign" {
			return fmt.Errorf("withdraw: %w", dedup.ErrForeign)
		}
		return nil
	}, time.Time{}))
	r.Close(t.Context())
	assert.Equal(t, map[dedup.Impression]int{{Agent: "u_1", Group: "a"}: 2, {Agent: "foreign", Group: "a"}: 2}, w.recorded)
}
