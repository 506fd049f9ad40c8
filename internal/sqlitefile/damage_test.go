package sqlitefile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
)

var errUnavailable = errors.New("unavailable")

// filled returns the path of a catalog with many items, and a page in its middle.
func filled(t *testing.T) (path string, offset int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "catalog.db")
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	exec(t, file.Writer, `INSERT INTO items (id, doc)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, zeroblob(1000) FROM n`)
	require.NoError(t, file.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	return path, info.Size() / 2 &^ 4095
}

// damage overwrites a page of a file.
func damage(t *testing.T, path string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	garbage := make([]byte, 4096)
	for i := range garbage {
		garbage[i] = 0xa5
	}
	_, err = f.WriteAt(garbage, offset)
	require.NoError(t, errors.Join(err, f.Close()))
}

// TestVerifyReadsWholeFile has a file whose schema is whole, and one of whose pages is not.
func TestVerifyReadsWholeFile(t *testing.T) {
	path, offset := filled(t)
	before := contents(t, filepath.Dir(path))
	require.NoError(t, sqlitefile.Catalog.Verify(t.Context(), path))
	assert.Equal(t, before, contents(t, filepath.Dir(path)))
	damage(t, path, offset)
	_, err := sqlitefile.Catalog.Inspect(t.Context(), path)
	require.NoError(t, err, "it reads the schema only")
	err = sqlitefile.Catalog.Verify(t.Context(), path)
	assert.ErrorContains(t, err, "the file is damaged; restore it")
	assert.ErrorContains(t, err, path)
	assert.ErrorContains(t, sqlitefile.Catalog.Verify(t.Context(), path+".none"), "cannot be opened")
}

// TestDamageRemembered has a file that is damaged while it is open.
func TestDamageRemembered(t *testing.T) {
	path, offset := filled(t)
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	paths := []string{path, path + ".none"}
	require.NoError(t, sqlitefile.Damaged(paths))
	damage(t, path, offset)
	var n int
	for _, text := range []string{"SELECT nothing FROM items", "SELECT sum(length(doc)) FROM items"} {
		require.NoError(t, sqlitefile.Damaged(paths), "the error of a statement is none of the file")
		err = file.Failed(t.Context(), errUnavailable, "read", file.Readers.QueryRowContext(t.Context(), text).Scan(&n))
		require.ErrorIs(t, err, errUnavailable)
	}
	assert.ErrorContains(t, sqlitefile.Damaged(paths), "catalog.db: the file is damaged; restore it")
	require.NoError(t, file.Close())
	assert.NoError(t, sqlitefile.Damaged(paths), "it is not open")
	assert.NoError(t, file.Failed(t.Context(), errUnavailable, "read", nil))
	assert.ErrorIs(t, file.Failed(t.Context(), errUnavailable, "read", fmt.Errorf("x")), errUnavailable)
}
