package configs

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
)

// TestEffectsCoverEverySetting fails for a new setting until [effects] says when it takes effect.
func TestEffectsCoverEverySetting(t *testing.T) {
	assert.ElementsMatch(t, Keys(), slices.Collect(maps.Keys(effects)))
	for _, f := range schema {
		hasSecret := f.secret || strings.HasSuffix(f.key, "url") && f.key != "media.url" && !strings.Contains(f.key, "fields.") || f.key == "elasticsearch.addresses"
		assert.Equal(t, hasSecret, effects[f.key] == fromFile, f.key)
	}
	assert.Equal(t, []string{
		"server.drain", "server.shutdown_timeout", "server.max_in_flight", "server.rate_limit", "server.cors.origins", "media.memory", "log.level",
	}, Reloadable())
}

// other returns a configuration in which a setting has another value.
func other(t *testing.T, c Config, f field) Config {
	t.Helper()
	v := reflect.ValueOf(&c).Elem().FieldByIndex(f.index)
	switch old := v.Interface().(type) {
	case string:
		v.SetString(old + "-other")
	case bool:
		v.SetBool(!old)
	case int, time.Duration:
		v.SetInt(v.Int() + 1)
	case float64:
		v.SetFloat(old + 1)
	case []string:
		v.Set(reflect.ValueOf(append(slices.Clone(old), "http://other:9200")))
	default:
		c.Ranking.Popularity2d += 0.5
	}
	return c
}

// TestCompareEverySetting changes each setting alone: it is reported with its effect, and a reload changes
// it, or nothing.
func TestCompareEverySetting(t *testing.T) {
	for _, f := range schema {
		now := Default()
		changed := other(t, now, f)
		found := Compare(now, changed)
		require.Len(t, found, 1, f.key)
		reloadable := slices.Contains(Reloadable(), f.key)
		want := map[bool]string{true: api.AtReload, false: api.AtRestart}[reloadable]
		assert.Equal(t, f.key, found[0].Key)
		assert.Equal(t, want, found[0].Effect, f.key)
		if !f.secret { // the masks are equal
			assert.NotEqual(t, found[0].InForce, found[0].Loaded, f.key)
		}
		changed.Log.Level, changed.Server.CORSOrigins = now.Log.Level, now.Server.CORSOrigins // those above are invalid
		next, err := Reloaded(now, changed)
		require.NoError(t, err, f.key)
		assert.Equal(t, reloadable && f.key != "log.level" && f.key != "server.cors.origins", len(Compare(now, next)) == 1, f.key)
	}
}

func TestCompareHidesSecrets(t *testing.T) {
	now := Default()
	loaded := now
	loaded.Auth.AdminToken = "a-secret-token"
	loaded.Redis.URL = "redis://u:a-secret-password@h:1"
	loaded.Elasticsearch.Addresses = []string{"http://u:a-secret-password@h:1"}
	loaded.Postgres.URL = "postgres://u@h/d?sslpassword=a-secret-password"
	found := Compare(now, loaded)
	require.Len(t, found, 4)
	for _, c := range found {
		assert.Contains(t, c.Loaded, masked, c.Key)
		assert.NotContains(t, c.Loaded, "secret", c.Key)
		assert.Empty(t, c.InForce)
	}
}

// TestCompareFiles checks that new contents of files that the server reads by itself are no changes, but
// another address in one is.
func TestCompareFiles(t *testing.T) {
	url := filepath.Join(t.TempDir(), "url")
	token := filepath.Join(t.TempDir(), "token")
	load := func(address, secret string) Config {
		t.Helper()
		require.NoError(t, os.WriteFile(url, []byte(address), 0o600))
		require.NoError(t, os.WriteFile(token, []byte(secret), 0o600))
		c, err := Load(Options{Environ: []string{"FRESHET_REDIS_URL_FILE=" + url, "FRESHET_AUTH_ADMIN_TOKEN_FILE=" + token}})
		require.NoError(t, err)
		return c
	}
	now := load("redis://u:old@h:1/2", "first")
	require.Empty(t, Compare(now, load("redis://v:new@h:1/2", "second")))
	found := Compare(now, load("redis://u:old@h:1/3", "first"))
	require.Len(t, found, 1)
	assert.Equal(t, api.ConfigChange{Key: "redis.url", InForce: "redis://******@h:1/2", Loaded: "redis://******@h:1/3", Effect: api.AtRestart}, found[0])
}

// TestReloadedChecksTheWhole refuses settings that are valid only together with one that needs a restart.
func TestReloadedChecksTheWhole(t *testing.T) {
	now := Default()
	loaded := now
	loaded.Server.RateLimit = -1
	next, err := Reloaded(now, loaded)
	require.ErrorContains(t, err, "server.rate_limit")
	assert.Equal(t, now, next)
}
