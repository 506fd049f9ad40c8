package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// TestMigrateCountsPosts checks that a migration counts the posts of a database that has
// no counts.
func TestMigrateCountsPosts(t *testing.T) {
	s, err := New(t.Context(), Config{URL: testenv.Postgres(t) + "&pool_max_conns=4"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.migrate(t.Context(), 2))
	for _, text := range []string{
		`INSERT INTO posts SELECT 'post:x' || n, 'x', 1600000000 + n, n % 3, CASE WHEN n % 2 = 0 THEN 'example.com' ELSE '' END, 'public', 'public',
			1, 0, 0, 0, n, 0, 0, 0, 0, 0, CASE WHEN n > 600 THEN 1 ELSE 0 END, '{}', '{}', '{"caption":"x"}' FROM generate_series(1, 660) n`,
		`INSERT INTO posts SELECT 'post:y' || n, 'y', 1600000000 + n, 2, '', 'public', 'public',
			1, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, '{}', '{}', '{"caption":"x"}' FROM generate_series(1, 10) n`,
		`INSERT INTO authors (id, erased, erasing) VALUES ('y', 4, 1)`,
		`INSERT INTO follows VALUES ('f', 'x', 1, 0)`,
	} {
		_, err := s.db.pool.Exec(t.Context(), text)
		require.NoError(t, err, text)
	}
	require.NoError(t, s.Migrate(t.Context()))
	for _, tt := range []struct {
		reader, author string
		want           int64
	}{{"", "x", 200}, {"f", "x", 400}, {"x", "x", 200 + 200}, {"", "y", 6}} {
		info, err := s.Author(t.Context(), tt.reader, tt.author)
		require.NoError(t, err)
		require.Equal(t, tt.want, info.Posts, "posts of %s for %q", tt.author, tt.reader)
	}
	require.NoError(t, s.DeletePost(t.Context(), "post:x1", "x", time.Time{}))
	info, err := s.Author(t.Context(), "f", "x")
	require.NoError(t, err)
	require.EqualValues(t, 399, info.Posts)
}

// TestMigrateKeepsReferences migrates a database without incarnations. References to existing
// posts stay valid, also to posts that had been created again, and end when the post does.
func TestMigrateKeepsReferences(t *testing.T) {
	s, err := New(t.Context(), Config{URL: testenv.Postgres(t) + "&pool_max_conns=4"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.migrate(t.Context(), 4))
	for _, text := range socialtest.ReferencesOfBefore(``, `'{}'`) {
		_, err := s.db.pool.Exec(t.Context(), text)
		require.NoError(t, err, text)
	}
	require.NoError(t, s.Migrate(t.Context()))
	socialtest.CheckReferencesOfBefore(t, s)
}

// TestMigrateLetsOthersPass migrates while a transaction reads a table, as a backup does: calls of servers
// that run pass, the reason is told, and the migration continues once the transaction has ended.
func TestMigrateLetsOthersPass(t *testing.T) {
	t.Parallel()
	address := testenv.Postgres(t) + "&pool_max_conns=4"
	reasons := make(chan error, 100)
	open := func(waits func(error)) *Store {
		s, err := New(t.Context(), Config{URL: address, Waits: waits}, social.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	first := open(nil)
	require.NoError(t, first.migrate(t.Context(), 6))
	dump, err := pgx.Connect(t.Context(), address[:len(address)-len("&pool_max_conns=4")]+"&application_name=the_backup")
	require.NoError(t, err)
	defer func() { _ = dump.Close(context.WithoutCancel(t.Context())) }()
	_, err = dump.Exec(t.Context(), `BEGIN; SELECT count(*) FROM posts`)
	require.NoError(t, err)

	migrated := make(chan error, 2)
	tell := func(err error) { reasons <- err }
	servers := []*Store{open(tell), open(tell)}
	for _, s := range servers {
		go func() { migrated <- s.Migrate(t.Context()) }()
	}
	err = <-reasons
	for strings.Contains(err.Error(), "another server") {
		err = <-reasons
	}
	require.ErrorIs(t, err, ErrWaits)
	require.ErrorContains(t, err, "(the_backup), since ")
	for _, s := range servers { // one waits for the backup, the other for the first
		require.Eventually(t, func() bool { return errors.Is(s.Ping(t.Context()), ErrWaits) }, time.Minute, 10*time.Millisecond)
	}
	for range 20 {
		_, err = first.db.pool.Exec(t.Context(), `UPDATE posts SET gone = gone`)
		require.NoError(t, err, "a call of a server that runs")
	}
	select {
	case err := <-migrated:
		t.Fatal("it was migrated while the tables were in use", err)
	default:
	}
	_, err = dump.Exec(t.Context(), `COMMIT`)
	require.NoError(t, err)
	for range servers {
		require.NoError(t, <-migrated)
	}
	for _, s := range servers {
		require.NoError(t, s.Ping(t.Context()))
		var limit string
		require.NoError(t, s.db.pool.QueryRow(t.Context(), `SHOW lock_timeout`).Scan(&limit))
		require.Equal(t, "0", limit, "of other calls")
	}
}

// TestMigrateOutlastsTimeLimits migrates as a role that has time limits for its queries, while another
// transaction reads a table. The limits apply again to later calls.
func TestMigrateOutlastsTimeLimits(t *testing.T) {
	t.Parallel()
	// Less than tableWait, and enough for the queries before the limits are lifted on a busy machine.
	const limits = "&statement_timeout=250&idle_in_transaction_session_timeout=100&lock_timeout=5000"
	address := testenv.Postgres(t)
	reasons, migrated := make(chan error, 100), make(chan error, 1)
	s, err := New(t.Context(), Config{URL: address + limits + "&pool_max_conns=2", Waits: func(err error) { reasons <- err }}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.migrate(t.Context(), 6))
	reader, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { _ = reader.Close(context.WithoutCancel(t.Context())) }()
	_, err = reader.Exec(t.Context(), `BEGIN; SELECT count(*) FROM posts`)
	require.NoError(t, err)

	go func() { migrated <- s.Migrate(t.Context()) }()
	select {
	case err := <-reasons:
		require.ErrorIs(t, err, ErrWaits)
	case err := <-migrated:
		t.Fatal("it did not wait", err)
	}
	_, err = reader.Exec(t.Context(), `COMMIT`)
	require.NoError(t, err)
	require.NoError(t, <-migrated)
	for range 2 { // each of the connections
		conn, err := s.db.pool.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		for name, want := range map[string]string{"statement_timeout": "250ms", "idle_in_transaction_session_timeout": "100ms", "lock_timeout": "5s"} {
			var limit string
			require.NoError(t, conn.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&limit))
			require.Equal(t, want, limit, name)
		}
	}
}
