package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/doctor"
	"github.com/freshet/freshet/server/sharedsettings"
)

// TestSettingsMismatchRefusesStart checks that a server with different settings does not start over
// a store that it shares with others, whichever store that is.
func TestSettingsMismatchRefusesStart(t *testing.T) {
	t.Parallel()
	withoutRedis := func(t testing.TB) configs.Config {
		cfg := services(t)
		cfg.Redis.URL = ""
		return cfg
	}
	prefix := func(c *configs.Config) { c.Redis.KeyPrefix += "other:" }
	window := func(c *configs.Config) { c.Dedup.WindowDays++ }
	for name, c := range map[string]struct {
		config func(t testing.TB) configs.Config
		change func(*configs.Config)
		says   string
	}{
		"two prefixes over one index":       {services, prefix, "redis.key_prefix is "},
		"two prefixes over one database":    {withPostgres, prefix, "redis.key_prefix is "},
		"Redis alone":                       {onlyRedis, window, "dedup.window_days is 8 here and 7 on the others"},
		"Redis alone, deadlines":            {onlyRedis, func(c *configs.Config) { c.Server.RequestTimeout /= 4 }, "server.request_timeout is "},
		"an index alone":                    {withoutRedis, window, "dedup.window_days is 8 here and 7 on the others"},
		"one Redis, other databases":        {withoutElastic, func(c *configs.Config) { window(c); c.Postgres.URL = testenv.Postgres(t) }, "dedup.window_days is 8 here and 7 on the others"},
		"one Redis, a copy of the database": {withoutElastic, func(c *configs.Config) { c.Postgres.URL = testenv.Postgres(t) }, "redis: this server's settings differ from those of the servers over the same stores: the database that postgres.url leads to is "},
		"one index, a copy of the database": {withPostgres, func(c *configs.Config) {
			c.Redis.URL = "redis://" + testenv.StartRedis(t).Addr
			c.Postgres.URL = testenv.Postgres(t)
		}, "elasticsearch: this server's settings differ from those of the servers over the same stores: the database that postgres.url leads to is "},
		"one Redis, one of them has an index": {onlyRedis, func(c *configs.Config) {
			window(c)
			address, index := testenv.ReusedElastic(t, "")
			c.Elasticsearch.Addresses, c.Elasticsearch.Index = []string{address}, index
		}, "dedup.window_days is 8 here and 7 on the others"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := c.config(t)
			open(t, cfg)
			cfg.DataDir = t.TempDir()
			open(t, cfg)
			cfg.DataDir = t.TempDir()
			c.change(&cfg)
			_, err := Open(t.Context(), cfg)
			require.ErrorIs(t, err, sharedsettings.ErrDiffers)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// TestDatabaseTakenOver replaces the database of posts on purpose, as after a restore into another one:
// once the doctor has accepted it, servers start on it, and no longer on the former one.
func TestDatabaseTakenOver(t *testing.T) {
	t.Parallel()
	cfg := withoutElastic(t)
	open(t, cfg)
	restored := cfg
	restored.DataDir, restored.Postgres.URL = t.TempDir(), testenv.Postgres(t)
	_, err := Open(t.Context(), restored)
	require.ErrorIs(t, err, sharedsettings.ErrDiffers)
	require.ErrorContains(t, err, "freshet doctor --accept-settings")
	for _, f := range doctor.Check(t.Context(), restored, doctor.Options{}) {
		if f.What == "redis settings" {
			require.Equal(t, doctor.Broken, f.Level)
			require.Contains(t, f.Detail, "the database that postgres.url leads to")
		}
	}
	doctor.Check(t.Context(), restored, doctor.Options{Accept: true})
	open(t, restored)
	cfg.DataDir = t.TempDir()
	_, err = Open(t.Context(), cfg)
	require.ErrorIs(t, err, sharedsettings.ErrDiffers)
}

// onlyRedis returns the configuration of a server that shares only its Redis.
func onlyRedis(t testing.TB) configs.Config {
	_, prefix := testenv.Redis(t)
	cfg := embedded(t)
	cfg.Redis.URL, cfg.Redis.KeyPrefix = testenv.RedisURL(t), prefix
	return cfg
}

// TestSettingsMismatchFoundAfterOutage checks that a server that starts while the shared store is
// down compares the settings when the store is back, and reports the differences in /readyz.
func TestSettingsMismatchFoundAfterOutage(t *testing.T) {
	t.Parallel()
	r := testenv.StartRedis(t)
	cfg := embedded(t)
	shortTimeouts(&cfg)
	cfg.Redis.URL = "redis://" + r.Addr
	open(t, cfg)
	r.Freeze()
	cfg.DataDir = t.TempDir()
	same := open(t, cfg)
	cfg.DataDir = t.TempDir()
	cfg.Dedup.WindowDays++
	other := open(t, cfg)
	settingsOf := func(a *App) (error, bool) {
		check, waits := a.checks["settings"]
		require.True(t, waits)
		d := check(t.Context())
		require.True(t, d.Optional)
		return d.Err, d.Reason != ""
	}
	for _, a := range []*App{same, other} {
		err, _ := settingsOf(a)
		require.NoError(t, err, "nothing is known yet")
	}
	r.Thaw()
	testenv.WaitFor(t, func() bool { err, _ := settingsOf(other); return err != nil }, "the settings to be compared")
	err, said := settingsOf(other)
	require.ErrorIs(t, err, sharedsettings.ErrDiffers)
	require.ErrorContains(t, err, "dedup.window_days is 8 here and 7 on the others")
	require.True(t, said)
	err, _ = settingsOf(same)
	require.NoError(t, err)
}
