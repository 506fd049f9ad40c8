package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/ranking/rankingtest"
	rankingsqlite "github.com/freshet/freshet/ranking/sqlite"
)

func open(t *testing.T, path string) *rankingsqlite.Store {
	t.Helper()
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return rankingsqlite.New(file)
}

func script(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(text)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestConformance(t *testing.T) {
	rankingtest.Run(t, func(t *testing.T) ranking.Store { return open(t, filepath.Join(t.TempDir(), "c.db")) })
}

func TestClosedStoreUnavailable(t *testing.T) {
	file, err := sqlitefile.Catalog.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, err = rankingsqlite.New(file).Newest(t.Context())
	require.ErrorIs(t, err, ranking.ErrUnavailable)
}

func TestDamagedRankingNotUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	s := open(t, path)
	script(t, path, `INSERT INTO ranking_versions (version, doc) VALUES (1, '{"version":1,"live":{"ranking":{"tomorrow":1}}}')`)
	_, err := s.Newest(t.Context())
	require.ErrorContains(t, err, "upgrade this one")
	require.NotErrorIs(t, err, feed.ErrInvalid, "it is not the caller's input that is bad")
}
