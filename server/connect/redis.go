// Package connect creates the clients of the configured services.
package connect

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/server/breaker"
)

// A request whose dependency does not answer must still be able to answer without it, so each
// dependency gets a share of the request's time.
const (
	redisShare = 10 // connecting and each attempt: a tenth of the time
	redisCalls = 3  // a call with its retries, and a wait after a failover: a third; at most one such call fails in a request
)

// RedisPatience returns the time limit of a call in a request, including the wait for replicas.
func RedisPatience(cfg configs.Config) time.Duration {
	patience := cfg.Server.RequestTimeout / redisCalls
	if cfg.Redis.WaitReplicas > 0 {
		patience += cfg.WaitTimeout()
	}
	return patience
}

// redisConns is the least size of the connection pool. Waiting for a connection counts toward a
// call's time limit, so a pool that is too small for a burst would look like a Redis that is down.
const redisConns = 64

// redisOptions returns the options for every kind of Redis client. The error is about a certificate
// file.
func redisOptions(cfg configs.Config) (*redis.UniversalOptions, error) {
	r := cfg.Redis.Server()
	o := &redis.UniversalOptions{
		Addrs:      r.Addrs,
		Username:   r.Username,
		Password:   r.Password,
		DB:         r.DB,
		MasterName: r.MasterName,

		SentinelUsername: r.SentinelUsername,
		SentinelPassword: r.SentinelPassword,
		// A call that times out, with one retry, must leave time to answer without Redis.
		ContextTimeoutEnabled: true,
		MaxRetries:            1,
		PoolSize:              max(redisConns, 10*runtime.GOMAXPROCS(0)),
		PoolTimeout:           cfg.Server.RequestTimeout / redisShare,
		DialerRetries:         1,
		DialTimeout:           cfg.Server.RequestTimeout / redisShare,
		ReadTimeout:           cfg.Server.RequestTimeout / redisShare,
		WriteTimeout:          cfg.Server.RequestTimeout / redisShare,
		ConnMaxLifetime:       redisLifetime,
		ConnMaxLifetimeJitter: redisJitter,
	}
	o.Dialer = plainDialer(o.DialTimeout).DialContext
	if r.TLS { // each node's certificate is verified against the dialled name
		s, err := redisSecured(cfg)
		if err != nil {
			return nil, err
		}
		o.Dialer = s.dialer(o.DialTimeout)
	}
	if cfg.FromFiles() {
		fresh := cfg.Fresh()
		o.CredentialsProvider = func() (user, password string) {
			r := fresh().Redis.Server()
			return r.Username, r.Password
		}
		if r.MasterName != "" {
			o.SentinelUsername, o.SentinelPassword, o.OnConnect = "", "", sentinelAccess{fresh, r.MasterName}.onConnect
		}
	}
	if cfg.Redis.WaitReplicas > 0 { // a server that waits for its replicas is not dead
		o.ReadTimeout += cfg.WaitTimeout()
	}
	return o, nil
}

// LogRedis sends the client library's own messages, which are about connections, to the log. The
// library has one logger per process; only the first call has an effect.
func LogRedis(log *slog.Logger) { redisLogged.Do(func() { redis.SetLogger(redisLog{log}) }) }

var redisLogged sync.Once

type redisLog struct{ *slog.Logger }

func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.DebugContext(ctx, "redis client: "+fmt.Sprintf(format, args...))
}

// clusterReload is the maximum age of the client's cluster topology. A dead master cannot report
// that it was replaced, so this bounds how long its agents wait after a failover. A reload costs
// one small query.
const clusterReload = time.Second

// Redis creates the configured client, which the caller must close: for a single server, a master
// found by Sentinels, or a cluster. Several addresses mean a cluster. A single server is asked for
// its mode, since keys have other names on a cluster; if it does not answer, it is treated as
// standalone, and connections fail with [ErrCluster] if it is not. Errors are about redis.url or a certificate file. options are applied last.
func Redis(ctx context.Context, cfg configs.Config, options ...func(*redis.UniversalOptions)) (redis.UniversalClient, error) {
	LogRedis(slog.New(slog.DiscardHandler)) // unless a logger has been set
	o, err := redisOptions(cfg)
	if err != nil {
		return nil, err
	}
	for _, option := range options {
		option(o)
	}
	if o.MasterName != "" {
		return redis.NewFailoverClient(o.Failover()), nil
	}
	if len(o.Addrs) > 1 {
		return clusterClient(o), nil
	}
	switch mode := serverMode(ctx, o); {
	case mode == "sentinel":
		return nil, fmt.Errorf("%s is a Sentinel; add ?master_name= with the name of its master", o.Addrs[0])
	case mode == "cluster" && o.DB != 0:
		return nil, fmt.Errorf("the database must be 0, because %s is a node of a cluster", o.Addrs[0])
	case mode == "cluster":
		return clusterClient(o), nil
	case mode == "":
		o.OnConnect = singleServer(o.OnConnect)
	}
	return redis.NewClient(o.Simple()), nil
}

// OnConnect is an option of [Redis]: connected is called for each new connection, before it is used.
func OnConnect(connected func(context.Context, *redis.Conn)) func(*redis.UniversalOptions) {
	return func(o *redis.UniversalOptions) {
		first := o.OnConnect
		o.OnConnect = func(ctx context.Context, conn *redis.Conn) error {
			if first != nil {
				if err := first(ctx, conn); err != nil {
					return err
				}
			}
			connected(ctx, conn)
			return nil
		}
	}
}

// clusterClient follows redirects of the cluster, and does not also retry on each server.
func clusterClient(o *redis.UniversalOptions) redis.UniversalClient {
	c := o.Cluster()
	c.MaxRetries, c.MaxRedirects = -1, 3
	c.ClusterStateReloadInterval = clusterReload
	return redis.NewClusterClient(c)
}

// serverMode returns standalone, cluster or sentinel, or "" if unknown. HELLO needs no permission.
func serverMode(ctx context.Context, o *redis.UniversalOptions) string {
	simple := o.Simple()
	simple.DB = 0 // no other database can be selected on a cluster
	client := redis.NewClient(simple)
	defer func() { _ = client.Close() }()
	mode, _ := askMode(ctx, client)
	return mode
}

// Replicas returns the setting redis.wait_replicas, guarded by the breaker.
func Replicas(cfg configs.Config, b breaker.Redis) rediskeys.Replicas {
	return rediskeys.Replicas{N: cfg.Redis.WaitReplicas, Timeout: cfg.WaitTimeout(), Guard: b.Wait}
}
