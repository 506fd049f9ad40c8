package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/freshet/freshet/internal/certificates"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// errNewerSchema means that this version does not know the schema of the database. Nothing was
// changed.
var errNewerSchema = errors.New("this database was written by a newer freshet")

// errNoSchema means that there is no schema for the tables.
var errNoSchema = errors.New("no schema in the user's search_path exists or may be used; create it, or correct search_path (ALTER ROLE … SET search_path, or postgres.url)")

// PostgreSQL's error codes.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505"
	undefinedTable       = "42P01"
	undefinedColumn      = "42703"
	undefinedFunction    = "42883"
	dataCorrupted        = "XX001"
	indexCorrupted       = "XX002"
	readOnlyTransaction  = "25006"
	notSupported         = "0A000"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
	tooManyConnections   = "53300"
	configurationLimit   = "53400"
	diskFull             = "53100"
	outOfMemory          = "53200"
	ioError              = "58030"
	wrongPassword        = "28P01"
	notAuthorized        = "28000"
	noDatabase           = "3D000"
	noPrivilege          = "42501"
	queryCanceled        = "57014"
	lockNotAvailable     = "55P03"
	noStatement          = "26000"
	duplicateStatement   = "42P05"
	undefinedObject      = "42704"
	invalidName          = "3F000"
	invalidParameter     = "22023"
	cannotChange         = "55P02"
)

// advice says how an operator can correct an error, by its code.
var advice = map[string]string{
	undefinedTable:      "a table is missing; run freshet doctor --fix",
	undefinedColumn:     "a column is missing; restore the table",
	dataCorrupted:       "data is damaged; restore a backup",
	indexCorrupted:      "an index is damaged; REINDEX it",
	readOnlyTransaction: "the server is read-only, such as a replica; connect to the primary",
	configurationLimit:  "the server has reached a limit of its configuration; see its log",
	tooManyConnections:  "the server has no connection left; raise its max_connections or lower pool_max_conns in postgres.url",
	diskFull:            "the server's disk is full; free some space",
	outOfMemory:         "the server is out of memory; see its log",
	ioError:             "the server cannot read or write its disk; see its log",
	wrongPassword:       "the password is wrong; correct postgres.url",
	notAuthorized:       "the server refuses this user, or a connection without TLS (sslmode) or without a client certificate (sslcert, sslkey); correct postgres.url or its pg_hba.conf",
	noDatabase:          "there is no such database; create it or correct postgres.url",
	noPrivilege:         "the user lacks a privilege; let it own the tables, or grant it to them (freshet doctor names it); to create tables it needs GRANT USAGE, CREATE ON SCHEMA …",
	queryCanceled:       "the limit statement_timeout of the user or the database, or an administrator, has ended it; raise the limit, or migrate over a direct connection",
	noStatement:         ofPooler,
	duplicateStatement:  ofPooler,
	invalidName:         errNoSchema.Error(),
	invalidParameter:    wrongParameter,
	cannotChange:        wrongParameter,
	undefinedObject:     "the server does not know a parameter of postgres.url; remove it (other drivers' schema=… is search_path=… here)",
}

// wrongParameter is the advice on a parameter that the server knows and refuses.
const wrongParameter = "the server refuses the value of a parameter of postgres.url; correct or remove it"

// ofPooler is the advice on statements that were prepared on another connection.
const ofPooler = "a pooler gives each transaction another connection; add default_query_exec_mode=exec to postgres.url"

// adviceByText is advice by a part of the message, which fits better than that by the code. A server
// with another language (lc_messages) translates its messages.
var adviceByText = []struct{ part, advice string }{
	{"unsupported startup parameter", "the pooler does not take a parameter of postgres.url; for search_path use ALTER ROLE … SET search_path instead, or another database"},
	{"no more connections allowed", "the pooler has as many clients as it allows; raise its max_client_conn or lower pool_max_conns in postgres.url"},
	{"query_wait_timeout", "the pooler had no connection to PostgreSQL for too long; raise its default_pool_size"},
	{"no such database", "there is no such database; create it, name it in the pooler's configuration, or correct postgres.url"},
	{"does not exist (SQLSTATE 08P01)", "there is no such database; create it, name it in the pooler's configuration, or correct postgres.url"},
	{"SASL authentication failed (SQLSTATE 08P01)", "the pooler does not know the user, or the password is wrong; correct postgres.url, or the pooler's auth_file"},
	{"server login", "the pooler cannot log in to PostgreSQL; see its log, and the users in its auth_file"},
	{"cannot connect to server", "the pooler does not reach PostgreSQL; start that, or correct the pooler's configuration"},
	{"due to lock timeout", "the limit lock_timeout of the user or the database has ended it; raise it"},
	{"due to statement timeout", "the limit statement_timeout of the user or the database has ended it; raise it, or migrate over a direct connection"},
	{"permission denied for schema", "the user may not create tables; let it own the database (ALTER DATABASE … OWNER TO …), or GRANT USAGE, CREATE ON SCHEMA … to it"},
	{"no encryption", "the server requires TLS; set sslmode=require or verify-full in postgres.url"},
	{"refused TLS connection", "the server does not use TLS; correct sslmode in postgres.url, or set ssl = on at the server"},
	{"requires a valid client certificate", "name a client certificate that the server trusts in sslcert and sslkey of postgres.url"},
	{"remote error: tls: ", "if the server requires client certificates, name one that it trusts in sslcert and sslkey of postgres.url"},
}

func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// reason prefixes an error with its advice.
func reason(err error) error {
	says := Advice(err)
	if says == "" {
		return err
	}
	return fmt.Errorf("%s (%w)", says, err)
}

// Advice says how an operator can correct an error, "" if that is not known. It repeats nothing of the
// error.
func Advice(err error) string {
	switch {
	case takesNoTransaction(err), code(err) == "" && errors.Is(err, social.ErrTakesNoWrites): // also with another code
		return advice[readOnlyTransaction]
	case err == nil:
		return ""
	}
	if fault, ok := certificates.Check(err, "sslrootcert of postgres.url"); ok {
		return fault.Advice
	}
	if code(err) == undefinedObject { // also if the server refused TLS before
		return advice[undefinedObject]
	}
	for _, known := range adviceByText {
		if strings.Contains(err.Error(), known.part) {
			return known.advice
		}
	}
	return advice[code(err)]
}

// damaged reports whether PostgreSQL rejected a value as out of range, malformed, or too large.
func damaged(err error) bool {
	c := code(err)
	var connect *pgconn.ConnectError
	if c == uniqueViolation || errors.As(err, &connect) { // a connection was refused before any value
		return false
	}
	return strings.HasPrefix(c, "22") || strings.HasPrefix(c, "23") || strings.HasPrefix(c, "54")
}

// retryable reports whether a transaction that failed with err is to be retried: it was rolled
// back, and a retry sees the changes that came between.
func retryable(err error) bool {
	switch code(err) {
	case serializationFailure, deadlockDetected, uniqueViolation:
		return true
	}
	return errors.Is(err, sqlstore.ErrRaced)
}

// Unreachable reports whether a call failed because the database was unavailable: no connection, a
// timeout, or a server that starts or stops. It returns false for a call that the caller cancelled,
// for an answer, and if the server refuses further connections to a store that has some.
func Unreachable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	if errors.Is(err, sqlstore.ErrRaced) || sqlstore.Answered(err) {
		return false
	}
	if limitReached(err) || errors.Is(err, errStandby) {
		return false
	}
	var connect *pgconn.ConnectError
	if code(err) == "" || errors.As(err, &connect) {
		return true
	}
	switch code(err)[:2] {
	case "08", "57": // the connection failed; the operator intervened
		return code(err) != queryCanceled
	}
	return false
}
