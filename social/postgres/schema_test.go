package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/socialtest"
)

var zero time.Time // the time of changes made locally

func script(t *testing.T, url, text string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // usable in a cleanup, too
	c, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, text)
	require.NoError(t, err)
}

// TestOpenConcurrent starts several servers on an empty database at the same time.
func TestOpenConcurrent(t *testing.T) {
	url := testenv.Postgres(t)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: url + "&pool_max_conns=2"}, social.Options{})
			if assert.NoError(t, err) {
				assert.NoError(t, s.Ping(t.Context()))
				assert.NoError(t, s.Close())
			}
		})
	}
	group.Wait()
}

// next turns a database of this version into one of the next version: every table has an additional
// column, there is another table, and programs from version oldest on can still use it.
func next(t *testing.T, url string, oldest int64) {
	t.Helper()
	script(t, url, fmt.Sprintf(`DO $$
		DECLARE r record;
		BEGIN
			FOR r IN SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'freshet_migrations' LOOP
				EXECUTE format('ALTER TABLE %%I ADD COLUMN later text NOT NULL DEFAULT ''later''', r.name);
			END LOOP;
		END $$;
		CREATE TABLE later (id text PRIMARY KEY);
		UPDATE freshet_schema SET oldest = %d;
		INSERT INTO freshet_migrations (version_id, is_applied) SELECT max(version_id) + 1, true FROM freshet_migrations`, oldest))
}

// TestDatabaseOfNewerVersion has columns and a table that this version does not know, and states
// whether this version can use it.
func TestDatabaseOfNewerVersion(t *testing.T) {
	for above, usable := range []bool{true, false} {
		url := testenv.Postgres(t)
		s := open(t, url, social.Options{})
		r, err := s.Check(t.Context())
		require.NoError(t, err)
		next(t, url, r.Schema.Known+int64(above))
		if usable {
			socialtest.Exercise(t, open(t, url, social.Options{KeepChanges: time.Hour, KeepNotifications: time.Hour, KeepReports: time.Hour}))
			continue
		}
		_, err = postgres.Open(t.Context(), postgres.Config{URL: url}, social.Options{})
		require.ErrorContains(t, err, "written by a newer freshet")
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	url := testenv.Postgres(t)
	s := open(t, url, social.Options{})
	_, err := s.Follow(t.Context(), "a", "b", zero)
	require.NoError(t, err)
	script(t, url, `INSERT INTO freshet_migrations (version_id, is_applied) VALUES (99, true); DELETE FROM freshet_schema`)
	newer, err := postgres.Open(t.Context(), postgres.Config{URL: url}, social.Options{})
	require.Nil(t, newer)
	require.ErrorContains(t, err, "written by a newer freshet")
	require.NotErrorIs(t, err, social.ErrUnavailable, "waiting does not help")
	require.ErrorContains(t, err, "schema 99")
	require.NoError(t, s.Ping(t.Context()), "who runs already goes on")
}

func TestSearchPathWithoutSchema(t *testing.T) {
	u, err := url.Parse(testenv.Postgres(t))
	require.NoError(t, err)
	q := u.Query()
	q.Set("search_path", "nowhere")
	u.RawQuery = q.Encode()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: u.String()}, social.Options{})
	require.Nil(t, s)
	require.ErrorContains(t, err, "search_path")
	require.NotErrorIs(t, err, social.ErrUnavailable, "waiting does not help")
}

// TestMigrateAtomic checks that nothing is created when another program's table has a name that
// a migration needs.
func TestMigrateAtomic(t *testing.T) {
	url := testenv.Postgres(t)
	script(t, url, `CREATE TABLE likes (id int)`)
	s, err := postgres.New(t.Context(), postgres.Config{URL: url + "&pool_max_conns=2"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	err = s.Migrate(t.Context())
	require.ErrorIs(t, err, postgres.ErrUnusable)
	require.ErrorContains(t, err, "table likes: it belongs to another program")
	require.NotErrorIs(t, err, social.ErrUnavailable)
	require.ErrorIs(t, s.Ping(t.Context()), social.ErrUnavailable)
	script(t, url, `DROP TABLE likes`)
	require.NoError(t, s.Migrate(t.Context()), "nothing of the first try is left")
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.Migrate(t.Context()))
}

func TestInvalidConfig(t *testing.T) {
	notPEM := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(notPEM, []byte("no certificate"), 0o600))
	for name, cfg := range map[string]postgres.Config{
		"no URL":              {},
		"another scheme":      {URL: "mysql://u:secret@127.0.0.1/x"},
		"no port":             {URL: "postgres://u:secret@127.0.0.1:port/x"},
		"keywords":            {URL: "host=127.0.0.1 password=secret"},
		"ssl mode":            {URL: "postgres://u:secret@127.0.0.1/x?sslmode=perhaps"},
		"missing certificate": {URL: "postgres://u:secret@127.0.0.1/x?sslmode=verify-full&sslrootcert=" + filepath.Join(t.TempDir(), "none")},
		"no certificate":      {URL: "postgres://u:secret@127.0.0.1/x?sslmode=verify-full&sslrootcert=" + notPEM},
		"no connections":      {URL: "postgres://u:secret@127.0.0.1/x?pool_max_conns=0"},
	} {
		_, err := postgres.New(t.Context(), cfg, social.Options{})
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "secret", name)
	}
}

func TestCheck(t *testing.T) {
	url := testenv.Postgres(t)
	ahead := time.Hour
	s, err := postgres.New(t.Context(), postgres.Config{URL: url + "&pool_max_conns=2"}, social.Options{Clock: func() time.Time { return time.Now().Add(ahead) }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	r, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Zero(t, r.Schema.Found, "nothing is there yet")
	require.NoError(t, s.Migrate(t.Context()))
	r, err = s.Check(t.Context())
	require.NoError(t, err)
	require.Positive(t, r.Schema.Known)
	require.Equal(t, r.Schema.Known, r.Schema.Found)
	require.NotEmpty(t, r.Server)
	require.GreaterOrEqual(t, r.Number, postgres.OldestServer)
	require.Equal(t, "UTF8", r.Encoding)
	require.False(t, r.ReadOnly)
	require.Empty(t, r.Invalid)
	require.InDelta(t, -ahead.Seconds(), r.Skew.Seconds(), 60, "the server of these tests has this machine's clock")
	require.Positive(t, r.Trip)

	// A concurrently built unique index over duplicates fails and remains as an invalid index.
	script(t, url, `INSERT INTO blocks (agent, other, at) VALUES ('a', 'b', 1), ('a', 'c', 1)`)
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = c.Close(t.Context()) }()
	_, err = c.Exec(t.Context(), `CREATE UNIQUE INDEX CONCURRENTLY blocks_broken ON blocks (agent)`)
	require.Error(t, err)
	script(t, url, `INSERT INTO freshet_migrations (version_id, is_applied) VALUES (99, true)`)
	readOnly, err := postgres.New(t.Context(), postgres.Config{URL: url + "&default_transaction_read_only=on&pool_max_conns=2"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, readOnly.Close()) })
	r, err = readOnly.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"blocks_broken"}, r.Invalid)
	require.Equal(t, postgres.Schema{Found: 99, Known: r.Schema.Known, Oldest: 1}, r.Schema)
	require.True(t, r.ReadOnly)
}

// TestMigrateSequenceBehind upgrades tables that logical replication has copied, as for an upgrade of
// PostgreSQL: it copies rows and no sequences, so the next row of the table of versions has a used id.
func TestMigrateSequenceBehind(t *testing.T) {
	url := testenv.Postgres(t)
	open(t, url, social.Options{})
	script(t, url, `DELETE FROM freshet_migrations WHERE version_id >= 16;
		SELECT setval(pg_get_serial_sequence('freshet_migrations', 'id'), 1, false)`)
	s := open(t, url, social.Options{})
	r, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, r.Schema.Known, r.Schema.Found)
	require.Empty(t, r.Schema.Problems)
}

// TestTablesSuitEveryDatabase checks what databases differ in. An upgrade of the C library or of ICU
// damages no index: texts in indexes are compared by bytes, or are words of lower-case letters, whose
// order no version changes. A publication of all tables, by which other systems follow the database,
// refuses no change: what is changed has a primary key.
func TestTablesSuitEveryDatabase(t *testing.T) {
	url := testenv.ReusedPostgres(t)
	open(t, url, social.Options{})
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	names := func(text string) []string {
		rows, err := conn.Query(t.Context(), text)
		require.NoError(t, err)
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return all
	}
	assert.Equal(t, []string{"jobs.kind", "mutes.kind"}, names(`SELECT DISTINCT c.relname || '.' || ta.attname FROM pg_index i
		JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = current_schema()::regnamespace
		JOIN pg_attribute ia ON ia.attrelid = i.indexrelid JOIN pg_collation co ON co.oid = ia.attcollation AND co.collname <> 'C'
		JOIN pg_attribute ta ON ta.attrelid = c.oid AND ta.attname = ia.attname ORDER BY 1`))
	words := []string{string(social.MuteCircle), string(social.MuteInviter)}
	for _, kind := range jobs.Kinds() {
		words = append(words, string(kind))
	}
	for _, word := range words {
		assert.Regexp(t, "^[a-z]+$", word)
	}
	assert.Equal(t, []string{"freshet_schema"}, names(`SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
		AND c.relkind = 'r' AND c.relpersistence = 'p' AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`), "its row is written once")
}
