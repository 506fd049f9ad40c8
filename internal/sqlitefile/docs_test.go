package sqlitefile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
)

// TestDocumentedColumnExpiry checks that docs/security.md lists each column of the catalog that
// holds ids, with the end of its data.
func TestDocumentedColumnExpiry(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	_, told, _ := strings.Cut(string(text), "### An id that is used again\n")
	told, _, _ = strings.Cut(told, "\n## ")
	file, err := sqlitefile.Catalog.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	var columns string
	require.NoError(t, file.Readers.QueryRowContext(t.Context(), `SELECT group_concat(m.name || '.' || c.name, ' ')
		FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND (c.type IN ('TEXT', 'BLOB') OR c.name = 'agent')`).Scan(&columns))
	for _, column := range strings.Fields(columns) {
		if column != "ranking_versions.doc" {
			assert.Contains(t, told, "`"+column+"`")
		}
	}
}
