package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/socialtest"
)

var keeping = social.Options{KeepChanges: time.Hour}

func authorsOf(t *testing.T, s *postgres.Store, cursor string) (authors []string, next string) {
	t.Helper()
	page, err := s.Changes(t.Context(), cursor, nil, 100)
	require.NoError(t, err)
	for _, c := range page.Changes {
		authors = append(authors, c.Other)
	}
	return authors, page.Next
}

// TestChangesOfSlowTransactions checks that changes of transactions that commit late, and have begun
// before or after a reader's cursor, are not skipped, and do not hold up the others.
func TestChangesOfSlowTransactions(t *testing.T) {
	url := testenv.ReusedPostgres(t)
	s := open(t, url, keeping)
	_, cursor := authorsOf(t, s, "")
	slow := make([]pgx.Tx, 3)
	for i := range slow {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close(t.Context())) })
		slow[i], err = conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = slow[i].Exec(t.Context(), `INSERT INTO changes (at, type, agent, other, object, parent)
			VALUES ((extract(epoch FROM now()) * 1000000)::bigint, 'follow.created', 'slow', $1, '', '')`, string(rune('x'+i)))
		require.NoError(t, err)
		_, err = s.Follow(t.Context(), "a", string(rune('b'+i)), time.Time{})
		require.NoError(t, err)
	}
	page, err := s.Changes(t.Context(), cursor, nil, 2)
	require.NoError(t, err)
	require.Len(t, page.Changes, 2)
	rest, next := authorsOf(t, s, page.Next)
	require.Equal(t, []string{"d"}, rest)
	require.NoError(t, slow[1].Commit(t.Context()))
	got, next := authorsOf(t, s, next)
	require.Equal(t, []string{"y"}, got)
	rest, _ = authorsOf(t, s, page.Next)
	require.Equal(t, []string{"d"}, rest, "within a page all is as of one moment")
	require.NoError(t, slow[2].Rollback(t.Context()))
	require.NoError(t, slow[0].Commit(t.Context()))
	got, next = authorsOf(t, s, next)
	require.Equal(t, []string{"x"}, got)
	got, _ = authorsOf(t, s, next)
	require.Empty(t, got)
	_, err = s.Follow(t.Context(), "a", "e", time.Time{})
	require.NoError(t, err)
	got, _ = authorsOf(t, s, next)
	require.Equal(t, []string{"e"}, got)
}

// TestChangesOfRestoredDatabase checks that cursors of before a restoration, after which transactions
// have other ids, are refused, and that rows of before are not taken for new ones.
func TestChangesOfRestoredDatabase(t *testing.T) {
	url := testenv.ReusedPostgres(t)
	s := open(t, url, keeping)
	_, err := s.Follow(t.Context(), "a", "b", time.Time{})
	require.NoError(t, err)
	_, cursor := authorsOf(t, s, social.FromOldest)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(t.Context())) })
	_, err = conn.Exec(t.Context(), `UPDATE changes_state SET home = '1'`)
	require.NoError(t, err)
	_, err = s.Changes(t.Context(), cursor, nil, 1)
	require.ErrorIs(t, err, feed.ErrGone)
	got, next := authorsOf(t, s, social.FromOldest)
	require.Empty(t, got)
	_, err = s.Follow(t.Context(), "a", "c", time.Time{})
	require.NoError(t, err)
	got, _ = authorsOf(t, s, next)
	require.Equal(t, []string{"c"}, got)
}

func TestChangesOff(t *testing.T) {
	url := testenv.ReusedPostgres(t)
	socialtest.ChangesOff(t, open(t, url, keeping), open(t, url, social.Options{}))
}

func TestNotificationsOff(t *testing.T) {
	socialtest.NotificationsOff(t, open(t, testenv.ReusedPostgres(t), social.Options{}))
}

// TestSnapshotOfCursor checks that PostgreSQL reads each snapshot that a cursor may have.
func TestSnapshotOfCursor(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), testenv.ReusedPostgres(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(t.Context())) })
	for _, text := range []string{"3:3:", "10:20:", "10:20:10,14,19", "10:20:10,10", "0:1:", "1:0:", "5:4:", "5:9:4", "5:9:9", "5:9:7,6", "5:9", "", "::", "a:b:c", "5:9:,", "5:9:6,", "-1:4:", "+3:4:", " 3:4:", "3:4: ", "9223372036854775807:9223372036854775807:", "9223372036854775808:9223372036854775808:"} {
		err := conn.QueryRow(t.Context(), `SELECT $1::text::pg_snapshot::text`, text).Scan(new(string))
		if postgres.IsSnapshot(text) {
			require.NoError(t, err, text)
		}
	}
	require.True(t, postgres.IsSnapshot("10:20:10,14,19"))
	require.False(t, postgres.IsSnapshot("5:9:4"))
}
