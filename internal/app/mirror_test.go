package app

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMirror goes on with a reader of yesterday on a server that mirrors the
// past days: it asks Redis about today alone, and repeats nothing.
func TestMirror(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	clock := at(noon)
	shown := newOnce()
	a := open(t, cfg, WithClock(clock.Now))
	put(t, a, madeItems(300)...)
	for range 2 {
		shown.add(t, "yesterday", ids(ask(t, a, refresh("u_1", 20))))
	}
	recorded(t, a)

	clock.Advance(24 * time.Hour)
	cfg.Dedup.Mirror.Enabled = true
	cfg.DataDir = t.TempDir()
	b := open(t, cfg, WithClock(clock.Now))
	// What only the filters know: the pending set still has it, too.
	require.NoError(t, b.clients.redis.Del(t.Context(), cfg.Redis.KeyPrefix+"feed:pending:u_1").Err())
	h := &trips{}
	b.clients.redis.AddHook(h)
	require.Eventually(t, func() bool {
		h.take()
		h.ask(t, b, refresh("somebody", 1))
		return slices.Contains(h.take(), "pipeline of 2")
	}, time.Minute, 20*time.Millisecond, "the pending script and one filter")
	for range 3 {
		shown.add(t, "today", ids(ask(t, b, refresh("u_1", 20))))
	}
	assert.Equal(t, 100, shown.len())
}
