package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
)

// A request whose dependency does not answer must still be able to answer
// without it, so each dependency gets a share of the request's time.
const (
	redisShare   = 10 // a connection, a try: a tenth of the time each
	redisHold    = 5  // waiting after a failover, see masters
	redisCalls   = 3  // a call with its retries, and that wait: a third; only one such call may fail in a request
	elasticShare = 0.6
)

// redisPatience is the longest a call of a request may take, with what waiting for
// replicas adds.
func redisPatience(cfg configs.Config) time.Duration {
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

// redisOptions returns the options of every kind of Redis client.
func redisOptions(cfg configs.Config) *redis.UniversalOptions {
	r := cfg.Redis
	o := &redis.UniversalOptions{
		Addrs:      slices.Clip(slices.Clone(r.Addrs)), // a client may append to it
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
	if r.TLS {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if r.WaitReplicas > 0 { // a server that waits for its replicas is not dead yet
		o.ReadTimeout += cfg.WaitTimeout()
	}
	return o
}

// logRedis sends what the client library itself has to say, which is about
// connections, to the log. The library has one logger for the process: the first
// one it was given stays.
func logRedis(log *slog.Logger) { redisLogged.Do(func() { redis.SetLogger(redisLog{log}) }) }

var redisLogged sync.Once

type redisLog struct{ *slog.Logger }

func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.DebugContext(ctx, "redis client: "+fmt.Sprintf(format, args...))
}

// Hooks are put around the clients of the services, for measurements.
type Hooks struct {
	Redis   redis.Hook                          // nil: none
	Elastic func(esindex.Client) esindex.Client // nil: none
}

// WithHooks puts hooks around the clients before they are used.
func WithHooks(h Hooks) Option { return func(a *App) { a.hooks = h } }

// ConnectElastic makes the Elasticsearch client. It does not dial yet.
func ConnectElastic(cfg configs.Config, log *slog.Logger) (esindex.Client, error) {
	es := cfg.Elasticsearch
	transport, err := elasticTransport(es.CACert)
	if err != nil {
		return nil, err
	}
	client, err := esindex.Connect(esindex.ClientConfig{
		Addresses: es.Addresses,
		Username:  es.Username,
		Password:  es.Password,
		APIKey:    es.APIKey,
		Transport: newElasticBreaker(transport, time.Duration(elasticShare*float64(cfg.Server.RequestTimeout)), log),
	})
	if err != nil {
		return nil, fmt.Errorf("elasticsearch: %w", err)
	}
	return client, nil
}

// elasticTransport trusts the authority in the file besides the system's, and
// keeps enough connections open for concurrent recalls; the standard library's
// default of two would close and dial all the time.
func elasticTransport(caCert string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	if caCert == "" {
		return t, nil
	}
	pem, err := os.ReadFile(caCert)
	if err != nil {
		return nil, fmt.Errorf("elasticsearch.ca_cert: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("elasticsearch.ca_cert: %s holds no certificate in PEM form", caCert)
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	return t, nil
}
