package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// refusing starts a server that refuses each connection with an error.
func refusing(t *testing.T, e pgproto3.ErrorResponse) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(conn, conn)
			_, _ = backend.ReceiveStartupMessage()
			backend.Send(&e)
			_ = errors.Join(backend.Flush(), conn.Close())
		}
	}()
	return fmt.Sprintf("postgres://u@%s/d?sslmode=disable", listener.Addr())
}

// TestErrorIsConnectionLimit checks that a server at its limit of connections does not count as
// unavailable while the store has a connection.
func TestErrorIsConnectionLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code, message string
		crowded       bool
	}{
		{"53300", "sorry, too many clients already", true},
		{"53300", `too many connections for role "freshet"`, true},
		{"53300", `too many connections for database "freshet"`, true},
		{"53300", "remaining connection slots are reserved for roles with the SUPERUSER attribute", true},
		{"53400", "a limit is reached", true},
		{"08P01", "no more connections allowed (max_client_conn)", true},
		{"XX000", "MaxClientsInSessionMode: max clients reached", true},
		{"XX000", "Max client connections reached", true},
		{"08P01", "server login failed", false},
		{"28P01", "password authentication failed", false},
		{"57P03", "the database system is starting up", false},
		{"57P01", "terminating connection due to administrator command", false},
	} {
		_, err := pgx.Connect(t.Context(), refusing(t, pgproto3.ErrorResponse{Severity: "FATAL", Code: tt.code, Message: tt.message}))
		require.Error(t, err)
		assert.Equal(t, tt.crowded, limitReached(err), tt.message)
		assert.Equal(t, !tt.crowded, Unreachable(err), tt.message)
		assert.True(t, Unreachable(fmt.Errorf("%w: %w", errAllRefused, err)), "%s: and there is none", tt.message)
	}
	assert.False(t, limitReached(errors.New("no more connections allowed")), "not at the connect")
}

// TestErrorIsOutage checks that readers are served without the database whenever it has not
// answered a query, and that it counts as down when it could not be queried at all.
// docs/reliability.md has the table.
func TestErrorIsOutage(t *testing.T) {
	t.Parallel()
	const served, damage = "outage", "damaged"
	for _, tt := range []struct {
		code    string
		readers string
		counts  bool // as a failure of the database: the breaker opens
		ping    bool // the next ping reports it
	}{
		// Errors of the connection.
		{"08006", served, true, false},
		{"08P01", served, true, false},
		{"57P01", served, true, false},
		{"57P02", served, true, false},
		{"57P03", served, true, false},
		{"57P04", served, true, false},
		{"57P05", served, true, false},
		// Time limits of the server.
		{queryCanceled, served, false, false},
		{"55P03", served, false, false},
		// Errors that remain after all attempts.
		{serializationFailure, served, false, false},
		{deadlockDetected, served, false, false},
		{tooManyConnections, served, false, false},
		{configurationLimit, served, false, false},
		{readOnlyTransaction, served, false, false}, // the ping asks the server
		{diskFull, served, false, true},
		{outOfMemory, served, false, true},
		{ioError, served, false, true},
		{noPrivilege, served, false, true},
		{undefinedTable, served, false, true},
		{undefinedColumn, served, false, true},
		{dataCorrupted, served, false, true},
		{indexCorrupted, served, false, true},
		{"25P03", served, false, false},
		{"25P04", served, false, false},
		{"XX000", served, false, false},
		{"0A000", served, false, false},
		// Errors of a value.
		{"22021", damage, false, false},
		{"23514", damage, false, false},
		{"54000", damage, false, false},
	} {
		err := error(&pgconn.PgError{Code: tt.code})
		failed := dialect.Failed(t.Context(), "read", err)
		assert.Equal(t, tt.readers == served, errors.Is(failed, social.ErrUnavailable), tt.code)
		assert.Equal(t, tt.readers == damage, errors.Is(failed, social.ErrDamaged), tt.code)
		assert.Equal(t, tt.counts, Unreachable(err), tt.code)
		assert.Equal(t, tt.ping, refuses(err), tt.code)
	}
	for _, err := range []error{context.DeadlineExceeded, io.ErrUnexpectedEOF, &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		assert.True(t, Unreachable(err), "%v", err)
		assert.ErrorIs(t, dialect.Failed(t.Context(), "read", err), social.ErrUnavailable)
	}
	for _, err := range []error{nil, context.Canceled, feed.ErrNotFound} {
		assert.False(t, Unreachable(err), "%v", err)
	}
}
