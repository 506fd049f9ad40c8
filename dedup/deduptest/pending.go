package deduptest

import (
	"fmt"
	"testing"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forget checks that Forget clears one agent's pending set and leaves the filters unchanged.
func forget(t *testing.T, open Open) {
	for _, served := range []bool{true, false} {
		t.Run(fmt.Sprintf("served=%t", served), func(t *testing.T) {
			cfg := config()
			cfg.Served = served
			s := open(t, cfg)
			claim(t, s, Start, "u_1", "a", "b", "c")
			claim(t, s, Start, "u_2", "a")
			record(t, s, Start, impressions("u_1", "b"))
			for range 2 {
				require.NoError(t, s.Forget(t.Context(), "u_1"))
				assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.SeenDaysAgo(0), dedup.Unseen}, check(t, s, Start, "u_1", "a", "b", "c"))
			}
			assert.Equal(t, []dedup.Verdict{dedup.Pending}, check(t, s, Start, "u_2", "a"), "another agent's claim stands")
			claim(t, s, Start, "u_1", "a")
			record(t, s, Start, impressions("u_1", "a"))
			assert.Equal(t, []dedup.Verdict{dedup.Pending}, check(t, s, Start, "u_1", "a"))
		})
	}
}

func settle(t *testing.T, open Open) {
	for _, served := range []bool{true, false} {
		t.Run(fmt.Sprintf("served=%t", served), func(t *testing.T) {
			cfg := config()
			cfg.Served = served
			s := open(t, cfg)
			claim(t, s, Start, "u_1", "a", "b", "c")
			claim(t, s, Start, "u_2", "a")
			record(t, s, Start, impressions("u_1", "a", "b"))
			assert.NotContains(t, check(t, s, Start, "u_1", "a", "b", "c"), dedup.Unseen)

			require.NoError(t, s.ClearPending(t.Context(), impressions("u_1", "a")))
			got := check(t, s, Start, "u_1", "a", "c")
			assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0), dedup.Pending}, got)
			assert.Equal(t, []dedup.Verdict{dedup.Pending}, check(t, s, Start, "u_2", "a"))

			got = check(t, s, Start, "u_1", "a", "b", "c")
			assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0), dedup.Pending, dedup.Pending}, got, "only a has left the pending set")
			require.NoError(t, s.ClearPending(t.Context(), impressions("u_1", "a", "a")), "settling twice is harmless")
			assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0)}, check(t, s, Start, "u_1", "a"))
		})
	}
}

func pendingTTL(t *testing.T, open Open) {
	cfg := config()
	cfg.Served = false
	cfg.PendingTTL = 30 * time.Minute
	s := open(t, cfg)
	claim(t, s, Start, "u_1", "a")
	claim(t, s, Start.Add(10*time.Minute), "u_1", "b")
	// An entry that is as old as the TTL still counts, an older one does not.
	late, later := Start.Add(cfg.PendingTTL), Start.Add(cfg.PendingTTL+time.Millisecond)
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Pending}, check(t, s, late, "u_1", "a", "b"))
	assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.Pending}, check(t, s, later, "u_1", "a", "b"))
	claim(t, s, later, "u_1", "a")
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Unseen}, check(t, s, later.Add(20*time.Minute), "u_1", "a", "b"),
		"the new claim counts from its own time")
}

func stale(t *testing.T, open Open) {
	s := open(t, config())
	claim(t, s, Start, "u_1", "a", "b")
	claim(t, s, Start.Add(30*time.Second), "u_1", "fresh")
	claim(t, s, Start, "u_2", "other")
	ask := func(after time.Duration) []string {
		t.Helper()
		c, err := s.Check(t.Context(), "u_1", []string{"a", "b", "fresh"}, Start.Add(after))
		require.NoError(t, err)
		require.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Pending, dedup.Pending}, c.Verdicts, "stale entries still count")
		return c.Stale
	}
	assert.Empty(t, ask(dedup.StaleAfter))
	assert.ElementsMatch(t, []string{"a", "b"}, ask(dedup.StaleAfter+time.Second))

	record(t, s, Start.Add(dedup.StaleAfter), impressions("u_1", "a"))
	require.NoError(t, s.ClearPending(t.Context(), impressions("u_1", "a")))
	c, err := s.Check(t.Context(), "u_1", []string{"a", "b"}, Start.Add(dedup.StaleAfter+time.Second))
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, c.Stale, "what is settled is not stale")
}

// staleMarks checks that marks are recorded again even if a delivery is no impression.
func staleMarks(t *testing.T, open Open) {
	cfg := config()
	cfg.Served, cfg.PendingTTL = false, 30*time.Minute
	s := open(t, cfg)
	list := []string{"a", "~f~a", "~post:1", "~Nabc~a", "~named"}
	claim(t, s, Start, "u_1", list...)
	for range 2 {
		c, err := s.Check(t.Context(), "u_1", list, Start.Add(dedup.StaleAfter+time.Second))
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"~f~a", "~post:1", "~Nabc~a"}, c.Stale)
		for range 3000 { // such sets are read in another way
			list = append(list, fmt.Sprint("g", len(list)))
		}
		claim(t, s, Start.Add(dedup.StaleAfter), "u_1", list[5:]...)
	}
	assert.Equal(t, dedup.Pending, check(t, s, Start.Add(dedup.StaleAfter+time.Second), "u_1", "~Nabc~a")[0])
}
