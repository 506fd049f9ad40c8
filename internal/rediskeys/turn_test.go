package rediskeys_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// TestTurn checks that of two callers the first gets the turn, which expires slightly before the
// period is over.
func TestTurn(t *testing.T) {
	client, prefix := testenv.Redis(t)
	key := prefix + "lease"
	first, second := rediskeys.Turn(client, key, time.Hour), rediskeys.Turn(client, key, time.Hour)
	mine, err := first(t.Context())
	require.NoError(t, err)
	assert.True(t, mine)
	mine, err = second(t.Context())
	require.NoError(t, err)
	assert.False(t, mine)
	left, err := client.PTTL(t.Context(), key).Result()
	require.NoError(t, err)
	assert.Greater(t, left, 50*time.Minute)
	assert.LessOrEqual(t, left, 57*time.Minute)

	require.NoError(t, client.Del(t.Context(), key).Err())
	mine, err = second(t.Context())
	require.NoError(t, err)
	assert.True(t, mine)
}

// TestTurnWithoutRedis checks that the caller does not get the turn.
func TestTurnWithoutRedis(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	mine, err := rediskeys.Turn(client, "lease", time.Hour)(t.Context())
	require.Error(t, err)
	assert.False(t, mine)
}
