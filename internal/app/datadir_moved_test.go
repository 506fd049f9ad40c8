package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestADataDirThatIsTakenAway from a running server: nothing is accepted that nobody would find
// after a restart, and the server is not ready.
func TestADataDirThatIsTakenAway(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, dir string){
		"removed": func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) },
		"moved":   func(t *testing.T, dir string) { require.NoError(t, os.Rename(dir, dir+".old")) },
		"another directory in its place": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+".old"))
			require.NoError(t, os.CopyFS(dir, os.DirFS(dir+".old")))
		},
		"backups in the files' places": func(t *testing.T, dir string) {
			for _, name := range []string{"social.db", "catalog.db"} {
				data, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, "backup"), data, 0o600))
				require.NoError(t, os.Rename(filepath.Join(dir, "backup"), filepath.Join(dir, name)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := embedded(t)
			cfg.DataDir = filepath.Join(t.TempDir(), "data")
			a := open(t, cfg)
			require.Equal(t, 201, asReader(t, a, "POST", "/v1/posts", `{"caption":"kept"}`))
			require.Equal(t, 200, asReader(t, a, "GET", "/readyz", ""))
			take(t, cfg.DataDir)
			assert.Equal(t, 503, asReader(t, a, "POST", "/v1/posts", `{"caption":"lost"}`))
			assert.Equal(t, 503, asReader(t, a, "PUT", "/v1/agents/u_1/profile", `{"muted_tags":["x"]}`))
			assert.Equal(t, 503, asReader(t, a, "GET", "/readyz", ""))
			assert.Contains(t, []int{200, 503}, asReader(t, a, "GET", "/v1/timeline", ""), "read by an open connection, or by a new one that finds no file")
		})
	}
}
