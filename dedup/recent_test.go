package dedup_test

import (
	"context"
	"errors"
	"sync"
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
