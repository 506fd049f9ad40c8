package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// TestTwoClocksAtMidnight pages on a server whose clock is past midnight, and
// then, when that is in tomorrow's filter alone, on one whose clock is not.
func TestTwoClocksAtMidnight(t *testing.T) {
	cfg := services(t)
	cfg.Server.RequestTimeout, cfg.Dedup.PendingGrace = 2*time.Second, 2500*time.Millisecond
	midnight := feed.DayOf(noon).Start().AddDate(0, 0, 1)
	fast := open(t, cfg, WithClock(at(midnight.Add(2*time.Second)).Now))
	cfg.DataDir = t.TempDir()
	slow := open(t, cfg, WithClock(at(midnight.Add(-3*time.Second)).Now))
	put(t, fast, catalogue(200)...)
	seen := newOnce()
	for _, a := range []*App{fast, slow, fast, slow} {
		page := ids(ask(t, a, refresh("u_1", 20)))
		require.Len(t, page, 20)
		seen.add(t, "a refresh", page)
		inFilters(t, fast, page)
	}
}
