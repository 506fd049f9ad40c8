package connect

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestCheckMastersCluster checks the three masters, each with its replica, clock and settings.
func TestCheckMastersCluster(t *testing.T) {
	client, err := connected(t, at(testenv.RedisClusterAddrs(t)...))
	require.NoError(t, err)
	masters, err := CheckMasters(t.Context(), client, time.Now)
	require.NoError(t, err)
	require.Len(t, masters, 3)
	for i, m := range masters {
		require.NoError(t, m.Err)
		assert.Equal(t, 1, m.Replicas, m.Addr)
		assert.WithinDuration(t, m.Sent, m.Clock, time.Minute)
		assert.NotEmpty(t, m.Settings.Policy)
		assert.False(t, m.Settings.Inferred)
		assert.True(t, i == 0 || masters[i-1].Addr < m.Addr, "by their addresses")
	}
}

// TestCheckMastersWithoutPermission denies CONFIG, as managed Redis does, and then also INFO.
func TestCheckMastersWithoutPermission(t *testing.T) {
	t.Parallel()
	own := testenv.StartRedis(t)
	admin := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	for setting, value := range map[string]string{"maxmemory": "64mb", "maxmemory-policy": "noeviction", "appendonly": "yes", "save": ""} {
		require.NoError(t, admin.ConfigSet(t.Context(), setting, value).Err())
	}
	cfg := at(own.Addr)
	ask := func() Settings {
		client, err := connected(t, cfg)
		require.NoError(t, err)
		masters, err := CheckMasters(t.Context(), client, time.Now)
		require.NoError(t, err)
		require.Len(t, masters, 1)
		require.NoError(t, masters[0].Err)
		return masters[0].Settings
	}
	all := ask()
	assert.Equal(t, Settings{
		MaxMemory: "67108864", Policy: "noeviction", AppendOnly: "yes", AppendSync: "everysec", Save: "", Listpack: all.Listpack,
	}, all)
	assert.NotEmpty(t, all.Listpack)

	cfg.Redis.URL, cfg.Redis.Password = "redis://limited@"+cfg.Redis.Server().Addrs[0], "word"
	as := func(rules ...any) {
		args := append([]any{"ACL", "SETUSER", "limited", "reset", "on", ">word", "~*", "+@all"}, rules...)
		require.NoError(t, admin.Do(t.Context(), args...).Err())
	}
	as("-config")
	assert.Equal(t, Settings{MaxMemory: "67108864", Policy: "noeviction", AppendOnly: "yes", Inferred: true}, ask())
	as("-config", "-info")
	assert.Equal(t, Settings{Inferred: true}, ask())
}

func TestCheckMastersDown(t *testing.T) {
	t.Parallel()
	client, err := connected(t, at("127.0.0.1:1"))
	require.NoError(t, err)
	masters, err := CheckMasters(t.Context(), client, time.Now)
	require.NoError(t, err)
	require.Len(t, masters, 1)
	require.Error(t, masters[0].Err)
	assert.Equal(t, -1, masters[0].Replicas)
}
