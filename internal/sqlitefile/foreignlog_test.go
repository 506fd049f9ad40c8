package sqlitefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
)

// killed returns a folder with the files of a server that was killed, and a copy of its catalog from before
// its last writes.
func killed(t *testing.T) (dir, backup string) {
	t.Helper()
	path, _ := filled(t)
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	backup = filepath.Join(t.TempDir(), "catalog.db")
	exec(t, file.Writer, `VACUUM INTO '`+backup+`'`)
	exec(t, file.Writer, `DELETE FROM items WHERE CAST(id AS INTEGER) % 2 = 0`)
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(path))))
	require.NoError(t, file.Close())
	return dir, backup
}

// TestCopyOverKilledFile has a backup that was copied over the file of a server that was killed. SQLite would
// write the pages of the log that stayed there into the backup.
func TestCopyOverKilledFile(t *testing.T) {
	dir, backup := killed(t)
	path := filepath.Join(dir, "catalog.db")
	require.NoError(t, sqlitefile.Catalog.Verify(t.Context(), path), "its own log")
	whole, err := os.ReadFile(backup)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	before := contents(t, dir)
	_, inspected := sqlitefile.Catalog.Inspect(t.Context(), path)
	_, opened := sqlitefile.Catalog.Open(t.Context(), path)
	for _, err := range []error{inspected, opened} {
		require.ErrorIs(t, err, sqlitefile.ErrForeignLog)
		assert.ErrorContains(t, err, "move catalog.db-wal and catalog.db-shm away")
	}
	require.Equal(t, before, contents(t, dir))

	require.NoError(t, errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm")))
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	var n int
	require.NoError(t, file.Readers.QueryRowContext(t.Context(), `SELECT count(*) FROM items`).Scan(&n))
	assert.Equal(t, 1000, n)
	require.NoError(t, file.Close())
	require.NoError(t, sqlitefile.Catalog.Verify(t.Context(), path))
}

// TestDamagedBesideLog: a copy of a stopped server's file is in WAL mode, as the one that it was copied over.
func TestDamagedBesideLog(t *testing.T) {
	dir, _ := killed(t)
	path := filepath.Join(dir, "catalog.db")
	info, err := os.Stat(path)
	require.NoError(t, err)
	for at := int64(4096); at < info.Size(); at += 4096 {
		damage(t, path, at)
	}
	assert.ErrorContains(t, sqlitefile.Catalog.Verify(t.Context(), path), "copy it again without the -wal and -shm")
}
