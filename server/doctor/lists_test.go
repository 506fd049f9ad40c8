package doctor

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/connect"
)

func TestDoctorListsStore(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"128": "a skiplist, about 120 bytes a post; with 512",
		"502": "a skiplist",
		"503": "listpacks, about 40 bytes",
		"512": "listpacks",
	} {
		found := judgeLists(connect.Settings{Listpack: setting}, 500)
		assert.Equal(t, OK, found.Level, setting)
		assert.Contains(t, found.Detail, want, setting)
	}
	assert.Contains(t, judgeLists(connect.Settings{Listpack: "512"}, 1000).Detail, "with 1003")
	assert.Empty(t, judgeLists(connect.Settings{}, 500), "a check that could not run is not ok")
}

// TestDoctorListsRedis checks that the Redis of the lists may evict, and need not
// persist.
func TestDoctorListsRedis(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	own := testenv.StartRedis(t)
	cfg.Timeline.RedisURL = "redis://" + own.Addr
	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = client.Close() })
	for _, test := range []struct {
		set   []string
		level Level
		says  string
	}{
		{[]string{"maxmemory", "64mb", "maxmemory-policy", "volatile-lru"}, OK, "volatile-lru"},
		{[]string{"maxmemory", "64mb", "maxmemory-policy", "noeviction"}, Warning, "lists cannot be written"},
		{[]string{"maxmemory", "0", "maxmemory-policy", "noeviction"}, OK, "noeviction"},
	} {
		set(t, client, test.set...)
		findings := Check(t.Context(), cfg, Options{})
		assert.Equal(t, OK, about(t, findings, "timeline.redis").Level)
		assert.Contains(t, about(t, findings, "timeline.redis lists").Detail, "a post")
		assert.Equal(t, OK, about(t, findings, "timeline.redis streams").Level)
		found := about(t, findings, "timeline.redis eviction")
		assert.Equal(t, test.level, found.Level, test.set)
		assert.Contains(t, found.Detail, test.says)
		assert.Empty(t, levels(findings, "redis lists"))
	}
	own.Kill()
	found := about(t, Check(t.Context(), cfg, Options{}), "timeline.redis")
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Fix, "timeline.redis_url")
}
