package postgres

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestAdviceFitsTheMessage has refusals whose code says too little.
func TestAdviceFitsTheMessage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		says string
	}{
		{&pgconn.PgError{Code: "08P01", Message: "unsupported startup parameter: search_path"}, "ALTER ROLE … SET search_path"},
		{&pgconn.PgError{Code: notAuthorized, Message: `no pg_hba.conf entry for host "10.0.0.1", user "f", database "f", no encryption`}, "requires TLS"},
		{&pgconn.PgError{Code: notAuthorized, Message: `no pg_hba.conf entry for host "10.0.0.1", user "f", database "f", SSL encryption`}, "pg_hba.conf"},
		{errors.New("tls error (server refused TLS connection)"), "does not use TLS"},
		{&pgconn.PgError{Code: notAuthorized, Message: "connection requires a valid client certificate"}, "sslcert"},
		{errors.New("remote error: tls: unknown certificate authority"), "sslcert"},
		{&pgconn.PgError{Code: noPrivilege, Message: "permission denied for table posts"}, "own the tables"},
		{&pgconn.PgError{Code: noPrivilege, Message: "permission denied for schema public"}, "GRANT USAGE, CREATE ON SCHEMA"},
		{&pgconn.PgError{Code: noPrivilege, Message: "must be owner of table posts"}, "own the tables"},
		{&pgconn.PgError{Code: "26000", Message: `prepared statement "stmtcache_faa3" does not exist`}, "default_query_exec_mode=exec"},
		{&pgconn.PgError{Code: "42P05", Message: `prepared statement "stmtcache_faa3" already exists`}, "default_query_exec_mode=exec"},
		{&pgconn.PgError{Code: "42704", Message: `unrecognized configuration parameter "schema"`}, "remove it"},
		{&pgconn.PgError{Code: "22023", Message: `role "app" does not exist`}, "refuses the value of a parameter"},
		{&pgconn.PgError{Code: "55P02", Message: `parameter "ssl_min_protocol_version" cannot be changed now`}, "refuses the value of a parameter"},
		{&pgconn.PgError{Code: "3F000", Message: "no schema has been selected to create in"}, "search_path"},
		{&pgconn.PgError{Code: queryCanceled, Message: "canceling statement due to statement timeout"}, "statement_timeout of the user or the database"},
		{&pgconn.PgError{Code: lockNotAvailable, Message: "canceling statement due to lock timeout"}, "lock_timeout of the user or the database"},
		{&pgconn.PgError{Code: "08P01", Message: "no more connections allowed (max_client_conn)"}, "max_client_conn"},
		{&pgconn.PgError{Code: "08P01", Message: "query_wait_timeout"}, "default_pool_size"},
		{&pgconn.PgError{Code: "08P01", Message: "no such database: freshet"}, "in the pooler's configuration"},
		{&pgconn.PgError{Code: "08P01", Message: "server login failed: FATAL password authentication failed for user \"freshet\""}, "auth_file"},
		{&pgconn.PgError{Code: "08P01", Message: "server login has been failing, cached error: connect failed (server_login_retry)"}, "auth_file"},
		{&pgconn.PgError{Code: "08P01", Severity: "FATAL", Message: `database "freshet" does not exist`}, "in the pooler's configuration"},
		{&pgconn.PgError{Code: "08P01", Severity: "FATAL", Message: "SASL authentication failed"}, "auth_file"},
		{&pgconn.PgError{Code: "08P01", Message: "pgbouncer cannot connect to server"}, "does not reach PostgreSQL"},
		// The same from servers with other languages.
		{&pgconn.PgError{Code: notAuthorized, Message: "kein pg_hba.conf-Eintrag für Host »10.0.0.1«, Benutzer »f«, Datenbank »f«, keine Verschlüsselung"}, "without TLS (sslmode)"},
		{&pgconn.PgError{Code: notAuthorized, Message: "Verbindung erfordert ein gültiges Client-Zertifikat"}, "sslcert"},
		{&pgconn.PgError{Code: noPrivilege, Message: "keine Berechtigung für Schema public"}, "GRANT USAGE, CREATE ON SCHEMA"},
		{&pgconn.PgError{Code: noPrivilege, Message: "keine Berechtigung für Tabelle posts"}, "own the tables"},
		{&pgconn.PgError{Code: noStatement, Message: "vorbereitete Anweisung »stmtcache_faa3« existiert nicht"}, "default_query_exec_mode=exec"},
		{&pgconn.PgError{Code: duplicateStatement, Message: "vorbereitete Anweisung »stmtcache_faa3« existiert bereits"}, "default_query_exec_mode=exec"},
		{&pgconn.PgError{Code: undefinedObject, Message: "unbekannter Konfigurationsparameter »schema«"}, "remove it"},
		{&pgconn.PgError{Code: queryCanceled, Message: "storniere Anfrage wegen Zeitüberschreitung der Anfrage"}, "statement_timeout of the user or the database"},
		{&pgconn.PgError{Code: notSupported, Message: "kann serialisierbaren Modus nicht in einem Hot Standby verwenden", Routine: "GetSerializableTransactionSnapshot"}, "connect to the primary"},
	} {
		assert.ErrorContains(t, reason(test.err), test.says)
		assert.ErrorIs(t, reason(test.err), test.err)
	}
	assert.NoError(t, reason(nil))
}

// TestAdviceOnCertificate connects to servers whose certificate is not accepted: of an unknown
// authority, and with the host only as the Common Name.
func TestAdviceOnCertificate(t *testing.T) {
	t.Parallel()
	unknown := testenv.Certificate(t, nil)
	assert.ErrorContains(t, checkTLS(t, unknown, ""), "in sslrootcert of postgres.url")

	nameless := testenv.Certificate(t, func(c *x509.Certificate) { c.DNSNames = nil })
	root := filepath.Join(t.TempDir(), "root.pem")
	require.NoError(t, os.WriteFile(root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: nameless.Leaf.Raw}), 0o600))
	assert.ErrorContains(t, checkTLS(t, nameless, "&sslrootcert="+root), "as a subject alternative name")
}

// checkTLS returns the error for a server with the certificate.
func checkTLS(t *testing.T, certificate tls.Certificate, parameters string) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go startTLS(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	store, err := New(t.Context(), Config{URL: "postgres://u@localhost:" + port + "/d?sslmode=verify-full" + parameters}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	_, err = store.Check(t.Context())
	return err
}

// startTLS answers the request for TLS with which a client of PostgreSQL begins.
func startTLS(conn net.Conn, config *tls.Config) {
	if _, err := io.ReadFull(conn, make([]byte, 8)); err == nil {
		_, _ = conn.Write([]byte("S"))
		_ = tls.Server(conn, config).Handshake()
	}
	_ = conn.Close()
}

// TestParametersOfOtherDrivers connects with parameters that other drivers and libraries have. Each is refused
// as what it is, and none as damaged data.
func TestParametersOfOtherDrivers(t *testing.T) {
	t.Parallel()
	server := testenv.ReusedPostgres(t)
	for _, parameter := range []string{
		"keepalives=1", "gssencmode=disable", "schema=public", "pgbouncer=true", "hostaddr=127.0.0.1", "load_balance_hosts=random",
		"max_conns=5", "sslmode=prefer&ssl_mode=require", "sslmode=prefer&sslmodel=require", "prepared_statements=false", "sslcompression=0", "role=nobody-knows", "ssl_min_protocol_version=TLSv1.2",
	} {
		s, err := New(t.Context(), Config{URL: server + "&" + parameter}, social.Options{})
		require.NoError(t, err, parameter)
		_, err = s.Check(t.Context())
		require.ErrorIs(t, err, social.ErrUnavailable, parameter)
		assert.ErrorContains(t, err, "parameter of postgres.url", parameter)
		assert.NotErrorIs(t, err, social.ErrDamaged, parameter)
		require.NoError(t, s.Close())
	}
}
