package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/signals/popularity/popularitytest"
	popularitysqlite "github.com/freshet/freshet/signals/popularity/sqlite"
)

// keeping is a [popularitytest.Keeping].
type keeping struct{ file *sqlitefile.File }

func (k keeping) Count(t *testing.T, keep feed.HalfLives, acts []popularity.Act) {
	t.Helper()
	for i := range acts {
		acts[i].Item = "a"
	}
	add(t, popularitysqlite.New(k.file, keep), acts...)
}

func (k keeping) CountEarlier(t *testing.T, act popularity.Act) {
	t.Helper()
	c := k.Counts(t, 0).Add(act.At)
	exec(t, k.file, `INSERT INTO popularity (item, last, sum_2h, sum_2d) VALUES ('a', ?, ?, ?)
		ON CONFLICT (item) DO UPDATE SET last = excluded.last, sum_2h = excluded.sum_2h, sum_2d = excluded.sum_2d`, c.Last, c.Short, c.Long)
}

func (k keeping) Counts(t *testing.T, keep feed.HalfLives) feed.Counts {
	t.Helper()
	return stored(t, popularitysqlite.New(k.file, keep))["a"]
}

func (k keeping) More(t *testing.T) string {
	t.Helper()
	var more sql.NullString
	err := k.file.Readers.QueryRow(`SELECT more FROM popularity WHERE item = 'a'`).Scan(&more)
	if !errors.Is(err, sql.ErrNoRows) { // negligible counts are deleted
		require.NoError(t, err)
	}
	return more.String
}

func TestHalfLives(t *testing.T) {
	t.Parallel()
	popularitytest.HalfLives(t, func(t *testing.T) popularitytest.Keeping {
		_, file := open(t, filepath.Join(t.TempDir(), "c.db"), "a")
		return keeping{file}
	})
}
