package redisbloom

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// pastDays answers every check with the same copies.
type pastDays Found

func (p pastDays) Find(string, []feed.Day, []string) Found { return Found(p) }

// Redis says today about "today", three days ago about "both" and "partial".
// The copies of two and three days ago say what In has; the second is partial.
func TestCheckWithPastDays(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 20_000
	plain := openAt(t, client, prefix, cfg)
	record(t, plain, noon, given("u_1", "today"))
	record(t, plain, noon.AddDate(0, 0, -2), given("u_1", "ignored"))
	record(t, plain, noon.AddDate(0, 0, -3), given("u_1", "both", "partial"))
	_, err := plain.Claim(t.Context(), "u_1", []string{"pending"}, 1, noon)
	require.NoError(t, err)

	groups := []string{"today", "both", "partial", "copy", "pending", "ignored", "unseen"}
	found := Found{Copies: make([]Copied, 7), In: []uint8{2, 2, 0, 3, 3, 0, 0}}
	found.Copies[2], found.Copies[3] = Copied{Shards: 1}, Copied{Shards: 1, Partial: true}
	s, err := New(client, cfg, Config{KeyPrefix: prefix, Past: pastDays(found)})
	require.NoError(t, err)
	assert.Equal(t, []dedup.Verdict{
		dedup.SeenDaysAgo(0), dedup.SeenDaysAgo(2), dedup.SeenDaysAgo(3), dedup.SeenDaysAgo(3), dedup.Pending, dedup.Unseen, dedup.Unseen,
	}, verdicts(t, s, noon, "u_1", groups...))
}
