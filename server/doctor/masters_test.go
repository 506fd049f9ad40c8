package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// TestDoctorCluster checks that every master is examined, and needs its share of the memory.
func TestDoctorCluster(t *testing.T) {
	t.Parallel()
	about := func(cfg configs.Config) (said string) {
		for _, f := range Check(t.Context(), cfg, Options{}) {
			storage := strings.HasSuffix(f.What, " persistence") || strings.HasSuffix(f.What, " memory")
			if strings.HasPrefix(f.What, "redis") && f.Level != OK && !storage { // the tests' servers do not persist
				said += fmt.Sprintln(f.Level, f.What, f.Detail, f.Fix)
			}
		}
		return said
	}
	cfg := onRedis(t, testenv.RedisClusterAddrs(t)...)
	masters := map[string]bool{}
	for _, f := range Check(t.Context(), cfg, Options{}) {
		if name, ok := strings.CutSuffix(f.What, " memory"); ok {
			masters[name] = true
			assert.Contains(t, f.Detail, "4.5 MiB", "a third of 13.4 MiB")
		}
	}
	assert.Len(t, masters, 3)
	assert.Empty(t, about(cfg))
	cfg.Redis.WaitReplicas = 1
	assert.Empty(t, about(cfg))
	cfg.Redis.WaitReplicas = 2
	assert.Contains(t, about(cfg), "it has 1 replicas but redis.wait_replicas is 2")
	cfg = onRedis(t, testenv.RedisClusterAddrs(t)...)
	cfg.Dedup.Shards = 1
	assert.Contains(t, about(cfg), "a day has 1 filters, but there are 3 masters")

	master, sentinels := testenv.RedisSentinelAddrs(t)
	cfg = onRedis(t, sentinels...)
	cfg.Redis.URL += "&master_name=" + master
	cfg.Dedup.Shards = 1
	assert.Empty(t, about(cfg))
	cfg.Redis.WaitReplicas = 2
	assert.Contains(t, about(cfg), "it has 1 replicas")
}

// TestDoctorReplica checks the Redis of the lists and the Redis of everything else.
func TestDoctorReplica(t *testing.T) {
	t.Parallel()
	client := productionRedis(t)
	cfg := onRedis(t, client.Options().Addr)
	cfg.Timeline.RedisURL = "redis://" + client.Options().Addr
	const says = "it is a read-only replica"
	for _, replica := range []bool{false, true} {
		if replica {
			require.NoError(t, client.ReplicaOf(t.Context(), "127.0.0.1", "1").Err())
		}
		for _, what := range []string{"redis ", "timeline.redis "} {
			what += client.Options().Addr
			findings := Check(t.Context(), cfg, Options{})
			if !replica {
				assert.Empty(t, levels(findings, what))
				continue
			}
			found := about(t, findings, what)
			assert.Equal(t, Broken, found.Level)
			assert.Contains(t, found.Detail, says)
		}
	}
}
