package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
)

// firstSchema is the file as it was made before rankings were kept.
const firstSchema = `CREATE TABLE items (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, doc BLOB NOT NULL);
	CREATE TABLE profiles (agent TEXT NOT NULL PRIMARY KEY, doc BLOB NOT NULL) WITHOUT ROWID;
	INSERT INTO items (id, doc) VALUES ('a', '{"id":"a","title":"A","update_time":1}');
	PRAGMA application_id = 1718776680; PRAGMA user_version = 1`

func TestAnOlderFileGetsRankings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	script(t, path, firstSchema)
	c, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	_, err = c.Ranking(t.Context())
	require.ErrorIs(t, err, catalog.ErrNotFound)
	v := catalog.RankingVersion{Version: 1, By: "ana", Live: feed.Live{Ranking: feed.Ranking{Decay: feed.Decay{Scale: 1e12, Decay: 0.5}, Base: 1}}}
	require.NoError(t, c.AppendRanking(t.Context(), v))
	require.NoError(t, c.Close())

	c, err = sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	got, err := c.Ranking(t.Context())
	require.NoError(t, err)
	require.Equal(t, v, got)
	docs, err := c.Docs(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.False(t, docs[0].Missing())
}

func TestADamagedRankingIsNotUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	c, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	script(t, path, `INSERT INTO ranking_versions (version, doc) VALUES (1, '{"version":1,"live":{"ranking":{"tomorrow":1}}}')`)
	c, err = sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	_, err = c.Ranking(t.Context())
	require.ErrorContains(t, err, "upgrade this one")
	require.NotErrorIs(t, err, feed.ErrBadRanking, "it is not the caller's input that is bad")
}
