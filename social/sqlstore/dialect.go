package sqlstore

import (
	"regexp"
	"sync"
)

// Dialect holds the differences between databases other than their [Database].
type Dialect struct {
	Name   string            // prefix of error messages
	Reason func(error) error // adds to an error how an operator can correct it, if they can
	// Damaged reports whether the database has rejected a value as impossible, so that a retry of
	// the statement fails, too.
	Damaged func(error) bool
	// OneWriter means that write transactions run one at a time and nothing needs a lock.
	OneWriter bool

	// Lease leases due jobs. Its parameters are now, the kinds, the period after which a job is
	// overdue, the number, the period of the lease, the worker, and how many of the number may be
	// chosen because they are overdue. If Lease is empty, Choose reads the ids: first of overdue
	// jobs, with the first three parameters and their number; then of all others, with a table of
	// the ids already chosen as the third parameter. Alone must then run all its statements in one
	// transaction.
	Lease  string
	Choose [2]string
	// Done completes jobs, as a statement of [Held], and removes those of the kinds $4.
	Done string
	// Remove removes the job $1 of the lease $2 unless it was marked in the meantime. It is empty
	// if Done also removes, or if Alone does not run everything in one transaction.
	Remove string

	Changes ChangesDialect
}

// Either is a part of a statement that is written twice: in PostgreSQL's SQL and in SQLite's. It
// must not contain another.
func Either(postgres, sqlite string) string { return `«` + postgres + `¦` + sqlite + `»` }

var (
	either = regexp.MustCompile(`«([^¦]*)¦([^»]*)»`)
	picked sync.Map // statements for PostgreSQL
)

// InPostgres returns a statement for PostgreSQL.
func InPostgres(text string) string {
	known, ok := picked.Load(text)
	if !ok {
		known, _ = picked.LoadOrStore(text, either.ReplaceAllString(text, `$1`))
	}
	return known.(string)
}

// InSQLite returns a statement for SQLite, except for words that differ.
func InSQLite(text string) string { return either.ReplaceAllString(text, `$2`) }

// listOf selects a column of the rows of a FROM clause as a list of texts.
func listOf(column, from string) string {
	return Either(`ARRAY(SELECT `+column, `(SELECT json_group_array(`+column+`)`) + ` FROM ` + from + `)`
}
