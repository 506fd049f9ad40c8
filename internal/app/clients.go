package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
)

// connectRedis makes the client the configuration describes: a single server,
// a master found by Sentinels, or a cluster. It does not dial yet.
func connectRedis(cfg configs.Config) redis.UniversalClient {
	logRedis()
	r := cfg.Redis
	o := &redis.UniversalOptions{
		Addrs:      r.Addrs,
		Username:   r.Username,
		Password:   r.Password,
		DB:         r.DB,
		MasterName: r.MasterName,
		// A request's deadline bounds its commands, beside the fixed limits below.
		ContextTimeoutEnabled: true,
		DialTimeout:           min(cfg.Server.RequestTimeout, 2*time.Second),
		ReadTimeout:           cfg.Server.RequestTimeout,
		WriteTimeout:          cfg.Server.RequestTimeout,
	}
	if r.TLS {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return redis.NewUniversalClient(o)
}

// logRedis sends what the client library itself has to say, which is about
// connections, to the log. The library has one logger for the process.
var logRedis = sync.OnceFunc(func() { redis.SetLogger(redisLog{}) })

type redisLog struct{}

func (redisLog) Printf(ctx context.Context, format string, args ...any) {
	slog.DebugContext(ctx, "redis client: "+fmt.Sprintf(format, args...))
}

// connectElastic makes the Elasticsearch client. It does not dial yet.
func connectElastic(cfg configs.Config) (*elasticsearch.Client, error) {
	es := cfg.Elasticsearch
	o := elasticsearch.Config{
		Addresses: es.Addresses,
		Username:  es.Username,
		Password:  es.Password,
		APIKey:    es.APIKey,
		Transport: elasticTransport(),
	}
	if es.CACert != "" {
		pem, err := os.ReadFile(es.CACert)
		if err != nil {
			return nil, fmt.Errorf("elasticsearch.ca_cert: %w", err)
		}
		o.CACert = pem
	}
	client, err := elasticsearch.NewClient(o)
	if err != nil {
		return nil, fmt.Errorf("elasticsearch: %w", err)
	}
	return client, nil
}

// elasticTransport keeps enough connections open for concurrent recalls; the
// standard library's default of two would close and dial all the time.
func elasticTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	return t
}
