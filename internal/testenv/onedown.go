package testenv

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// RedisClusterOneDown returns a client of two servers with half of the slots each. One is down; the
// other is new and knows no script. serves reports whether a key is on the latter.
func RedisClusterOneDown(t testing.TB) (client *redis.ClusterClient, serves func(key string) bool) {
	t.Helper()
	up, down := StartRedis(t), StartRedis(t)
	down.Kill()
	client = redis.NewClusterClient(&redis.ClusterOptions{
		MaxRedirects: -1,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{
				{Start: 0, End: 8191, Nodes: []redis.ClusterNode{{Addr: down.Addr}}},
				{Start: 8192, End: 16383, Nodes: []redis.ClusterNode{{Addr: up.Addr}}},
			}, nil
		},
	})
	t.Cleanup(func() { _ = client.Close() })
	return client, func(key string) bool {
		node, err := client.MasterForKey(t.Context(), key)
		return err == nil && strings.HasSuffix(up.Addr, node.Options().Addr) // which lacks the host of this machine
	}
}
