//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// namedFiles are the flags with which a setting names a file, by the setting; %s is in place of the file.
var namedFiles = map[string][]string{
	"auth.jwt.jwks":         {"--auth.mode", "jwt", "--auth.jwt.jwks", "%s"},
	"redis.ca_cert":         {"--redis.url", "rediss://h:1", "--redis.ca_cert", "%s"},
	"redis.client_cert":     {"--redis.url", "rediss://h:1", "--redis.client_cert", "%s", "--redis.client_key", "%s"},
	"elasticsearch.ca_cert": {"--elasticsearch.addresses", "https://h:1", "--elasticsearch.ca_cert", "%s"},
	"elasticsearch.client":  {"--elasticsearch.addresses", "https://h:1", "--elasticsearch.client_cert", "%s", "--elasticsearch.client_key", "%s"},
	"sslrootcert":           {"--redis.url", "redis://h:1", "--postgres.url", "postgres://u:pw@h/d?sslmode=verify-full&sslrootcert=%s"},
	"sslcert":               {"--redis.url", "redis://h:1", "--postgres.url", "postgres://u:pw@h/d?sslmode=require&sslcert=%s&sslkey=%s"},
	"configuration":         {"--config", "%s"},
}

// TestConfigCheckReadsFiles checks each setting that names a file with everything that is not the file
// that it should be: the check fails, and says which setting and which file it is.
func TestConfigCheckReadsFiles(t *testing.T) {
	dir := t.TempDir()
	paths := map[string]string{}
	for _, kind := range []string{"missing", "empty", "garbage", "folder", "dangling", "pipe"} {
		paths[kind] = filepath.Join(dir, kind)
	}
	require.NoError(t, os.WriteFile(paths["empty"], nil, 0o600))
	require.NoError(t, os.WriteFile(paths["garbage"], []byte("nothing"), 0o600))
	require.NoError(t, os.Mkdir(paths["folder"], 0o700))
	require.NoError(t, os.Symlink(paths["missing"], paths["dangling"]))
	require.NoError(t, syscall.Mkfifo(paths["pipe"], 0o600))
	for setting, flags := range namedFiles {
		for kind, path := range paths {
			if setting == "configuration" && kind == "pipe" {
				continue // which waits for its writer
			}
			args := []string{"config", "check"}
			for _, flag := range flags {
				args = append(args, strings.ReplaceAll(flag, "%s", path))
			}
			got := freshet(t, "", args...)
			require.Equal(t, exitError, got.code, "%s: %s", setting, kind)
			assert.Contains(t, got.errs, setting, kind)
			assert.Contains(t, got.errs, path)
			assert.NotContains(t, got.errs, "pw")
		}
	}
}
