package app

import (
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

func TestDoctorJudgesRedisSettings(t *testing.T) {
	t.Parallel()
	const need = 14_000_000
	memory := func(s redisSettings) judgement { return judgeMemory(s, need) }
	for name, tt := range map[string]struct {
		settings redisSettings
		judge    func(redisSettings) judgement
		level    Level
		says     []string
	}{
		"nothing kept":       {redisSettings{appendOnly: "no"}, judgePersistence, Warning, []string{"appendonly is no and save is empty", needsPersistence}},
		"snapshots":          {redisSettings{appendOnly: "no", save: "300 100"}, judgePersistence, Warning, []string{"appendonly is no, save is 300 100", needsPersistence}},
		"no fsync":           {redisSettings{appendOnly: "yes", appendSync: "no"}, judgePersistence, Warning, []string{needsSync}},
		"fsync always":       {redisSettings{appendOnly: "yes", appendSync: "always"}, judgePersistence, OK, []string{"always"}},
		"no eviction":        {redisSettings{policy: "noeviction"}, judgeEviction, OK, []string{"noeviction"}},
		"any key goes":       {redisSettings{policy: "allkeys-lru"}, judgeEviction, Warning, []string{"allkeys-lru", needsNoEviction}},
		"keys with a TTL go": {redisSettings{policy: "volatile-ttl"}, judgeEviction, Warning, []string{"volatile-ttl", needsNoEviction}},
		"no limit":           {redisSettings{maxMemory: "0"}, memory, Warning, []string{"maxmemory is not set", needsMemory}},
		"too little":         {redisSettings{maxMemory: "10485760"}, memory, Warning, []string{"maxmemory is 10.0 MiB", "13.4 MiB", needsMemory}},
		"just enough":        {redisSettings{maxMemory: "14000000"}, memory, OK, []string{"maxmemory 13.4 MiB"}},
	} {
		found := tt.judge(tt.settings)
		assert.Equal(t, tt.level, found.level, "%s: %v", name, found)
		for _, part := range tt.says {
			assert.Contains(t, found.detail, part, name)
		}
		assert.Equal(t, tt.level != OK, found.fix != "", "a warning says what to do: %s: %v", name, found)
	}
}

// A managed Redis refuses CONFIG; a strict one INFO too.
func TestDoctorWithoutTheRightToAsk(t *testing.T) {
	t.Parallel()
	client := productionRedis(t)
	cfg := onRedis(t, "", client.Options().Addr)
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

// answering is an Elasticsearch that gives these answers; "" is one that refuses.
func answering(t *testing.T, answers map[string]string) esindex.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		body := answers[r.URL.Path]
		if body == "" {
			w.WriteHeader(http.StatusForbidden)
			body = `{"error":{"type":"security_exception","reason":"not allowed"},"status":403}`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{server.URL}})
	require.NoError(t, err)
	return client
}

func TestDoctorChecksReplicas(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	for _, tt := range []struct {
		health, replicas string
		level            Level
		says             []string
	}{
		{"green", "0", Warning, []string{"without replicas: a", needsReplicas}},
		{"yellow", "1", Warning, []string{"with replicas that are on no node: a", needsReplicas}},
		{"red", "1", Broken, []string{"without a primary shard"}}, // searches fail
		{"green", "1", OK, nil},
	} {
		d := &doctor{cfg: cfg}
		d.lookAtReplicas(t.Context(), answering(t, map[string]string{
			"/_cat/indices/" + strings.Join(indices(cfg), ","): `[{"index":"a","health":"` + tt.health + `","rep":"` + tt.replicas + `"}]`,
		}))
		f := about(t, d.findings, "elasticsearch replicas")
		assert.Equal(t, tt.level, f.Level, "%v", f)
		for _, part := range tt.says {
			assert.Contains(t, f.Detail, part)
		}
		assert.Equal(t, tt.level == Warning, strings.Contains(f.Fix, "number_of_replicas"), "%v", f)
	}
}

func TestDoctorChecksDisks(t *testing.T) {
	t.Parallel()
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
		d := &doctor{}
		d.lookAtDisks(t.Context(), answering(t, map[string]string{"/_cluster/settings": test.settings, "/_cat/allocation": test.disks}))
		f := about(t, d.findings, "elasticsearch disks")
		assert.Equal(t, test.level, f.Level, "%s: %v", test.name, f)
		assert.Contains(t, f.Detail, test.says, test.name)
		if test.says != "not allowed" && test.level != OK {
			assert.Contains(t, f.Detail, needsDisk, test.name)
		}
	}
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
