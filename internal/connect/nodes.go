package connect

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
)

// Sentinels makes a client for each Sentinel of the configuration, which the caller closes.
// The error is that of [Redis].
func Sentinels(cfg configs.Config) ([]*redis.SentinelClient, error) {
	o, err := redisOptions(cfg)
	if err != nil {
		return nil, err
	}
	clients := make([]*redis.SentinelClient, len(o.Addrs))
	for i, addr := range o.Addrs {
		clients[i] = redis.NewSentinelClient(&redis.Options{
			Addr: addr, Username: o.SentinelUsername, Password: o.SentinelPassword, Dialer: o.Dialer, MaxRetries: -1, PoolSize: 1,
			DialTimeout: o.DialTimeout, DialerRetries: 1, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		})
	}
	return clients, nil
}

// EachMaster calls ask with each master of the data, on a cluster with all at once. The
// error says that the masters are not known.
func EachMaster(ctx context.Context, client redis.UniversalClient, ask func(context.Context, *redis.Client)) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
			ask(ctx, c)
			return nil
		})
	case *redis.Client:
		ask(ctx, c)
	}
	return nil
}

// Info returns the fields of what INFO replies; without a section, all.
func Info(ctx context.Context, c redis.Cmdable, section ...string) (map[string]string, error) {
	text, err := c.Info(ctx, section...).Result()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, err
}
