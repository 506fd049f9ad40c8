// Package connect makes the clients of the services that a configuration names.
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
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/rediskeys"
)

// A request whose dependency does not answer must still be able to answer
// without it, so each dependency gets a share of the request's time.
const (
	redisShare = 10 // a connection, a try: a tenth of the time each
	redisCalls = 3  // a call with its retries, and a wait after a failover: a third; only one such call may fail in a request
)

// RedisPatience is the longest a call of a request may take, waiting for replicas included.
func RedisPatience(cfg configs.Config) time.Duration {
	patience := cfg.Server.RequestTimeout / redisCalls
	if cfg.Redis.WaitReplicas > 0 {
		patience += cfg.WaitTimeout()
	}
	return patience
}

// redisConns is the least size of the connection pool. Waiting for a connection
// is a part of what a call may take, so a pool that is too small for a burst
// would pass for a Redis that is down.
const redisConns = 64

// redisOptions returns the options of every kind of Redis client. The error is about a file
// of certificates.
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
		// A call that times out, tried twice, must leave time to answer without
		// Redis.
		ContextTimeoutEnabled: true,
		MaxRetries:            1,
		PoolSize:              max(redisConns, 10*runtime.GOMAXPROCS(0)),
		PoolTimeout:           cfg.Server.RequestTimeout / redisShare,
		DialerRetries:         1,
		DialTimeout:           cfg.Server.RequestTimeout / redisShare,
		ReadTimeout:           cfg.Server.RequestTimeout / redisShare,
		WriteTimeout:          cfg.Server.RequestTimeout / redisShare,
	}
	if r.TLS { // each node is checked by the name that is dialled
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
			o.SentinelUsername, o.SentinelPassword, o.OnConnect = "", "", authenticate(r.MasterName, sentinelCredentials(fresh))
		}
	}
	if cfg.Redis.WaitReplicas > 0 { // a server that waits for its replicas is not dead yet
		o.ReadTimeout += cfg.WaitTimeout()
	}
	return o, nil
}

// LogRedis sends what the client library itself has to say, which is about
// connections, to the log. The library has one logger for the process: the first
// one it was given stays.
func LogRedis(log *slog.Logger) { redisLogged.Do(func() { redis.SetLogger(redisLog{log}) }) }

var redisLogged sync.Once

type redisLog struct{ *slog.Logger }

func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.DebugContext(ctx, "redis client: "+fmt.Sprintf(format, args...))
}

// clusterReload is how old the client's idea of who is whose master may get. A
// dead master cannot say that it has been replaced, so this bounds how long
// its agents wait after a failover. It costs one small question a reload.
const clusterReload = time.Second

// Redis makes the client the configuration describes, which the caller
// closes: a single server, a master found by Sentinels, or a cluster. Several addresses are
// a cluster; a single server is asked what it is, since on a cluster keys have other names.
// One that does not answer now is taken for a single server. Errors are about what redis.url
// says, or a file of certificates.
func Redis(ctx context.Context, cfg configs.Config) (redis.UniversalClient, error) {
	LogRedis(slog.New(slog.DiscardHandler)) // where no other one has been set
	o, err := redisOptions(cfg)
	if err != nil {
		return nil, err
	}
	if o.MasterName != "" {
		return redis.NewFailoverClient(o.Failover()), nil
	}
	if len(o.Addrs) > 1 {
		return clusterClient(o), nil
	}
	switch mode := serverMode(ctx, o); {
	case mode == "sentinel":
		return nil, fmt.Errorf("%s is a Sentinel; add ?master_name= with the master it watches", o.Addrs[0])
	case mode == "cluster" && o.DB != 0:
		return nil, fmt.Errorf("the database must be 0, because %s is a node of a cluster", o.Addrs[0])
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
	hello := redis.NewMapStringInterfaceCmd(ctx, "hello")
	_ = client.Process(ctx, hello) // what fails tells nothing
	mode, _ := hello.Val()["mode"].(string)
	return mode
}

// Replicas returns the setting redis.wait_replicas, behind the breaker.
func Replicas(cfg configs.Config, b breaker.Redis) rediskeys.Replicas {
	return rediskeys.Replicas{N: cfg.Redis.WaitReplicas, Timeout: cfg.WaitTimeout(), Guard: b.Wait}
}
