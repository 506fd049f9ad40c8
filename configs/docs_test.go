package configs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocumentedConfigurationLoads loads each YAML example of docs/production.md as a
// configuration file.
func TestDocumentedConfigurationLoads(t *testing.T) {
	doc, err := os.ReadFile("../docs/production.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(doc, -1)
	require.NotEmpty(t, examples)
	for _, example := range examples {
		path := filepath.Join(t.TempDir(), "freshet.yaml")
		require.NoError(t, os.WriteFile(path, example[1], 0o600))
		_, err := Load(Options{Path: path, Environ: []string{"FRESHET_AUTH_JWT_SECRET=0123456789abcdef0123456789abcdef"}})
		require.NoError(t, err, "%s", example[1])
	}
}

// TestDocumentedReloads checks that docs/operations.md lists the settings that change with a reload.
func TestDocumentedReloads(t *testing.T) {
	doc, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	require.Contains(t, string(doc), "| `"+strings.Join(Reloadable(), "`, `")+"` | with a reload")
}
