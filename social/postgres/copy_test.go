package postgres

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

func openCopied(t *testing.T) *Store {
	t.Helper()
	s, err := New(t.Context(), Config{URL: testenv.Postgres(t) + "&pool_max_conns=4"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// content has the rows of a snapshot.
type content struct {
	version   int64
	tables    []Table
	rows      map[string]string
	sequences map[string]int64
}

func contentOf(t *testing.T, s *Store) (c content) {
	t.Helper()
	c.rows = map[string]string{}
	require.NoError(t, s.ReadAll(t.Context(), func(snapshot *Snapshot) (err error) {
		c.version, c.tables = snapshot.Version, snapshot.Tables
		for _, table := range snapshot.Tables {
			var rows bytes.Buffer
			if err := snapshot.Copy(t.Context(), table, &rows); err != nil {
				return err
			}
			c.rows[table.Name] = rows.String()
		}
		c.sequences, err = snapshot.Sequences(t.Context())
		return err
	}))
	return c
}

// withoutCursors returns the content without the table that says which cursors of changes are valid.
func (c content) withoutCursors() content {
	c.rows = maps.Clone(c.rows)
	delete(c.rows, changesState)
	return c
}

func (c content) fill(t *testing.T, s *Store) error {
	return s.Fill(t.Context(), c.version, c.tables, c.sequences, func(table Table, do func(io.Reader) error) error {
		return do(bytes.NewBufferString(c.rows[table.Name]))
	})
}

// TestCopy copies a database into an empty one: each row is there once, whatever triggers would have made of
// it, and it can be used.
func TestCopy(t *testing.T) {
	t.Parallel()
	from, to := openCopied(t), openCopied(t)
	require.NoError(t, from.Migrate(t.Context()))
	socialtest.Network(t, from)
	want := contentOf(t, from)
	assert.NotEmpty(t, want.rows["posts"])
	assert.NotEmpty(t, want.rows["post_counts"])
	assert.NotContains(t, want.rows, "freshet_settings")
	assert.Positive(t, want.sequences["jobs.id"])

	require.NoError(t, to.CheckEmpty(t.Context(), want.version))
	damaged := content{want.version, want.tables, map[string]string{"posts": "no row\n"}, nil}
	require.Error(t, damaged.fill(t, to))
	fewer, more, others := want, want, want
	fewer.tables = want.tables[1:]
	require.ErrorContains(t, fewer.fill(t, to), "the copy lacks the table "+want.tables[0].Name)
	more.tables = append(slices.Clone(want.tables), Table{"pg_authid", []string{"rolname"}})
	require.ErrorContains(t, more.fill(t, to), `the copy has a table "pg_authid"`)
	others.tables = slices.Clone(want.tables)
	others.tables[0].Columns = want.tables[0].Columns[1:]
	require.ErrorContains(t, others.fill(t, to), "the copy has a table")
	require.NoError(t, to.CheckEmpty(t.Context(), want.version), "a damaged copy leaves nothing")
	for range 2 { // an interrupted call is repeated
		require.NoError(t, want.fill(t, to))
		assert.Equal(t, want.withoutCursors(), contentOf(t, to).withoutCursors())
	}
	require.ErrorIs(t, to.CheckEmpty(t.Context(), want.version), ErrNotEmpty)
	require.ErrorIs(t, to.CheckEmpty(t.Context(), want.version-1), ErrNotEmpty)
	require.ErrorIs(t, to.CheckEmpty(t.Context(), want.version+1), errNewerSchema)
	require.NoError(t, to.Migrate(t.Context()))
	for _, agent := range socialtest.Readers {
		before, err := from.Pull(t.Context(), social.PullQuery{Reader: agent, N: 100, Whole: true})
		require.NoError(t, err)
		after, err := to.Pull(t.Context(), social.PullQuery{Reader: agent, N: 100, Whole: true})
		require.NoError(t, err)
		assert.Equal(t, before, after, agent)
	}
	var disabled int
	require.NoError(t, to.db.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		WHERE NOT t.tgisinternal AND t.tgenabled = 'D' AND c.relnamespace = `+home).Scan(&disabled))
	assert.Zero(t, disabled, "triggers run again")
}

// TestNoMigrationWhileCopied tries to change tables while they are copied, as a newer server that starts does:
// a table that is written anew would be empty in the copy.
func TestNoMigrationWhileCopied(t *testing.T) {
	t.Parallel()
	from := openCopied(t)
	require.NoError(t, from.Migrate(t.Context()))
	socialtest.Network(t, from)
	require.NoError(t, from.ReadAll(t.Context(), func(s *Snapshot) error {
		for _, table := range s.Tables {
			_, err := from.db.pool.Exec(t.Context(), `SET lock_timeout = '1ms'; ALTER TABLE `+table.Name+` ADD COLUMN planted integer`)
			var refused *pgconn.PgError
			require.ErrorAs(t, err, &refused, table.Name)
			require.Equal(t, "55P03", refused.Code, "not available: it is locked")
		}
		return nil
	}))
	_, err := from.db.pool.Exec(t.Context(), `RESET lock_timeout`)
	require.NoError(t, err)
}

// TestCopyOfOlderTables copies a database of an older version, and migrates the copy.
func TestCopyOfOlderTables(t *testing.T) {
	t.Parallel()
	from, to := openCopied(t), openCopied(t)
	require.NoError(t, from.migrate(t.Context(), 2))
	_, err := from.db.pool.Exec(t.Context(), `INSERT INTO posts SELECT 'post:x' || n, 'x', 1600000000 + n, 2, '', 'public', 'public',
		1, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, '{}', '{}', '{"caption":"x"}' FROM generate_series(1, 10) n`)
	require.NoError(t, err)
	want := contentOf(t, from)
	assert.EqualValues(t, 2, want.version)
	require.NoError(t, want.fill(t, to))
	assert.Equal(t, want, contentOf(t, to))
	require.NoError(t, to.Migrate(t.Context()))
	info, err := to.Author(t.Context(), "", "x")
	require.NoError(t, err)
	assert.EqualValues(t, 10, info.Posts)

	empty := openCopied(t)
	require.ErrorContains(t, empty.ReadAll(t.Context(), func(*Snapshot) error { return nil }), "there are no tables")
}
