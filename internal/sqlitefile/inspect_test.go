package sqlitefile_test

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/internal/testenv"
)

// contents returns the files of a directory, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		if filepath.Ext(e.Name()) == ".db-shm" {
			text = nil // modified by readers
		}
		all[e.Name()] = string(text)
	}
	return all
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

// TestLookChangesNothing checks a file of this version and of an older one, while a server has it
// open and afterwards.
func TestLookChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.db")
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	newer := sqlitefile.Catalog
	newer.Migrations = append(slices.Clone(newer.Migrations), `CREATE TABLE later (id TEXT)`)

	schema := &sqlitefile.Catalog
	look := func(older bool) {
		t.Helper()
		before := contents(t, dir)
		version, err := schema.Inspect(t.Context(), path)
		require.NoError(t, err)
		assert.Equal(t, older, version.File < version.Known)
		assert.Equal(t, before, contents(t, dir))
	}
	look(false)
	schema = &newer
	look(true)
	exec(t, file.Writer, "INSERT INTO items (id, doc) VALUES ('a', '{}')")
	look(true)
	require.NoError(t, file.Close())
	look(true)
}

func TestLookReportsDefects(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.db")
	_, err := sqlitefile.Catalog.Inspect(t.Context(), path)
	assert.ErrorContains(t, err, "cannot be opened")
	assert.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, []byte("this is not a database, whatever its name is"), 0o600))
	_, err = sqlitefile.Catalog.Inspect(t.Context(), path)
	assert.ErrorContains(t, err, "not a database")
	require.NoError(t, os.Remove(path))

	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	exec(t, file.Writer, "PRAGMA user_version = 1000")
	_, err = sqlitefile.Catalog.Inspect(t.Context(), path)
	require.NoError(t, err, "it says that this version can use it")
	exec(t, file.Writer, "DROP TABLE freshet_schema")
	_, err = sqlitefile.Catalog.Inspect(t.Context(), path)
	assert.ErrorContains(t, err, "written by a newer freshet")
	exec(t, file.Writer, "PRAGMA application_id = 7")
	_, err = sqlitefile.Catalog.Inspect(t.Context(), path)
	assert.ErrorContains(t, err, "another program")
	require.NoError(t, file.Close())
}

// TestFileOfOtherUserIsNamed has files that another user owns, as after a command that root has run.
func TestFileOfOtherUserIsNamed(t *testing.T) {
	for _, suffix := range []string{"", "-wal"} { // a process opens the -shm once
		path := filepath.Join(testenv.OpenDir(t), "catalog.db")
		file, err := sqlitefile.Catalog.Open(t.Context(), path)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, file.Close()) })
		exec(t, file.Writer, "INSERT INTO items (id, doc) VALUES ('a', '{}')")
		for _, other := range []string{"", "-wal", "-shm"} {
			if other != suffix {
				require.NoError(t, os.Chmod(path+other, 0o666))
			}
		}
		testenv.AsNobody(t, func() {
			_, err := sqlitefile.Catalog.Inspect(t.Context(), path)
			assert.ErrorIs(t, err, fs.ErrPermission, suffix)
			assert.ErrorContains(t, err, "open "+path+suffix+": permission denied; give data_dir", suffix)
			_, err = sqlitefile.Catalog.Open(t.Context(), path)
			assert.ErrorContains(t, err, path+suffix+": permission denied; give data_dir", suffix)
		})
	}
}
