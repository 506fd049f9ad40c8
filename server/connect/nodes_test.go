package connect

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// TestEachMaster checks that each master of a cluster is visited once, or the one server.
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

// TestEvictionPolicy names the policy of a Redis that evicts keys, and nothing else.
func TestEvictionPolicy(t *testing.T) {
	own := testenv.StartRedis(t)
	client, err := connected(t, at(own.Addr))
	require.NoError(t, err)
	assert.Empty(t, EvictionPolicy(t.Context(), client))
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	assert.Equal(t, "allkeys-lru", EvictionPolicy(t.Context(), client))
	own.Kill()
	assert.Empty(t, EvictionPolicy(t.Context(), client))
}

func TestInfoRefused(t *testing.T) {
	client, err := connected(t, at("127.0.0.1:1"))
	require.NoError(t, err)
	info, err := Info(t.Context(), client, "server")
	require.Error(t, err)
	assert.Empty(t, info)
}

// TestSentinels checks that there is a client for each Sentinel, with the password of the
// Sentinels instead of the server's.
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

// TestSentinelPasswordReloaded checks that every new connection to a Sentinel reads the
// password file again.
func TestSentinelPasswordReloaded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ user, others string }{
		{"", ""},
		{"watcher", ""},
		{"watcher", "+ping"}, // unauthenticated clients may only ping
		{"watcher", "+ping +subscribe +info"},
		{"watcher", "off"},
	} {
		user := tt.user
		sentinel := testenv.StartSentinel(t, testenv.StartRedis(t))
		if tt.others != "" {
			rules := append([]string{"on", "nopass", "resetchannels", "-@all"}, strings.Fields(tt.others)...)
			require.NoError(t, sentinel.ACLSetUser(t.Context(), "default", rules...).Err())
		}
		path := filepath.Join(t.TempDir(), "url")
		give := func(password string) {
			require.NoError(t, sentinel.ACLSetUser(t.Context(), cmp.Or(user, "default"), "on", "resetpass", ">"+password, "allcommands", "allchannels").Err())
			url := "redis://" + user + ":" + password + "@" + sentinel.Options().Addr + "/?master_name=" + testenv.SentinelMaster
			require.NoError(t, os.WriteFile(path, []byte(url+"\n"), 0o600))
		}
		give("first")
		cfg, err := configs.Load(configs.Options{Environ: []string{"FRESHET_REDIS_URL_FILE=" + path}})
		require.NoError(t, err)
		require.NoError(t, asks(t, cfg)[0]())
		calls := asks(t, cfg) // of clients without a connection
		give("second")
		for _, call := range calls {
			testenv.WaitFor(t, func() bool { return call() == nil }, "the file to be read again")
		}
	}
}

// asks returns calls of clients that get the address of the master from Sentinels.
func asks(t *testing.T, cfg configs.Config) []func() error {
	t.Helper()
	client, err := Redis(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	sentinels, err := Sentinels(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = sentinels[0].Close() })
	return []func() error{
		func() error { return client.Ping(t.Context()).Err() },
		func() error { return sentinels[0].GetMasterAddrByName(t.Context(), testenv.SentinelMaster).Err() },
	}
}
