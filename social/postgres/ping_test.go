package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

// TestPingWritesRefused checks that a ping fails on a read-only server and on one with a
// full disk, although both answer.
func TestPingWritesRefused(t *testing.T) {
	url := testenv.Postgres(t)
	now := time.Now()
	s := open(t, url, social.Options{Clock: func() time.Time { return now }})
	require.NoError(t, s.Ping(t.Context()))

	readOnly := open(t, url+"&default_transaction_read_only=on", social.Options{})
	err := readOnly.Ping(t.Context())
	require.ErrorIs(t, err, social.ErrTakesNoWrites)
	require.ErrorIs(t, err, social.ErrUnavailable)
	require.ErrorContains(t, err, "connect to the primary")
	require.Contains(t, postgres.Advice(err), "connect to the primary")

	for code, says := range map[string]string{"53100": "disk is full", "42501": "lacks a privilege", "58030": "cannot read or write its disk"} {
		script(t, url, `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '`+code+`'; END $$ LANGUAGE plpgsql;
			CREATE TRIGGER refuse BEFORE INSERT ON follows EXECUTE FUNCTION refuse()`)
		_, err = s.Follow(t.Context(), "a", "b", zero)
		require.ErrorIs(t, err, social.ErrUnavailable)
		err = s.Ping(t.Context())
		require.ErrorIs(t, err, social.ErrTakesNoWrites, code)
		require.ErrorContains(t, err, says)
		require.Contains(t, postgres.Advice(err), says)
		script(t, url, `DROP TRIGGER refuse ON follows`)
		_, err = s.Follow(t.Context(), "a", "b"+code, zero)
		require.NoError(t, err)
		require.ErrorIs(t, s.Ping(t.Context()), social.ErrTakesNoWrites, "on a full disk some writes succeed")
		now = now.Add(3 * time.Minute)
		require.NoError(t, s.Ping(t.Context()), "none was refused for a while")
	}
}

// TestPingTablesMissing checks a server that answers pings but fails every other call.
func TestPingTablesMissing(t *testing.T) {
	url := testenv.Postgres(t)
	now := time.Now()
	s := open(t, url, social.Options{Clock: func() time.Time { return now }})
	for change, says := range map[[2]string]string{
		{`ALTER TABLE follows RENAME TO gone`, `ALTER TABLE gone RENAME TO follows`}:                         "a table is missing",
		{`ALTER TABLE follows RENAME COLUMN gone TO went`, `ALTER TABLE follows RENAME COLUMN went TO gone`}: "a column is missing",
	} {
		require.NoError(t, s.Ping(t.Context()))
		script(t, url, change[0])
		_, err := s.Follow(t.Context(), "a", "b", zero)
		require.ErrorIs(t, err, social.ErrUnavailable)
		err = s.Ping(t.Context())
		require.ErrorIs(t, err, social.ErrUnavailable)
		require.NotErrorIs(t, err, social.ErrTakesNoWrites)
		require.ErrorContains(t, err, says)
		script(t, url, change[1])
		now = now.Add(3 * time.Minute)
	}
}
