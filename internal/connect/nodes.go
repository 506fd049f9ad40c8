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
	credentials := sentinelCredentials(cfg.Fresh())
	clients := make([]*redis.SentinelClient, len(o.Addrs))
	for i, addr := range o.Addrs {
		clients[i] = redis.NewSentinelClient(&redis.Options{
			Addr: addr, CredentialsProvider: credentials, Dialer: o.Dialer, MaxRetries: -1, PoolSize: 1,
			DialTimeout: o.DialTimeout, DialerRetries: 1, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		})
	}
	return clients, nil
}

// sentinelCredentials returns the user and the password of the Sentinels, as files have them by
// now.
func sentinelCredentials(fresh func() configs.Config) func() (user, password string) {
	return func() (string, string) {
		r := fresh().Redis.Server()
		return r.SentinelUsername, r.SentinelPassword
	}
}

// authenticate returns what tells a new connection who asks, where it was not told yet: the
// client takes credentials that change for masters, and not for Sentinels. It asks what the
// client needs, since without a user one may be allowed something else. A master does not
// know the command.
func authenticate(master string, credentials func() (user, password string)) func(context.Context, *redis.Conn) error {
	return func(ctx context.Context, conn *redis.Conn) error {
		user, password := credentials()
		if password == "" {
			return nil
		}
		err := conn.Do(ctx, "sentinel", "get-master-addr-by-name", master).Err()
		if !redis.HasErrorPrefix(err, "NOAUTH") && !redis.HasErrorPrefix(err, "NOPERM") {
			return nil
		}
		if user == "" {
			return conn.Auth(ctx, password).Err()
		}
		return conn.AuthACL(ctx, user, password).Err()
	}
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
