package redisbloom

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/internal/testenv"
)

// TestForeignRedisKey has a foreign key in the place of a pending set: checks fail, and one log
// line a minute names the key. Impressions pending there can be settled.
func TestForeignRedisKey(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	var log bytes.Buffer
	s, err := New(client, deduptest.DefaultConfig(), Config{KeyPrefix: prefix, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	key := s.keys.Pending("u_1")
	require.NoError(t, client.RPush(t.Context(), key, "x").Err())
	for i := range 3 {
		_, err = s.Check(t.Context(), "u_1", []string{"a"}, noon.Add(time.Duration(i)*time.Second))
		require.ErrorIs(t, err, dedup.ErrUnavailable)
	}
	require.NoError(t, s.ClearPending(t.Context(), append(given("u_1", "a"), given("u_2", "a")...)))
	assert.Equal(t, 1, strings.Count(log.String(), key), log.String())
	_, err = s.Check(t.Context(), "u_1", []string{"a"}, noon.Add(time.Minute))
	require.Error(t, err)
	assert.Equal(t, 2, strings.Count(log.String(), key), log.String())
	_, err = s.Check(t.Context(), "u_2", []string{"a"}, noon)
	require.NoError(t, err, "nobody else is concerned")
}
