package app

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

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

// productionRedis starts a Redis with the settings of docs/production.md.
func productionRedis(t *testing.T) (configs.Config, *redis.Client) {
	t.Helper()
	r := testenv.StartRedis(t)
	cfg := services(t)
	cfg.Redis.Addrs = []string{r.Addr}
	client := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { _ = client.Close() })
	set(t, client, "maxmemory", "64mb", "maxmemory-policy", "noeviction", "appendonly", "yes", "appendfsync", "everysec")
	return cfg, client
}

func set(t *testing.T, client *redis.Client, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.NoError(t, client.ConfigSet(t.Context(), pairs[i], pairs[i+1]).Err(), pairs[i])
	}
}

func TestDoctorChecksRedisSettings(t *testing.T) {
	for _, test := range []struct {
		name  string
		set   []string
		what  string
		level Level
		says  []string
	}{
		{"as production.md has it", nil, "redis persistence", OK, []string{"appendonly yes, appendfsync everysec"}},
		{"as production.md has it", nil, "redis eviction", OK, []string{"noeviction"}},
		{"as production.md has it", nil, "redis memory", OK, []string{"maxmemory 64.0 MiB", "13.4 MiB"}},
		{"nothing kept", []string{"appendonly", "no", "save", ""}, "redis persistence", Warning, []string{"appendonly is no and save is empty", needsPersistence}},
		{"snapshots", []string{"appendonly", "no", "save", "300 100"}, "redis persistence", Warning, []string{"appendonly is no, save is 300 100", needsPersistence}},
		{"no fsync", []string{"appendfsync", "no"}, "redis persistence", Warning, []string{needsSync}},
		{"fsync always", []string{"appendfsync", "always"}, "redis persistence", OK, []string{"always"}},
		{"any key goes", []string{"maxmemory-policy", "allkeys-lru"}, "redis eviction", Warning, []string{"allkeys-lru", needsNoEviction}},
		{"keys with a TTL go", []string{"maxmemory-policy", "volatile-ttl"}, "redis eviction", Warning, []string{"volatile-ttl", needsNoEviction}},
		{"no limit", []string{"maxmemory", "0"}, "redis memory", Warning, []string{"maxmemory is not set", needsMemory}},
		{"too little", []string{"maxmemory", "10mb"}, "redis memory", Warning, []string{"maxmemory is 10.0 MiB", "13.4 MiB", needsMemory}},
	} {
		t.Run(test.name+": "+test.what, func(t *testing.T) {
			t.Parallel()
			cfg, client := productionRedis(t)
			set(t, client, test.set...)
			f := about(t, Doctor(t.Context(), cfg, false), test.what)
			assert.Equal(t, test.level, f.Level, "%v", f)
			for _, part := range test.says {
				assert.Contains(t, f.Detail, part)
			}
			assert.Equal(t, test.level != OK, f.Fix != "", "a warning says what to do: %v", f)
		})
	}
}

// A managed Redis refuses CONFIG; a strict one INFO too.
func TestDoctorWithoutTheRightToAsk(t *testing.T) {
	cfg, client := productionRedis(t)
	as := func(rules ...any) {
		t.Helper()
		args := append([]any{"ACL", "SETUSER", "limited", "reset", "on", ">word", "~*", "+@all"}, rules...)
		require.NoError(t, client.Do(t.Context(), args...).Err())
	}
	cfg.Redis.Username, cfg.Redis.Password = "limited", "word"

	as("-config")
	findings := Doctor(t.Context(), cfg, false)
	for what, says := range map[string]string{
		"redis persistence": "appendonly yes", "redis eviction": "noeviction", "redis memory": "maxmemory 64.0 MiB",
	} {
		f := about(t, findings, what)
		assert.Equal(t, OK, f.Level, "%v", f)
		assert.Contains(t, f.Detail, says)
	}
	assert.Contains(t, about(t, findings, "redis persistence").Detail, "from INFO: CONFIG GET is refused")

	set(t, client, "appendonly", "no", "save", "300 100", "maxmemory", "0")
	findings = Doctor(t.Context(), cfg, false)
	assert.Contains(t, about(t, findings, "redis persistence").Detail, needsPersistence)
	assert.Contains(t, about(t, findings, "redis memory").Detail, needsMemory)

	as("-config", "-info")
	for _, what := range []string{"redis persistence", "redis eviction", "redis memory"} {
		f := about(t, Doctor(t.Context(), cfg, false), what)
		assert.Equal(t, Warning, f.Level)
		assert.Contains(t, f.Detail, "CONFIG GET and INFO are refused")
	}
}

// Every master is looked at; each needs its share of the memory.
func TestDoctorChecksEachMaster(t *testing.T) {
	cfg := onCluster(t)
	findings := Doctor(t.Context(), cfg, false)
	masters := map[string]bool{}
	for _, f := range findings {
		if name, ok := strings.CutSuffix(f.What, " memory"); ok {
			masters[name] = true
			assert.Contains(t, f.Detail, "4.5 MiB", "a third of 13.4 MiB")
		}
	}
	assert.Len(t, masters, 3, "%v", findings)
}

// elsewhere puts a proxy in front of the real Elasticsearch that answers some
// paths itself.
func elsewhere(t *testing.T, cfg configs.Config, answers map[string]string) configs.Config {
	t.Helper()
	server := httptest.NewServer(testenv.Forward(t, cfg.Elasticsearch.Addresses[0], func(res *http.Response) error {
		body, ok := answers[res.Request.URL.Path]
		if !ok {
			return nil
		}
		if body == "" {
			res.StatusCode, body = http.StatusForbidden, `{"error":{"type":"security_exception","reason":"not allowed"},"status":403}`
		}
		res.Body, res.ContentLength = io.NopCloser(bytes.NewBufferString(body)), int64(len(body))
		res.Header.Set("Content-Length", fmt.Sprint(len(body)))
		res.Header.Del("Content-Encoding")
		return nil
	}))
	t.Cleanup(server.Close)
	cfg.Elasticsearch.Addresses = []string{server.URL}
	return cfg
}

func TestDoctorChecksReplicas(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	const what = "elasticsearch replicas"
	none := 0
	client, err := ConnectElastic(cfg, nil)
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), client, cfg.Elasticsearch.Index, esindex.Definition{Fields: indexFields(cfg), Replicas: &none})
	require.NoError(t, err)
	f := about(t, Doctor(t.Context(), cfg, false), what)
	assert.Equal(t, Warning, f.Level)
	assert.Contains(t, f.Detail, "without replicas: "+strings.Join(indices(cfg), ", "))
	assert.Contains(t, f.Detail, needsReplicas)
	assert.Contains(t, f.Fix, "number_of_replicas")

	rows := func(health, replicas string) map[string]string {
		return map[string]string{"/_cat/indices/" + strings.Join(indices(cfg), ","): `[{"index":"a","health":"` + health + `","rep":"` + replicas + `"}]`}
	}
	f = about(t, Doctor(t.Context(), elsewhere(t, cfg, rows("yellow", "1")), false), what)
	assert.Equal(t, Warning, f.Level)
	assert.Contains(t, f.Detail, "with replicas that are on no node: a")
	f = about(t, Doctor(t.Context(), elsewhere(t, cfg, rows("red", "1")), false), what)
	assert.Equal(t, Broken, f.Level, "searches fail")
	f = about(t, Doctor(t.Context(), elsewhere(t, cfg, rows("green", "1")), false), what)
	assert.Equal(t, OK, f.Level, "%v", f)
}

func TestDoctorChecksDisks(t *testing.T) {
	cfg := services(t)
	const what = "elasticsearch disks"
	disks := func(freeGB int) string {
		return fmt.Sprintf(`[{"node":"n1","disk.avail":"%d","disk.total":"%d"},{"node":"UNASSIGNED","disk.avail":null,"disk.total":null}]`, freeGB<<30, 1000<<30)
	}
	settings := func(enabled, low, headroom string) string {
		const p = "cluster.routing.allocation.disk."
		return fmt.Sprintf(`{"persistent":{},"transient":{%q:%q},"defaults":{%q:%q,%q:%q,%q:"90%%",%q:"150GB",%q:"95%%",%q:"100GB"}}`,
			p+"watermark.low", low, p+"threshold_enabled", enabled, p+"watermark.low.max_headroom", headroom,
			p+"watermark.high", p+"watermark.high.max_headroom", p+"watermark.flood_stage", p+"watermark.flood_stage.max_headroom")
	}
	for _, test := range []struct {
		name, settings, disks string
		level                 Level
		says                  string
	}{
		{"room", settings("true", "85%", "-1"), disks(200), OK, "n1 has 200.0 GiB free"},
		{"past the low one", settings("true", "85%", "-1"), disks(149), Warning, "n1 has 149.0 GiB free, past the low watermark (85%)"},
		{"large disks may fill further", settings("true", "85%", "120GB"), disks(149), OK, "n1 has 149.0 GiB free"},
		{"past the high one", settings("true", "85%", "-1"), disks(99), Warning, "past the high watermark (90%)"},
		{"past the flood stage", settings("true", "0.85", "200gb"), disks(49), Warning, "past the flood_stage watermark (95%)"},
		{"bytes", settings("true", "300gb", "-1"), disks(299), Warning, "past the low watermark (300gb)"},
		{"switched off", settings("false", "85%", "-1"), disks(500), Warning, "threshold_enabled is false"},
		{"not allowed", "", disks(500), Warning, "not allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := elsewhere(t, cfg, map[string]string{"/_cluster/settings": test.settings, "/_cat/allocation": test.disks})
			f := about(t, Doctor(t.Context(), cfg, false), what)
			assert.Equal(t, test.level, f.Level, "%v", f)
			assert.Contains(t, f.Detail, test.says)
			if test.says != "not allowed" && test.level != OK {
				assert.Contains(t, f.Detail, needsDisk)
			}
		})
	}
	// The real one answers what is read here.
	f := about(t, Doctor(t.Context(), cfg, false), what)
	assert.NotContains(t, f.Detail, "could not be checked")
}

// The doctor speaks in the words of the page.
func TestDoctorQuotesProduction(t *testing.T) {
	page, err := os.ReadFile("../../docs/production.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(page), "`", "")), " ")
	for _, sentence := range []string{needsNoEviction, needsPersistence, needsSync, needsMemory, needsReplicas, needsDisk} {
		assert.Contains(t, text, sentence)
	}
}
