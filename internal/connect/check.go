package connect

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
)

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
