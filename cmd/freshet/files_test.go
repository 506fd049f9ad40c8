package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConfigCheckReadsFiles checks files of keys and certificates.
func TestConfigCheckReadsFiles(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.pem")
	require.NoError(t, os.WriteFile(bad, []byte("nothing"), 0o600))
	for says, flags := range map[string][]string{
		"auth.jwt.jwks":         {"--auth.mode", "jwt", "--auth.jwt.jwks", bad},
		"redis.ca_cert":         {"--redis.url", "rediss://h:1", "--redis.ca_cert", bad},
		"redis.client_cert":     {"--redis.url", "rediss://h:1", "--redis.client_cert", bad, "--redis.client_key", bad},
		"elasticsearch.ca_cert": {"--elasticsearch.addresses", "https://h:1", "--elasticsearch.ca_cert", bad},
		"postgres.url":          {"--redis.url", "redis://h:1", "--postgres.url", "postgres://u:pw@h/d?sslmode=verify-full&sslrootcert=/none"},
	} {
		got := freshet(t, "", append([]string{"config", "check"}, flags...)...)
		require.Equal(t, exitError, got.code, says)
		assert.Contains(t, got.errs, says)
		assert.NotContains(t, got.errs, "pw")
	}
}
