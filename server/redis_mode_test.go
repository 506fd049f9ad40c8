package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/server/connect"
)

// ofCluster returns the keys on all masters of a cluster that begin with a prefix, and deletes them.
func ofCluster(t *testing.T, cluster *redis.ClusterClient, prefix string) (keys []string) {
	var mu sync.Mutex
	err := cluster.ForEachMaster(context.Background(), func(ctx context.Context, master *redis.Client) error {
		found, err := master.Keys(ctx, prefix+"*").Result()
		for _, key := range found {
			if err := master.Del(ctx, key).Err(); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, found...)
		return err
	})
	require.NoError(t, err)
	return keys
}

// TestClusterDownAtStart starts a server while the one address that it knows of a cluster does not answer. Keys
// have other names on a cluster, so when the node is back, the server writes nothing and ends, for its process
// manager to start it again; the next one uses the cluster.
func TestClusterDownAtStart(t *testing.T) {
	t.Parallel()
	for setting, at := range map[string]func(cfg *configs.Config, address string){
		"redis.url":          func(cfg *configs.Config, address string) { cfg.Redis.URL = "redis://" + address },
		"timeline.redis_url": func(cfg *configs.Config, address string) { cfg.Timeline.RedisURL = "redis://" + address },
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			cluster, _ := testenv.RedisCluster(t)
			cfg := withPostgres(t)
			shortTimeouts(&cfg)
			t.Cleanup(func() { ofCluster(t, cluster, cfg.Redis.KeyPrefix) })
			node := faultproxy.Start(t, testenv.RedisClusterAddrs(t)[0])
			node.Down()
			at(&cfg, node.Addrs[0])
			r := run(t, cfg)
			testenv.WaitFor(t, func() bool {
				status, _ := r.call(t, http.MethodPost, "/v1/feed", `{"action":"refresh"}`)
				return status == http.StatusOK
			}, "a server that answers without it")
			node.Up()
			var err error
			testenv.WaitFor(t, func() bool {
				select {
				case err = <-r.done:
					return true
				default:
					return false
				}
			}, "the server to end")
			require.ErrorIs(t, err, connect.ErrCluster)
			require.ErrorContains(t, err, setting+": it is a node of a cluster")
			assert.Empty(t, ofCluster(t, cluster, cfg.Redis.KeyPrefix), "nothing is written under the names of a single server")

			r = run(t, cfg)
			testenv.WaitFor(t, func() bool {
				status, text := r.call(t, http.MethodGet, "/readyz", "")
				return status == http.StatusOK && !strings.Contains(text, `"down"`)
			}, "a server that uses the cluster")
			r.stop()
			require.NoError(t, <-r.done)
		})
	}
}

// TestSingleServerDownAtStart checks that a server goes on when a Redis that did not answer is a single one.
func TestSingleServerDownAtStart(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	shortTimeouts(&cfg)
	node := faultproxy.Start(t, cfg.Redis.Server().Addrs...)
	node.Down()
	cfg.Redis.URL = "redis://" + node.Addrs[0]
	r := run(t, cfg)
	testenv.WaitFor(t, func() bool { status, _ := r.call(t, http.MethodGet, "/livez", ""); return status == http.StatusOK }, "a server")
	node.Up()
	testenv.WaitFor(t, func() bool {
		status, text := r.call(t, http.MethodGet, "/readyz", "")
		return status == http.StatusOK && !strings.Contains(text, `"down"`)
	}, "a server that uses Redis")
	r.stop()
	require.NoError(t, <-r.done)
}
