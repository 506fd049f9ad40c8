package redis

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// TestScriptNotLoaded checks that a server gets a script it lacks when the list of another
// server, which is down, fails first.
func TestScriptNotLoaded(t *testing.T) {
	client, serves := testenv.RedisClusterOneDown(t)
	l := NewTimelines(client, Config{Clock: still})
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprint("u_", i))
	}
	slices.SortStableFunc(names, func(a, b string) int {
		if serves(l.key(a)) == serves(l.key(b)) {
			return 0
		} else if serves(l.key(b)) {
			return -1
		}
		return 1
	})
	require.False(t, serves(l.key(names[0])))
	require.True(t, serves(l.key(names[39])))
	cmds, err := l.each(t.Context(), redis.NewScript(`return KEYS[1]`), names, nil, false)
	require.Error(t, err)
	for i, cmd := range cmds {
		if !serves(l.key(names[i])) {
			require.Error(t, cmd.Err())
			continue
		}
		require.NoError(t, cmd.Err())
		assert.Equal(t, l.key(names[i]), cmd.Val())
	}
}

// TestScriptUnknownToAllServers checks that reads, and writes that wait for replicas, run a script
// that no server has.
func TestScriptUnknownToAllServers(t *testing.T) {
	client, prefix := testenv.RedisCluster(t)
	l := NewTimelines(client, Config{KeyPrefix: prefix, Clock: still, Replicas: rediskeys.Replicas{N: 1, Timeout: 5 * time.Second}})
	for _, write := range []bool{false, true} {
		script := redis.NewScript(fmt.Sprintf(`return {KEYS[1], %q}`, testenv.Unique()))
		cmds, err := l.each(t.Context(), script, []string{"u_1", "u_2", "u_3", "u_4"}, nil, write)
		require.NoError(t, err)
		assert.Equal(t, l.key("u_4"), cmds[3].Val().([]any)[0])
	}
}
