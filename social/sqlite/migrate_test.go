package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// TestMigrateCountsPosts checks that a migration counts the posts of a file that has no
// counts.
func TestMigrateCountsPosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "social.db")
	db, err := sqlitefile.Connect(path, "rwc")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	first := sqlitefile.Schema{What: Schema.What, ID: Schema.ID, Migrations: Schema.Migrations[:2]}
	require.NoError(t, first.Migrate(t.Context(), db))
	const numbers = `WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 660) `
	for _, text := range []string{
		numbers + `INSERT INTO posts SELECT n, 'post:x' || n, 'x', 1600000000 + n, n % 3, iif(n % 2 = 0, 'example.com', ''), 'public', 'public',
			1, 0, 0, 0, n, 0, 0, 0, 0, 0, n > 600, '', '', '{"caption":"x"}' FROM s`,
		numbers + `INSERT INTO posts SELECT 1000 + n, 'post:y' || n, 'y', 1600000000 + n, 2, '', 'public', 'public',
			1, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, '', '', '{"caption":"x"}' FROM s WHERE n <= 10`,
		`INSERT INTO authors (id, erased, erasing) VALUES ('y', 4, 1)`,
		`INSERT INTO follows VALUES ('f', 'x', 1, 0)`,
	} {
		_, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err, text)
	}
	require.NoError(t, db.Close())

	s, err := Open(t.Context(), path, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for _, tt := range []struct {
		reader, author string
		want           int64
	}{{"", "x", 200}, {"f", "x", 400}, {"x", "x", 200 + 200}, {"", "y", 6}} {
		info, err := s.Author(t.Context(), tt.reader, tt.author)
		require.NoError(t, err)
		require.Equal(t, tt.want, info.Posts, "posts of %s for %q", tt.author, tt.reader)
	}
}

// TestMigrateKeepsReferences migrates a file without incarnations. References to existing posts
// stay valid, also to posts that had been created again, and end when the post does.
func TestMigrateKeepsReferences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "social.db")
	db, err := sqlitefile.Connect(path, "rwc")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	first := sqlitefile.Schema{What: Schema.What, ID: Schema.ID, Migrations: Schema.Migrations[:3]}
	require.NoError(t, first.Migrate(t.Context(), db))
	for _, text := range socialtest.ReferencesOfBefore(`1, `, `''`) {
		_, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err, text)
	}
	require.NoError(t, db.Close())
	s, err := Open(t.Context(), path, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	socialtest.CheckReferencesOfBefore(t, s)
}
