package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
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
		{errors.New("tls: failed to verify certificate: x509: certificate signed by unknown authority"), "sslrootcert"},
		{errors.New("tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time"), "renew"},
		{&pgconn.PgError{Code: notAuthorized, Message: "connection requires a valid client certificate"}, "sslcert"},
		{errors.New("remote error: tls: unknown certificate authority"), "sslcert"},
		{&pgconn.PgError{Code: noPrivilege, Message: "permission denied for table posts"}, "own the tables"},
		{&pgconn.PgError{Code: noPrivilege, Message: "permission denied for schema public"}, "GRANT USAGE, CREATE ON SCHEMA"},
		{&pgconn.PgError{Code: noPrivilege, Message: "must be owner of table posts"}, "own the tables"},
		{&pgconn.PgError{Code: "42704", Message: `unrecognized configuration parameter "schema"`}, "remove it"},
		{&pgconn.PgError{Code: queryCanceled, Message: "canceling statement due to statement timeout"}, "statement_timeout of the user or the database"},
	} {
		assert.ErrorContains(t, reason(test.err), test.says)
		assert.ErrorIs(t, reason(test.err), test.err)
	}
	assert.NoError(t, reason(nil))
}
