package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// TestServerDiedBeforeRecording checks that items which a server delivered but never recorded are
// filtered and recorded by its successor.
func TestServerDiedBeforeRecording(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			clock := at(noon)
			cfg := m.config(t)
			held := WithRecorder(dedup.RecorderConfig{Linger: time.Hour}) // longer than the test
			a := open(t, cfg, WithClock(clock.Now), held)
			put(t, a, madeItems(30)...)
			given := ids(ask(t, a, refresh("u_1", 10)))
			require.Len(t, given, 10)
			require.Zero(t, a.Totals().Recorded, "the recorder was to be held up")

			b := open(t, successor(t, cfg), WithClock(clock.Now))
			next := ids(ask(t, b, refresh("u_1", 10)))
			require.Len(t, next, 10)
			assert.Empty(t, common(given, next), "an answer right after")
			recorded(t, b)
			require.Equal(t, uint64(10), b.Totals().Recorded, "young impressions may still be recorded by the server that served them")

			clock.Advance(dedup.StaleAfter + time.Second)
			last := ids(ask(t, b, refresh("u_1", 20)))
			assert.Len(t, last, 10)
			assert.Empty(t, common(append(given, next...), last), "an answer a minute later")
			recorded(t, b)
			for _, group := range slices.Concat(given, next, last) { // the grace period is over
				require.NoError(t, b.stores.dedup.ClearPending(t.Context(), []dedup.Impression{{Agent: "u_1", Group: group}}))
			}
			checked, err := b.stores.dedup.Check(t.Context(), "u_1", given, clock.Now())
			require.NoError(t, err)
			for i, v := range checked.Verdicts {
				assert.Equal(t, dedup.SeenDaysAgo(0), v, "%s is in today's filter", given[i])
			}
			clock.Advance((feed.DayOf(noon) + 7).Start().Add(-time.Second).Sub(clock.Now()))
			assert.Empty(t, ids(ask(t, b, refresh("u_1", 30))), "the last second of the window")
			clock.Advance(time.Second)
			assert.Len(t, ids(ask(t, b, refresh("u_1", 30))), 30, "the day after")
		})
	}
}

// successor returns the configuration of the server that takes over: it shares the services, or
// uses a copy of the dead server's disk.
func successor(t *testing.T, cfg configs.Config) configs.Config {
	t.Helper()
	from := cfg.DataDir
	cfg.DataDir = filepath.Join(t.TempDir(), "copy")
	if !cfg.UsesRedis() {
		require.NoError(t, os.CopyFS(cfg.DataDir, os.DirFS(from)))
	}
	return cfg
}

func common(a, b []string) []string {
	var both []string
	for _, x := range a {
		for _, y := range b {
			if x == y {
				both = append(both, x)
			}
		}
	}
	return both
}
