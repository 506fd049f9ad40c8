package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/jobs/jobstest"
	"github.com/freshet/freshet/social/socialtest"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// TestMain holds the test files in memory: no test here depends on the disk.
func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

var zero time.Time // the time of changes made locally

func open(t testing.TB, path string, opts social.Options) *socialsqlite.Store {
	t.Helper()
	s, err := socialsqlite.Open(t.Context(), path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestDocumentedReferencesEnd checks all columns of the file that can hold ids.
func TestDocumentedReferencesEnd(t *testing.T) {
	socialtest.CheckReferences(t, columnsOf(t, "'TEXT', 'BLOB'"), "../../docs/security.md")
}

// TestDocumentedStampsOrdered checks all columns of the file that can hold times.
func TestDocumentedStampsOrdered(t *testing.T) {
	socialtest.CheckStamps(t, columnsOf(t, "'INTEGER'"), "../../docs/decisions/order.md")
}

// columnsOf lists the columns of some types, as "table.column".
func columnsOf(t *testing.T, types string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "social.db")
	open(t, path, social.Options{})
	db, err := sqlitefile.Connect(path, "rw")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	var columns string
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT group_concat(m.name || '.' || c.name, ' ') FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND c.type IN (`+types+`)`).Scan(&columns))
	return strings.Fields(columns)
}

type place struct {
	t    *testing.T
	path string
	opts social.Options
}

func (p place) Open() socialtest.Backend { return open(p.t, p.path, p.opts) }

func (p place) Close(b socialtest.Backend) { require.NoError(p.t, b.(*socialsqlite.Store).Close()) }

// TestStore runs the suites of both contracts, and then checks the statements that they used.
func TestStore(t *testing.T) {
	t.Run("store", func(t *testing.T) {
		socialtest.Run(t, inFile)
	})
	t.Run("queue", func(t *testing.T) {
		jobstest.Run(t, func(t *testing.T, opts social.Options) jobs.Queue {
			return open(t, filepath.Join(t.TempDir(), "social.db"), opts)
		})
	})
	t.Run("changes of two servers", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "social.db")
		socialtest.ChangesOff(t, open(t, path, social.Options{KeepChanges: time.Hour}), open(t, path, social.Options{}))
	})
	t.Run("no notifications", func(t *testing.T) {
		socialtest.NotificationsOff(t, open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{}))
	})
	t.Run("statements", checkStatements)
}

func inFile(t *testing.T, opts social.Options) socialtest.Place {
	return place{t, filepath.Join(t.TempDir(), "social.db"), opts}
}

func TestLimits(t *testing.T) {
	testenv.WithoutRace(t)
	socialtest.RunLimits(t, inFile)
}

func TestModels(t *testing.T) {
	testenv.WithoutRace(t)
	socialtest.RunModels(t, inFile)
}

// newer returns the path of a file that the next version has migrated; see
// [testenv.NewerSQLite].
func newer(t *testing.T, oldest int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "social.db")
	s, err := socialsqlite.Open(t.Context(), path, social.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	testenv.NewerSQLite(t, path, oldest)
	return path
}

// TestStoreInFileOfNewerVersion runs the suites on a file that has columns and a table that this
// version does not know.
func TestStoreInFileOfNewerVersion(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.Full(t, "models")
	socialtest.Run(t, func(t *testing.T, opts social.Options) socialtest.Place {
		return place{t, newer(t, 0), opts}
	})
}

// TestFileOfNewerVersion states whether this version can use such a file.
func TestFileOfNewerVersion(t *testing.T) {
	jobstest.Run(t, func(t *testing.T, opts social.Options) jobs.Queue { return open(t, newer(t, 0), opts) })
	version, err := socialsqlite.Schema.Inspect(t.Context(), newer(t, 0))
	require.NoError(t, err)
	require.Equal(t, version.Known+1, version.File)
	path := newer(t, 1)
	_, err = socialsqlite.Open(t.Context(), path, social.Options{})
	require.ErrorContains(t, err, fmt.Sprintf("written by a newer freshet (schema %d requires a version that supports schema %[1]d; this one supports up to %d)", version.File, version.Known))
	_, err = socialsqlite.Schema.Inspect(t.Context(), path)
	require.ErrorContains(t, err, "written by a newer freshet")
}

// TestOpenErrorNamesFile checks that an error of any step of opening a file contains its path.
func TestOpenErrorNamesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "social.db")
	require.NoError(t, open(t, path, social.Options{}).Close())
	db, err := sqlitefile.Connect(path, "rw")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `ALTER TABLE likes RENAME TO others`)
	require.NoError(t, errors.Join(err, db.Close()))
	_, err = socialsqlite.Open(t.Context(), path, social.Options{})
	require.ErrorContains(t, err, "social store file "+path+": ")
}

func TestDamagedRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "social.db")
	socialtest.Damaged(t, open(t, path, social.Options{}), func(post, content string) {
		db, err := sqlitefile.Connect(path, "rw")
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `UPDATE posts SET content = ? WHERE id = ?`, content, post)
		require.NoError(t, errors.Join(err, db.Close()))
	})
}

func TestDeletedContentNotInFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "social.db")
	s := open(t, path, social.Options{})
	const secret = "a caption that nobody may read any more"
	p, _, err := s.CreatePost(t.Context(), social.Post{Author: "a", Caption: secret, Audience: social.Audience{Public: true}}, social.Creation{Key: "k"})
	require.NoError(t, err)
	e := secret + ", edited"
	_, err = s.EditPost(t.Context(), p.ID, "a", social.Edit{Caption: &e}, zero)
	require.NoError(t, err)
	require.NoError(t, s.PutAuthor(t.Context(), social.Author{ID: "b", Name: secret}, zero))
	require.NoError(t, s.DeletePost(t.Context(), p.ID, "a", zero))
	require.NoError(t, s.EraseAgent(t.Context(), "b"))
	require.NoError(t, s.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoFileExists(t, path+"-wal", "it is folded into the file")
	require.True(t, bytes.Contains(raw, []byte(p.ID)), "the tombstone is in it")
	require.False(t, bytes.Contains(raw, []byte(secret)))
}

func TestClosedStoreUnavailable(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, s.Close())
	ctx := t.Context()
	_, err := s.Follow(ctx, "a", "b", zero)
	require.ErrorIs(t, err, social.ErrUnavailable)
	_, err = s.Cards(ctx, "a", []social.PostVersion{{ID: "post:1"}})
	require.ErrorIs(t, err, social.ErrUnavailable)
	_, err = s.Pull(ctx, social.PullQuery{Reader: "a", N: 1})
	require.ErrorIs(t, err, social.ErrUnavailable)
	require.ErrorIs(t, s.Ping(ctx), social.ErrUnavailable)
	_, err = s.Lease(ctx, 1, time.Second)
	require.ErrorIs(t, err, social.ErrUnavailable)
	require.ErrorIs(t, s.Enqueue(ctx, jobs.Spec{Kind: jobs.Erase, Key: "a"}), social.ErrUnavailable)
}

func TestOpenConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new dir", "50% #1?mode=ro&x.db")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s, err := socialsqlite.Open(t.Context(), path, social.Options{})
			if assert.NoError(t, err) {
				assert.NoError(t, s.Ping(t.Context()))
				assert.NoError(t, s.Close())
			}
		})
	}
	group.Wait()
	_, err := os.Stat(path)
	require.NoError(t, err, "the file has the name that was asked for")
}

func TestOpenRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"a directory", func(t *testing.T, path string) {
			require.NoError(t, os.Mkdir(path, 0o750))
		}, "cannot be opened"},
		{"a text file", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("server:\n  addr: 127.0.0.1:8080\n# a config, not a database\n"), 0o600))
		}, "not a database"},
		{"another program's database", func(t *testing.T, path string) {
			script(t, path, `CREATE TABLE users (id)`)
		}, "another program"},
		{"a newer schema", func(t *testing.T, path string) {
			require.NoError(t, open(t, path, social.Options{}).Close())
			script(t, path, `PRAGMA user_version = 99; UPDATE freshet_schema SET oldest = 99`)
		}, "written by a newer freshet (schema 99"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "social.db")
			tc.make(t, path)
			before, _ := os.ReadFile(path)
			s, err := socialsqlite.Open(t.Context(), path, social.Options{})
			require.Nil(t, s)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, path)
			after, _ := os.ReadFile(path)
			require.Equal(t, before, after, "a file that is refused is not changed")
		})
	}
}

func script(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(text)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}
