package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.Auth.AdminToken = "hidden-token"
	cfg.Redis.URL = "redis://freshet:hidden-word@127.0.0.1:6379/0"
	cfg.Elasticsearch.Addresses = []string{"http://a:hidden-one@es1:9200", "http://es2:9200"}
	cfg.Elasticsearch.APIKey = "hidden-key"
	of := map[string]Setting{}
	for _, s := range Settings(cfg) {
		of[s.Key] = s
	}
	require.Len(t, of, len(Keys()))
	assert.NotContains(t, fmt.Sprint(of), "hidden")
	assert.Equal(t, "redis://******@127.0.0.1:6379/0", of["redis.url"].Value)
	assert.Equal(t, OriginProgram, of["redis.url"].Origin)
	assert.Equal(t, "http://******@es1:9200, http://es2:9200", of["elasticsearch.addresses"].Value)
	assert.Equal(t, OriginDefault, of["server.request_timeout"].Origin)
	assert.Equal(t, Default().Server.RequestTimeout.String(), of["server.request_timeout"].Value)
	assert.True(t, strings.HasPrefix(of["ranking"].Value, "{") || of["ranking"].Value == "", "%s", of["ranking"].Value)
}

// TestSettingsHaveOrigins sets values in every layer; the last one that sets a value is its origin.
func TestSettingsHaveOrigins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "freshet.yaml"), filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(file, []byte("recall:\n  n: 500\nlog:\n  level: warn\nserver:\n  rate_limit: 5\nranking:\n  base: 0.2\n"), 0o600))
	require.NoError(t, os.WriteFile(secret, []byte("hidden-token"), 0o600))
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(flags)
	require.NoError(t, flags.Parse([]string{"--log.level=debug"}))
	cfg, err := Load(Options{Path: file, Environ: []string{"FRESHET_AUTH_ADMIN_TOKEN_FILE=" + secret, "FRESHET_SERVER_RATE_LIMIT=7"}, Flags: flags})
	require.NoError(t, err)
	of := map[string]Setting{}
	for _, s := range Settings(cfg) {
		of[s.Key] = s
	}
	for key, want := range map[string][2]string{
		"recall.n":          {OriginFile, file}, // although it is the default
		"ranking":           {OriginFile, file},
		"log.level":         {OriginFlag, "--log.level"},
		"server.rate_limit": {OriginEnvironment, "FRESHET_SERVER_RATE_LIMIT"},
		"auth.admin_token":  {OriginEnvironment, "FRESHET_AUTH_ADMIN_TOKEN_FILE"},
		"dedup.shards":      {OriginDefault, ""},
	} {
		assert.Equal(t, want, [2]string{of[key].Origin, of[key].Source}, key)
	}
	other, err := Load(Options{})
	require.NoError(t, err)
	reloaded, err := Reloaded(cfg, other)
	require.NoError(t, err)
	assert.NotContains(t, reloaded.Origins, "server.rate_limit", "a reload puts the default into force")
	assert.Contains(t, reloaded.Origins, "recall.n", "which waits for a restart")
	assert.Contains(t, cfg.Origins, "server.rate_limit")
}
