package redisbloom

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/testenv"
)

func TestOutageMarkers(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(testing.TB) (redis.UniversalClient, string){
		"single": testenv.Redis,
		"cluster": func(t testing.TB) (redis.UniversalClient, string) {
			client, prefix := testenv.RedisCluster(t)
			return client, prefix
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, prefix := connect(t)
			ctx, n := t.Context(), NewOutageMarkers(client, prefix)
			stands := func() bool {
				t.Helper()
				any, err := n.Any(ctx)
				require.NoError(t, err)
				return any
			}
			assert.False(t, stands())
			require.NoError(t, n.Remove(ctx, "a"))
			require.NoError(t, n.Set(ctx, "a"))
			require.NoError(t, n.Set(ctx, "b"))
			require.NoError(t, n.Set(ctx, "a"))
			assert.True(t, stands())
			require.NoError(t, n.Remove(ctx, "a"))
			assert.True(t, stands(), "the other server's note stands")
			ttl := client.PTTL(ctx, n.key).Val()
			assert.Positive(t, ttl)
			assert.LessOrEqual(t, ttl, dedup.OutageMarkerTTL)

			// As if the other server had not renewed its note for a minute.
			require.NoError(t, client.ZIncrBy(ctx, n.key, -float64(dedup.OutageMarkerTTL.Milliseconds()), "b").Err())
			assert.False(t, stands())
			require.NoError(t, n.Set(ctx, "c"))
			assert.Equal(t, []string{"c"}, client.ZRange(ctx, n.key, 0, -1).Val(), "old notes are cleared away")
		})
	}
}
