package connect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

// Sentinels creates a client for each configured Sentinel, which the caller must close. The error
// is that of [Redis].
func Sentinels(cfg configs.Config) ([]*redis.SentinelClient, error) {
	o, err := redisOptions(cfg)
	if err != nil {
		return nil, err
	}
	credentials := sentinelAccess{fresh: cfg.Fresh()}.credentials
	clients := make([]*redis.SentinelClient, len(o.Addrs))
	for i, addr := range o.Addrs {
		clients[i] = redis.NewSentinelClient(&redis.Options{
			Addr: addr, CredentialsProvider: credentials, Dialer: o.Dialer, MaxRetries: -1, PoolSize: 1,
			DialTimeout: o.DialTimeout, DialerRetries: 1, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		})
	}
	return clients, nil
}

// sentinelAccess authenticates connections to Sentinels.
type sentinelAccess struct {
	fresh  func() configs.Config
	master string // its name
}

// credentials returns the Sentinels' user and password, as their files currently contain them.
func (s sentinelAccess) credentials() (user, password string) {
	r := s.fresh().Redis.Server()
	return r.SentinelUsername, r.SentinelPassword
}

// onConnect authenticates a new connection to a Sentinel if it is not authenticated yet: the client
// supports credentials that change for masters, but not for Sentinels. It probes with the command
// that the client needs, since the default user may be allowed other commands. A master does not
// know this command.
func (s sentinelAccess) onConnect(ctx context.Context, conn *redis.Conn) error {
	user, password := s.credentials()
	if password == "" {
		return nil
	}
	err := conn.Do(ctx, "sentinel", "get-master-addr-by-name", s.master).Err()
	if !redis.HasErrorPrefix(err, "NOAUTH") && !redis.HasErrorPrefix(err, "NOPERM") {
		return nil
	}
	if user == "" {
		return conn.Auth(ctx, password).Err()
	}
	return conn.AuthACL(ctx, user, password).Err()
}

// EachMaster calls ask with each master of the data, on a cluster concurrently. The error means
// that the masters are unknown.
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

// Info returns the fields of the INFO reply, of all sections if none is given.
func Info(ctx context.Context, c redis.Cmdable, section ...string) (map[string]string, error) {
	text, err := c.Info(ctx, section...).Result()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok {
			fields[name] = value
		}
	}
	return fields, err
}

// EvictionPolicy returns a policy by which a master evicts keys once its memory is full; "" if none does, or
// the user may not call INFO.
func EvictionPolicy(ctx context.Context, client redis.UniversalClient) (policy string) {
	var mu sync.Mutex
	_ = EachMaster(ctx, client, func(ctx context.Context, c *redis.Client) {
		info, _ := Info(ctx, c, "memory")
		of := info["maxmemory_policy"]
		if of == "" || of == "noeviction" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		policy = of
	})
	return policy
}

// Uptime returns how long the masters have been up: the one that was started last, to a second.
func Uptime(ctx context.Context, client redis.UniversalClient) (time.Duration, error) {
	var mu sync.Mutex
	var ups []time.Duration
	var failed error
	err := EachMaster(ctx, client, func(ctx context.Context, c *redis.Client) {
		info, err := Info(ctx, c, "server")
		seconds, wrong := strconv.ParseInt(info["uptime_in_seconds"], 10, 64)
		mu.Lock()
		defer mu.Unlock()
		failed = cmp.Or(failed, err, wrong)
		ups = append(ups, time.Duration(seconds)*time.Second)
	})
	err = cmp.Or(err, failed)
	if err != nil || len(ups) == 0 {
		return 0, cmp.Or(err, errors.New("no master of Redis is known"))
	}
	return slices.Min(ups), nil
}

// Master holds the state that a Redis master reports.
type Master struct {
	Addr     string
	Sent     time.Time // time of the request, by this machine's clock
	Clock    time.Time // time by the master's clock
	Replicas int       // connected; -1 means unknown
	ReadOnly bool      // it is a replica, and refuses writes
	Settings Settings
	Err      error // set if it does not answer
}

// Settings holds the settings of one Redis, by their names in CONFIG. An unknown value is "" (save
// may be known and empty).
type Settings struct {
	MaxMemory, Policy, AppendOnly, AppendSync, Save string

	Listpack string // zset-max-listpack-entries

	Inferred bool // from INFO, which lacks appendfsync and save
}

// CheckMasters queries each master and returns them sorted by address. The error means that not all
// masters are known.
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

// readSettings sends CONFIG GET, and INFO if that is refused, as on managed Redis.
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
	info, _ := Info(ctx, c) // if this is refused too, nothing is known
	on := map[string]string{"0": "no", "1": "yes"}
	return Settings{MaxMemory: info["maxmemory"], Policy: info["maxmemory_policy"], AppendOnly: on[info["aof_enabled"]], Inferred: true}
}
