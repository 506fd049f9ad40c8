package server

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/server/clocks"
)

// TestRetention starts a server over items of which half are too old: they are removed from the
// catalog and from recall, and another server does not repeat the sweep at once.
func TestRetention(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			cfg.Ranking.Diversity = noDiversity
			clock := at(noon)
			first := open(t, cfg, WithClock(clock.Now))
			items := authored(20)
			var young []string
			for i := range items {
				items[i].UpdateTime = noon.Add(-time.Duration(i) * time.Hour).Unix()
				if i < 10 {
					young = append(young, items[i].ID)
				}
			}
			put(t, first, items...)
			require.NoError(t, first.Close(t.Context()))

			cfg.Catalog.Retention = 9*time.Hour + 30*time.Minute
			a := open(t, cfg, WithClock(clock.Now))
			a.purger.Round(t.Context())
			docs, err := a.stores.contents.Docs(t.Context(), []string{items[10].ID, items[19].ID})
			require.NoError(t, err)
			require.True(t, docs[0].Missing() && docs[1].Missing(), "what is too old is gone")
			refreshIndex(t, a)
			assert.Equal(t, young, ids(ask(t, a, refresh("u_1", 20))))
			if m.name != "services" {
				return
			}

			clock.Advance(8 * time.Hour)
			cfg.DataDir = t.TempDir()
			late := open(t, cfg, WithClock(clock.Now))
			late.purger.Round(t.Context())
			docs, err = late.Catalog.Docs(t.Context(), []string{items[9].ID})
			require.NoError(t, err)
			assert.False(t, docs[0].Missing(), "it is the first server's turn")
			checkEarlierClock(t, late.clients.redis)
		})
	}
}

// checkEarlierClock checks that a server with a clock years ahead of Redis removes only what is too
// old by the clock of Redis, and nothing without that clock.
func checkEarlierClock(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	theirs, err := client.Time(t.Context()).Result()
	require.NoError(t, err)

	now, err := clocks.Earlier(at(theirs.AddDate(5, 0, 0)).Now, client)(t.Context())
	require.NoError(t, err)
	assert.WithinDuration(t, theirs, now, time.Hour)

	behind := theirs.AddDate(-5, 0, 0)
	now, err = clocks.Earlier(at(behind).Now, client)(t.Context())
	require.NoError(t, err)
	assert.True(t, behind.Equal(now), "%v", now)

	nobody := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = nobody.Close() })
	_, err = clocks.Earlier(at(behind).Now, nobody)(t.Context())
	assert.Error(t, err)
}
