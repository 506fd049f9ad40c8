package connect

import (
	"context"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestEachMaster asks who they are: on a cluster each of them once, else the one server.
func TestEachMaster(t *testing.T) {
	ask := func(client redis.UniversalClient) map[string]int {
		var mu sync.Mutex
		asked := map[string]int{}
		err := EachMaster(t.Context(), client, func(ctx context.Context, c *redis.Client) {
			info, err := Info(ctx, c)
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			assert.Equal(t, "master", info["role"])
			asked[info["run_id"]]++
		})
		require.NoError(t, err)
		return asked
	}
	one, err := connected(t, at(oneServer(t)))
	require.NoError(t, err)
	assert.Len(t, ask(one), 1)
	several, err := connected(t, at(testenv.RedisClusterAddrs(t)...))
	require.NoError(t, err)
	asked := ask(several)
	assert.Len(t, asked, 3)
	for id, times := range asked {
		assert.Equal(t, 1, times, id)
	}
	gone, err := connected(t, at("127.0.0.1:1", "127.0.0.1:2"))
	require.NoError(t, err)
	assert.Error(t, EachMaster(t.Context(), gone, func(context.Context, *redis.Client) { t.Error("there is none") }))
}

// TestInfoThatIsRefused is empty.
func TestInfoThatIsRefused(t *testing.T) {
	client, err := connected(t, at("127.0.0.1:1"))
	require.NoError(t, err)
	info, err := Info(t.Context(), client, "server")
	require.Error(t, err)
	assert.Empty(t, info)
}

// TestSentinels makes a client for each, with the password of the Sentinels and not that of
// the server.
func TestSentinels(t *testing.T) {
	master, addrs := testenv.RedisSentinelAddrs(t)
	cfg := at(addrs...)
	cfg.Redis.URL, cfg.Redis.Password = testenv.RedisAt(addrs, "master_name="+master), "of the server"
	clients, err := Sentinels(cfg)
	require.NoError(t, err)
	require.Len(t, clients, len(addrs))
	for i, c := range clients {
		t.Cleanup(func() { _ = c.Close() })
		assert.Contains(t, c.String(), addrs[i])
		assert.NoError(t, c.Ping(t.Context()).Err(), addrs[i])
	}
}
