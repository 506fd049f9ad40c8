package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
)

// clusterReload is how old the client's idea of who is whose master may get. A
// dead master cannot say that it has been replaced, so this bounds how long
// its agents wait after a failover. It costs one small question a reload.
const clusterReload = time.Second

// ConnectRedis makes the client the configuration describes, which the caller
// closes: a single server,
// a master found by Sentinels, or a cluster. Several addresses are a cluster; a
// single server is asked what it is, since on a cluster keys have other names.
// One that does not answer now is taken for a single server.
func ConnectRedis(ctx context.Context, cfg configs.Config) (redis.UniversalClient, error) {
	logRedis(slog.New(slog.DiscardHandler)) // where no other one has been set
	o := redisOptions(cfg)
	if o.MasterName != "" {
		return redis.NewFailoverClient(o.Failover()), nil
	}
	if len(o.Addrs) > 1 {
		return clusterClient(o), nil
	}
	switch mode := serverMode(ctx, o); {
	case mode == "sentinel":
		return nil, fmt.Errorf("redis.addrs: %s is a Sentinel; set redis.master_name to the master it watches", o.Addrs[0])
	case mode == "cluster" && o.DB != 0:
		return nil, fmt.Errorf("redis.db: must be 0, because %s is a node of a cluster", o.Addrs[0])
	case mode == "cluster":
		return clusterClient(o), nil
	}
	return redis.NewClient(o.Simple()), nil
}

// clusterClient tries each command anew where the cluster sends it, and does
// not also repeat it on each server.
func clusterClient(o *redis.UniversalOptions) redis.UniversalClient {
	c := o.Cluster()
	c.MaxRetries, c.MaxRedirects = -1, 3
	c.ClusterStateReloadInterval = clusterReload
	return redis.NewClusterClient(c)
}

// serverMode is standalone, cluster or sentinel, "" where the server does not
// tell. HELLO needs no permission.
func serverMode(ctx context.Context, o *redis.UniversalOptions) string {
	simple := o.Simple()
	simple.DB = 0 // another one cannot be selected on a cluster
	client := redis.NewClient(simple)
	defer func() { _ = client.Close() }()
	reply, err := client.Do(ctx, "hello").Result()
	if err != nil {
		return ""
	}
	switch fields := reply.(type) {
	case map[any]any:
		mode, _ := fields["mode"].(string)
		return mode
	case []any: // RESP2: names and values in turn
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] == "mode" {
				mode, _ := fields[i+1].(string)
				return mode
			}
		}
	}
	return ""
}

// replicas returns the setting redis.wait_replicas, behind the breaker.
func replicas(cfg configs.Config, b redisBreaker) rediskeys.Replicas {
	return rediskeys.Replicas{N: cfg.Redis.WaitReplicas, Timeout: cfg.WaitTimeout(), Guard: b.wait}
}

// checkAge is how old the check may be that a page is chosen from. A single
// server reads the agent's pending set before the filters and tells the time
// of that. On a cluster the filters are on other servers and may be read
// earlier than that, though within the same request.
func checkAge(cfg configs.Config, client redis.UniversalClient) time.Duration {
	if rediskeys.For(client, "").Cluster() {
		return cfg.PendingGrace() - cfg.Server.RequestTimeout
	}
	return cfg.PendingGrace()
}
