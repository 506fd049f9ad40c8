package postgres

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refusing is a server that refuses each connection with an error.
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

// TestWhatIsALimitOfConnections: a server that has no further connection is none that cannot
// be asked, while the store has some.
func TestWhatIsALimitOfConnections(t *testing.T) {
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
		assert.Equal(t, tt.crowded, crowded(err), tt.message)
		assert.Equal(t, !tt.crowded, Unreachable(err), tt.message)
		assert.True(t, Unreachable(fmt.Errorf("%w: %w", errNone, err)), "%s: and there is none", tt.message)
	}
	assert.False(t, crowded(errors.New("no more connections allowed")), "not at the connect")
}
