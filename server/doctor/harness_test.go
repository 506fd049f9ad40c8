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

func embedded(t *testing.T) configs.Config {
	cfg := configs.Default()
	cfg.DataDir = t.TempDir()
	return cfg
}

// servicesAt returns the configuration of services at these addresses, whether they exist or not.
func servicesAt(t *testing.T, redisAddr, elastic string) configs.Config {
	cfg := embedded(t)
	cfg.Redis.URL, cfg.Elasticsearch.Addresses = "redis://"+redisAddr, []string{elastic}
	return cfg
}

// onRedis has impressions and sessions in Redis and everything else in process.
func onRedis(t *testing.T, addrs ...string) configs.Config {
	cfg := embedded(t)
	cfg.Dedup.Shards = 16
	cfg.Redis.URL = testenv.RedisAt(addrs)
	return cfg
}

// oneServer returns the address of a Redis that is not a cluster.
func oneServer(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	return u.Host
}

// productionRedis returns a Redis for one test with the settings of docs/production.md.
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

// levels returns the levels of the findings about subjects with a prefix.
func levels(findings []Finding, what string) []Level {
	var out []Level
	for _, f := range findings {
		if strings.HasPrefix(f.What, what) {
			out = append(out, f.Level)
		}
	}
	return out
}
