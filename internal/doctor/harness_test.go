package doctor

import (
	"net/url"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// embedded needs no service.
func embedded(t *testing.T) configs.Config {
	cfg := configs.Default()
	cfg.DataDir = t.TempDir()
	return cfg
}

// servicesAt is services at these addresses, whatever is there.
func servicesAt(t *testing.T, redisAddr, elastic string) configs.Config {
	cfg := embedded(t)
	cfg.Redis.URL, cfg.Elasticsearch.Addresses = "redis://"+redisAddr, []string{elastic}
	return cfg
}

// onRedis keeps impressions and sessions in Redis and all else in process.
func onRedis(t *testing.T, addrs ...string) configs.Config {
	cfg := embedded(t)
	cfg.Dedup.Shards = 16
	cfg.Redis.URL = testenv.RedisAt(addrs)
	return cfg
}

// oneServer is the address of a Redis that is no cluster.
func oneServer(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	return u.Host
}

// productionRedis is a Redis of the test's own with the settings of docs/production.md.
func productionRedis(t *testing.T) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(t).Addr})
	t.Cleanup(func() { _ = client.Close() })
	set(t, client, "maxmemory", "64mb", "maxmemory-policy", "noeviction", "appendonly", "yes", "appendfsync", "everysec")
	return client
}

func set(t *testing.T, client *redis.Client, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.NoError(t, client.ConfigSet(t.Context(), pairs[i], pairs[i+1]).Err(), pairs[i])
	}
}

// about returns the one finding about a thing.
func about(t *testing.T, findings []Finding, what string) Finding {
	t.Helper()
	var found []Finding
	for _, f := range findings {
		if f.What == what {
			found = append(found, f)
		}
	}
	require.Len(t, found, 1, "%s in %v", what, findings)
	return found[0]
}

// levels are those of the findings about what begins so.
func levels(findings []Finding, what string) []Level {
	var out []Level
	for _, f := range findings {
		if strings.HasPrefix(f.What, what) {
			out = append(out, f.Level)
		}
	}
	return out
}
