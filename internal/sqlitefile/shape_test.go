package sqlitefile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/internal/testenv"
	eventssqlite "github.com/freshet/freshet/signals/events/sqlite"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// schemas are the schemas of all files.
var schemas = []*sqlitefile.Schema{&sqlitefile.Catalog, &socialsqlite.Schema, &eventssqlite.Schema}

// removals are the statements that remove one table, column, index or trigger each from a file, by
// what is then missing.
func removals(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := sqlitefile.Connect(path, "rw")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	all := map[string]string{}
	rows, err := db.QueryContext(t.Context(), `SELECT type, name, '' FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND name <> 'freshet_schema'
		UNION ALL SELECT 'column', t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
			WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'freshet_schema'`)
	for row := range sqlitefile.Rows(rows, &err) {
		var kind, name, column string
		err = row.Scan(&kind, &name, &column)
		if kind == "column" {
			all["column "+name+"."+column] = fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %q TO taken_away", name, column)
		} else {
			all[kind+" "+name] = "DROP " + kind + " " + name
		}
	}
	require.NoError(t, err)
	return all
}

// copied returns a copy of a file in a new directory.
func copied(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	require.NoError(t, os.WriteFile(to, data, 0o600))
	return to
}

// change runs a statement on a file.
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sqlitefile.Connect(path, "rwc")
	require.NoError(t, err)
	exec(t, db, statement)
	require.NoError(t, db.Close())
}

// atVersion creates a file of a version of a schema.
func atVersion(t *testing.T, s *sqlitefile.Schema, version int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file.db")
	older := sqlitefile.Schema{What: s.What, ID: s.ID, Oldest: s.Oldest, Migrations: s.Migrations[:version]}
	file, err := older.Open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return path
}

// TestIncompleteFilesRefused removes each table, column, index and trigger from a file of each
// version of each schema: the file is refused, with the name of what is missing, and not
// changed.
func TestIncompleteFilesRefused(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, s := range schemas {
		for version := 1; version <= len(s.Migrations); version++ {
			whole := atVersion(t, s, version)
			_, err := s.Inspect(t.Context(), whole)
			require.NoError(t, err)
			for missing, statement := range removals(t, whole) {
				if version < len(s.Migrations) && !strings.HasPrefix(missing, "table") {
					continue // to save time
				}
				what := fmt.Sprintf("%s, version %d, without %s", s.What, version, missing)
				path := copied(t, whole)
				change(t, path, statement)
				before := contents(t, filepath.Dir(path))
				_, err := s.Inspect(t.Context(), path)
				require.ErrorContains(t, err, missing, what)
				assert.ErrorContains(t, err, fmt.Sprintf("schema version %d", version), what)
				if strings.HasPrefix(missing, "table") {
					_, err = s.Open(t.Context(), path)
					require.ErrorContains(t, err, missing, what)
				}
				assert.Equal(t, before, contents(t, filepath.Dir(path)), what)
			}
		}
	}
}

// TestFilesWithWrongVersionNumber changes the version number of files, which are refused, and not
// changed.
func TestFilesWithWrongVersionNumber(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, s := range schemas {
		for version := 1; version <= len(s.Migrations); version++ {
			for says := range len(s.Migrations) + 1 {
				if says == version {
					continue
				}
				path := atVersion(t, s, version)
				change(t, path, fmt.Sprintf("PRAGMA user_version = %d", says))
				before := contents(t, filepath.Dir(path))
				_, err := s.Open(t.Context(), path)
				require.ErrorContains(t, err, "version", "%s, %d says %d", s.What, version, says)
				assert.Equal(t, before, contents(t, filepath.Dir(path)))
			}
		}
	}
}
