package redisbloom

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestVanishedFiltersDetected deletes today's filter, a past day's, and all of them, as when a
// server restarts empty.
func TestVanishedFiltersDetected(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	var log bytes.Buffer
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 1000
	s, err := New(client, cfg, Config{KeyPrefix: prefix, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	record := func(group string, now time.Time) {
		t.Helper()
		left, err := s.Record(t.Context(), []dedup.Impression{{Agent: "u_1", Group: group}}, now)
		require.NoError(t, err)
		require.Empty(t, left)
	}
	warnings := func() int { return strings.Count(log.String(), "a dedup filter has disappeared") }
	today := s.keys.Filter(feed.DayOf(noon), 0, 1)

	record("a", noon)
	record("b", noon.Add(time.Minute))
	assert.Zero(t, warnings(), "a new day's filter has not vanished")

	require.NoError(t, client.Del(t.Context(), today).Err())
	record("c", noon.Add(2*time.Minute))
	assert.Equal(t, 1, warnings(), "today's filter was rebuilt")
	record("d", noon.Add(3*time.Minute))
	assert.Equal(t, 1, warnings(), "it is logged once")

	tomorrow := noon.Add(24 * time.Hour)
	record("e", tomorrow)
	require.NoError(t, client.Del(t.Context(), today).Err())
	record("f", tomorrow.Add(time.Minute))
	assert.Equal(t, 2, warnings(), "a past day's filter is missed too")

	require.NoError(t, client.Del(t.Context(), s.keys.Filter(feed.DayOf(tomorrow), 0, 1)).Err())
	record("g", tomorrow.Add(8*24*time.Hour))
	assert.Equal(t, 2, warnings(), "what has left the window may go")
}

// withoutExists answers EXISTS as a server does when the user lacks the permission.
type withoutExists struct{ refuse }

type noPermission struct{ unknownCommand }

func (noPermission) Error() string {
	return "NOPERM User has no permissions to run the 'exists' command"
}

func (withoutExists) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (withoutExists) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if cmd.Name() == "exists" {
				cmd.(*redis.IntCmd).SetVal(0)
				cmd.SetErr(noPermission{})
				err = cmd.Err()
			}
		}
		return err
	}
}

// TestVanishedFiltersWithoutPermission: without that permission it is unknown whether a filter
// existed, so none is reported as vanished.
func TestVanishedFiltersWithoutPermission(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	client.AddHook(withoutExists{})
	var log bytes.Buffer
	s, err := New(client, deduptest.DefaultConfig(), Config{KeyPrefix: prefix, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	for i := range 3 {
		record(t, s, noon.Add(time.Duration(i)*time.Minute), given("u_1", groupNames(i, i+1)...))
	}
	assert.NotContains(t, log.String(), "a dedup filter has disappeared")
}
