package connect

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
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

// Master is what a master of the data in Redis tells of itself.
type Master struct {
	Addr     string
	Sent     time.Time // when it was asked, by this machine's clock
	Clock    time.Time // and what time it was then by its own
	Replicas int       // connected; -1: unknown
	ReadOnly bool      // it is a replica, and refuses writes
	Settings Settings
	Err      error // it does not answer
}

// Settings are the settings of one Redis, by their
// names in CONFIG. What is not known is "" (save may be known and empty).
type Settings struct {
	MaxMemory, Policy, AppendOnly, AppendSync, Save string

	Listpack string // zset-max-listpack-entries

	Inferred bool // from INFO, which lacks appendfsync and save
}

// CheckMasters asks each master, and returns them by their addresses. The error says that
// not all masters are known.
func CheckMasters(ctx context.Context, client redis.UniversalClient, clock feed.Clock) ([]Master, error) {
	var mu sync.Mutex
	var masters []Master
	err := EachMaster(ctx, client, func(ctx context.Context, c *redis.Client) {
		m := checkMaster(ctx, c, clock)
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, m)
	})
	slices.SortFunc(masters, func(a, b Master) int { return strings.Compare(a.Addr, b.Addr) })
	return masters, err
}

func checkMaster(ctx context.Context, c *redis.Client, clock feed.Clock) Master {
	m := Master{Addr: c.Options().Addr, Replicas: -1, Sent: clock()}
	m.Clock, m.Err = c.Time(ctx).Result()
	m.Settings = readSettings(ctx, c)
	info, _ := Info(ctx, c, "replication")
	m.ReadOnly = info["role"] == "slave" && info["slave_read_only"] != "0"
	if count, err := strconv.Atoi(info["connected_slaves"]); err == nil {
		m.Replicas = count
	}
	return m
}

// readSettings asks CONFIG GET, and INFO where that is refused, as managed
// Redis does.
func readSettings(ctx context.Context, c *redis.Client) Settings {
	var s Settings
	pipe, names := c.Pipeline(), []string{"maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "save", "zset-max-listpack-entries"}
	replies := make([]*redis.MapStringStringCmd, len(names))
	for i, name := range names {
		replies[i] = pipe.ConfigGet(ctx, name)
	}
	if _, err := pipe.Exec(ctx); err == nil {
		for i, to := range []*string{&s.MaxMemory, &s.Policy, &s.AppendOnly, &s.AppendSync, &s.Save, &s.Listpack} {
			*to = replies[i].Val()[names[i]]
		}
		return s
	}
	info, _ := Info(ctx, c) // refused too: nothing is known
	on := map[string]string{"0": "no", "1": "yes"}
	return Settings{MaxMemory: info["maxmemory"], Policy: info["maxmemory_policy"], AppendOnly: on[info["aof_enabled"]], Inferred: true}
}
