package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/sharedsettings"
)

func TestDoctorRedisSettings(t *testing.T) {
	t.Parallel()
	const need = 14_000_000
	memory := func(s connect.Settings) Finding { return judgeMemory(s, need) }
	for name, tt := range map[string]struct {
		settings connect.Settings
		judge    func(connect.Settings) Finding
		level    Level
		says     []string
	}{
		"nothing kept":       {connect.Settings{AppendOnly: "no"}, judgePersistence, Warning, []string{"appendonly is no and save is empty", needsPersistence}},
		"snapshots":          {connect.Settings{AppendOnly: "no", Save: "300 100"}, judgePersistence, Warning, []string{"appendonly is no, save is 300 100", needsPersistence}},
		"no fsync":           {connect.Settings{AppendOnly: "yes", AppendSync: "no"}, judgePersistence, Warning, []string{needsSync}},
		"fsync always":       {connect.Settings{AppendOnly: "yes", AppendSync: "always"}, judgePersistence, OK, []string{"always"}},
		"no eviction":        {connect.Settings{Policy: "noeviction"}, judgeEviction, OK, []string{"noeviction"}},
		"any key goes":       {connect.Settings{Policy: "allkeys-lru"}, judgeEviction, Warning, []string{"allkeys-lru", needsNoEviction}},
		"keys with a TTL go": {connect.Settings{Policy: "volatile-ttl"}, judgeEviction, Warning, []string{"volatile-ttl", needsNoEviction}},
		"no limit":           {connect.Settings{MaxMemory: "0"}, memory, Warning, []string{"maxmemory is not set", needsMemory}},
		"too little":         {connect.Settings{MaxMemory: "10485760"}, memory, Warning, []string{"maxmemory is 10.0 MiB", "13.4 MiB", needsMemory}},
		"just enough":        {connect.Settings{MaxMemory: "14000000"}, memory, OK, []string{"maxmemory 13.4 MiB"}},
	} {
		found := tt.judge(tt.settings)
		assert.Equal(t, tt.level, found.Level, "%s: %v", name, found)
		for _, part := range tt.says {
			assert.Contains(t, found.Detail, part, name)
		}
		assert.Equal(t, tt.level != OK, found.Fix != "", "a warning says what to do: %s: %v", name, found)
	}
}

// TestDoctorLacksStore has a configuration without a store that the other servers use, as in a shell without
// their environment.
func TestDoctorLacksStore(t *testing.T) {
	t.Parallel()
	client := productionRedis(t)
	cfg := onRedis(t, client.Options().Addr)
	theirs := sharedsettings.Of(cfg)
	theirs["elasticsearch.index"] = "freshet-items"
	store := sharedsettings.InRedis(client, cfg.Redis.KeyPrefix)
	require.NoError(t, sharedsettings.Accept(t.Context(), store, theirs))
	findings := Check(t.Context(), cfg, Options{})
	assert.Equal(t, "items sqlite, impressions redis, posts off", about(t, findings, "configuration").Detail)
	found := about(t, findings, "redis settings")
	assert.Equal(t, Warning, found.Level)
	assert.Contains(t, found.Detail, "the other servers use Elasticsearch (elasticsearch.addresses)")
	assert.Contains(t, found.Fix, "environment of the server")
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{Accept: true}), "redis settings").Level)
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "redis settings").Level, "no server uses it any more")
}

// A managed Redis denies CONFIG, and a strict one also INFO.
func TestDoctorWithoutPermission(t *testing.T) {
	t.Parallel()
	client := productionRedis(t)
	cfg := onRedis(t, client.Options().Addr)
	as := func(rules ...any) {
		t.Helper()
		args := append([]any{"ACL", "SETUSER", "limited", "reset", "on", ">word", "~*", "+@all"}, rules...)
		require.NoError(t, client.Do(t.Context(), args...).Err())
	}
	cfg.Redis.URL, cfg.Redis.Password = "redis://limited@"+client.Options().Addr, "word"

	as("-config")
	findings := Check(t.Context(), cfg, Options{})
	for what, says := range map[string]string{
		"redis persistence": "appendonly yes", "redis eviction": "noeviction", "redis memory": "maxmemory 64.0 MiB",
	} {
		f := about(t, findings, what)
		assert.Equal(t, OK, f.Level, "%v", f)
		assert.Contains(t, f.Detail, says)
	}
	assert.Contains(t, about(t, findings, "redis persistence").Detail, "from INFO: CONFIG GET is refused")

	set(t, client, "appendonly", "no", "save", "300 100", "maxmemory", "0")
	findings = Check(t.Context(), cfg, Options{})
	assert.Contains(t, about(t, findings, "redis persistence").Detail, needsPersistence)
	assert.Contains(t, about(t, findings, "redis memory").Detail, needsMemory)

	as("-config", "-info")
	for _, what := range []string{"redis persistence", "redis eviction", "redis memory"} {
		f := about(t, Check(t.Context(), cfg, Options{}), what)
		assert.Equal(t, Warning, f.Level)
		assert.Contains(t, f.Detail, "CONFIG GET and INFO are refused")
	}
}
