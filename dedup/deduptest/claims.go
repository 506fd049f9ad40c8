package deduptest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func claimOrder(t *testing.T, open Open) {
	s := open(t, config())
	got := claim(t, s, Start, 3, "u_1", "a", "b", "c", "d", "e")
	assert.Equal(t, []dedup.Claimed{dedup.Taken, dedup.Taken, dedup.Taken, dedup.Left, dedup.Left}, got)

	got = claim(t, s, Start, 0, "u_1", "a", "d", "c")
	assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Left, dedup.Held}, got, "limit 0 only tells")

	got = claim(t, s, Start, 2, "u_1", "b", "d", "c", "e", "f")
	assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Taken, dedup.Held, dedup.Taken, dedup.Left}, got)

	got = claim(t, s, Start, 2, "u_2", "a", "a", "b")
	assert.Equal(t, []dedup.Claimed{dedup.Taken, dedup.Held, dedup.Taken}, got, "a group that is there twice")

	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Pending, dedup.Pending, dedup.Pending, dedup.Pending, dedup.Unseen},
		check(t, s, Start, "u_1", "a", "b", "c", "d", "e", "f"))
}

func claimExclusive(t *testing.T, open Open) {
	s := open(t, config())
	const claimers, limit = 64, 10
	groups := names("doc_", 200)
	taken := make([][]string, claimers)
	errs := make([]error, claimers)
	var wg sync.WaitGroup
	for i := range claimers {
		wg.Go(func() {
			got, err := s.Claim(t.Context(), "u_1", groups, limit, Start)
			errs[i] = err
			for j, c := range got {
				if c == dedup.Taken {
					taken[i] = append(taken[i], groups[j])
				}
			}
		})
	}
	wg.Wait()
	owner := map[string]int{}
	for i := range claimers {
		require.NoError(t, errs[i])
		assert.LessOrEqual(t, len(taken[i]), limit)
		for _, g := range taken[i] {
			if first, twice := owner[g]; twice {
				t.Errorf("%s was taken by %d and by %d", g, first, i)
			}
			owner[g] = i
		}
	}
	assert.Len(t, owner, len(groups), "64 claimers of 10 reach all 200 groups")
}

func claimsOfAgents(t *testing.T, open Open) {
	s := open(t, config())
	assert.Equal(t, []dedup.Claimed{dedup.Taken}, claim(t, s, Start, 1, "u_1", "doc_1"))
	assert.Equal(t, []dedup.Claimed{dedup.Taken}, claim(t, s, Start, 1, "u_2", "doc_1"))
	assert.Equal(t, []dedup.Claimed{dedup.Held}, claim(t, s, Start, 1, "u_1", "doc_1"))
}

func release(t *testing.T, open Open) {
	s := open(t, config())
	claim(t, s, Start, 3, "u_1", "a", "b", "c")
	claim(t, s, Start, 1, "u_2", "a")
	require.NoError(t, s.Release(t.Context(), "u_1", []string{"a", "c", "unknown"}))
	assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.Pending, dedup.Unseen}, check(t, s, Start, "u_1", "a", "b", "c"))
	assert.Equal(t, []dedup.Verdict{dedup.Pending}, check(t, s, Start, "u_2", "a"), "another agent's claim stands")
	assert.Equal(t, []dedup.Claimed{dedup.Taken, dedup.Held, dedup.Taken}, claim(t, s, Start, 3, "u_1", "a", "b", "c"))
}

// holding: what is held is pending, whatever was, and a claim that is given back leaves
// it there.
func holding(t *testing.T, open Open) {
	for _, served := range []bool{true, false} {
		t.Run(fmt.Sprintf("served=%t", served), func(t *testing.T) {
			cfg := config()
			cfg.Served, cfg.PendingTTL = served, 30*time.Minute
			s := open(t, cfg)
			hold := func(at time.Time, groups ...string) {
				t.Helper()
				require.NoError(t, s.Hold(t.Context(), "u_1", groups, at))
			}
			claim(t, s, Start, 2, "u_1", "claimed", "both")
			for range 2 {
				hold(Start.Add(-time.Minute), "both", "held")
			}
			hold(Start)
			assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Held, dedup.Held, dedup.Taken}, claim(t, s, Start, 4, "u_1", "claimed", "both", "held", "new"))
			for range 2 {
				require.NoError(t, s.Release(t.Context(), "u_1", []string{"claimed", "both", "held", "new"}))
				assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.Pending, dedup.Pending, dedup.Unseen},
					check(t, s, Start, "u_1", "claimed", "both", "held", "new"))
			}
			assert.Equal(t, []dedup.Verdict{dedup.Unseen}, check(t, s, Start, "u_2", "held"))

			// The later of two times counts.
			last := Start.Add(cfg.PendingTTL)
			assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Left}, claim(t, s, last, 0, "u_1", "both", "held"))
			hold(Start.Add(time.Minute), "held")
			assert.Equal(t, []dedup.Claimed{dedup.Held}, claim(t, s, last.Add(time.Minute), 0, "u_1", "held"))

			record(t, s, Start, impressions("u_1", "both"))
			require.NoError(t, s.Settle(t.Context(), impressions("u_1", "both")))
			assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0)}, check(t, s, Start, "u_1", "both"))
			require.NoError(t, s.Forget(t.Context(), "u_1"))
			assert.Equal(t, []dedup.Verdict{dedup.Unseen}, check(t, s, Start, "u_1", "held"))

			many := names("doc_", 3000)
			hold(Start, many...)
			assert.NotContains(t, claim(t, s, Start, 0, "u_1", many...), dedup.Left)
		})
	}
}

// forget takes all of one agent out, and nothing that a filter has.
func forget(t *testing.T, open Open) {
	for _, served := range []bool{true, false} {
		t.Run(fmt.Sprintf("served=%t", served), func(t *testing.T) {
			cfg := config()
			cfg.Served = served
			s := open(t, cfg)
			claim(t, s, Start, 3, "u_1", "a", "b", "c")
			claim(t, s, Start, 1, "u_2", "a")
			record(t, s, Start, impressions("u_1", "b"))
			for range 2 {
				require.NoError(t, s.Forget(t.Context(), "u_1"))
				assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.SeenDaysAgo(0), dedup.Unseen}, check(t, s, Start, "u_1", "a", "b", "c"))
			}
			assert.Equal(t, []dedup.Verdict{dedup.Pending}, check(t, s, Start, "u_2", "a"), "another agent's claim stands")
			assert.Equal(t, []dedup.Claimed{dedup.Taken}, claim(t, s, Start, 1, "u_1", "a"))
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
			claim(t, s, Start, 3, "u_1", "a", "b", "c")
			claim(t, s, Start, 1, "u_2", "a")
			record(t, s, Start, impressions("u_1", "a", "b"))
			assert.NotContains(t, check(t, s, Start, "u_1", "a", "b", "c"), dedup.Unseen)

			require.NoError(t, s.Settle(t.Context(), impressions("u_1", "a")))
			got := check(t, s, Start, "u_1", "a", "c")
			assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0), dedup.Pending}, got)
			assert.Equal(t, []dedup.Verdict{dedup.Pending}, check(t, s, Start, "u_2", "a"))

			claimed := claim(t, s, Start, 0, "u_1", "a", "b", "c")
			assert.Equal(t, []dedup.Claimed{dedup.Left, dedup.Held, dedup.Held}, claimed, "only a has left the pending set")
			require.NoError(t, s.Settle(t.Context(), impressions("u_1", "a", "a")), "settling twice is harmless")
			assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0)}, check(t, s, Start, "u_1", "a"))
		})
	}
}

func pendingTTL(t *testing.T, open Open) {
	cfg := config()
	cfg.Served = false
	cfg.PendingTTL = 30 * time.Minute
	s := open(t, cfg)
	claim(t, s, Start, 1, "u_1", "a")
	claim(t, s, Start.Add(10*time.Minute), 1, "u_1", "b")
	// An entry that is as old as the TTL still counts, an older one does not.
	late, later := Start.Add(cfg.PendingTTL), Start.Add(cfg.PendingTTL+time.Millisecond)
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Pending}, check(t, s, late, "u_1", "a", "b"))
	assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Held}, claim(t, s, late, 2, "u_1", "a", "b"))

	assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.Pending}, check(t, s, later, "u_1", "a", "b"))
	assert.Equal(t, []dedup.Claimed{dedup.Taken, dedup.Held}, claim(t, s, later, 2, "u_1", "a", "b"))
	assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Unseen}, check(t, s, later.Add(20*time.Minute), "u_1", "a", "b"),
		"the new claim counts from its own time")
}

func stale(t *testing.T, open Open) {
	s := open(t, config())
	claim(t, s, Start, 2, "u_1", "a", "b")
	claim(t, s, Start.Add(30*time.Second), 1, "u_1", "fresh")
	claim(t, s, Start, 1, "u_2", "other")
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
	require.NoError(t, s.Settle(t.Context(), impressions("u_1", "a")))
	c, err := s.Check(t.Context(), "u_1", []string{"a", "b"}, Start.Add(dedup.StaleAfter+time.Second))
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, c.Stale, "what is settled is not stale")
}
