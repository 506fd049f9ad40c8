package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Scan reads the columns of a row. A list of texts is read into a *[]string.
type Scan = func(into ...any) error

// Statement is a text with its arguments.
type Statement struct {
	Text string
	Args []any
}

// Reading is a statement whose rows are read.
type Reading struct {
	Statement
	Scan func(Scan) error // called for each row; nil means that the statement returns none
}

// Session runs statements. Arguments are strings, bytes, numbers, booleans, slices of strings, and
// the following types of this package.
type Session interface {
	// Exec returns how many rows a statement changed.
	Exec(text string, args ...any) (int64, error)
	// Row reads one row and reports whether there is one.
	Row(into []any, text string, args ...any) (bool, error)
	// Each reads all rows.
	Each(r Reading) error
	// All runs statements one after another, in one round trip. It skips those without a text.
	All(readings ...Reading) error
}

// Writing is the session of a transaction.
type Writing interface {
	Session
	// Later runs a statement at once, or with the commit, after those given before. The transaction
	// must not read the effects of a change.
	Later(r Reading) error
}

// Table is the columns of rows, each a []string, []int or []int64, all of the same length. Each
// column is an argument.
type Table []any

// Damaged marks an error of reading an existing row; databases apply it to the errors of their
// sessions. It leaves the errors of a context unchanged.
func Damaged(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", social.ErrDamaged, err)
}

// Bytes is the value of a column of bytes that are no text.
type Bytes []byte

// List is the value of a column that holds a list of strings.
type List []string

// Named are named arguments. There must be no others.
type Named map[string]any

// Database runs calls. The context of a session may end before that of the call.
type Database interface {
	// Read runs do; each statement is separate.
	Read(ctx context.Context, do func(Session) error) error
	// Snapshot runs do; all statements see the same state of the database.
	Snapshot(ctx context.Context, do func(Session) error) error
	// Write runs do in a transaction, which is committed if do returns nil. It may run do more than
	// once: if the database aborts the transaction in favor of another, and after [ErrRaced].
	Write(ctx context.Context, do func(Writing) error) error
	// Alone runs do, with its changes in one transaction: either all of do, or the single call that
	// changes anything. It may run do more than once, as Write may.
	Alone(ctx context.Context, do func(Session) error) error
}

// Query runs statements until one fails. After that error it runs none, and reads return zero
// values.
type Query struct {
	d     *Dialect
	on    Session
	clock feed.Clock
	err   error
}

// fail sets the error of the query, unless it has one, and returns false. A function that has failed
// returns.
func (q *Query) fail(err error) bool {
	if q.err == nil {
		q.err = err
	}
	return false
}

func (q *Query) exec(text string, args ...any) (changed int64) {
	if q.err == nil {
		changed, q.err = q.on.Exec(text, args...)
	}
	return changed
}

// row reads one row and reports whether there is one.
func (q *Query) row(into []any, text string, args ...any) (found bool) {
	if q.err == nil {
		found, q.err = q.on.Row(into, text, args...)
	}
	return found && q.err == nil
}

// into lists the destinations of a row.
func into(columns ...any) []any { return columns }

func (q *Query) each(scan func(Scan) error, text string, args ...any) {
	q.read(Reading{Statement{text, args}, scan})
}

func (q *Query) read(r Reading) {
	if q.err == nil {
		q.err = q.on.Each(r)
	}
}

func (q *Query) all(readings ...Reading) {
	if q.err == nil && len(readings) > 0 {
		q.err = q.on.All(readings...)
	}
}

// reads is a reading of one row into columns.
func reads(columns []any, text string, args ...any) Reading {
	return Reading{Statement{text, args}, func(scan Scan) error { return scan(columns...) }}
}

// First is a reading of the first row, if there is one, into columns.
func First(columns []any, found *bool, text string, args ...any) Reading {
	return Reading{Statement{text, args}, func(scan Scan) error {
		if *found {
			return nil
		}
		*found = true
		return scan(columns...)
	}}
}

// readsTexts is a reading of a column of strings.
func readsTexts(list *[]string, text string, args ...any) Reading {
	return Reading{Statement{text, args}, func(scan Scan) error {
		*list = append(*list, "")
		return scan(&(*list)[len(*list)-1])
	}}
}

// rowsOf reads rows, each into a value.
func rowsOf[T any](q *Query, columns func(*T) []any, text string, args ...any) (list []T) {
	q.each(func(scan Scan) error {
		var v T
		err := scan(columns(&v)...)
		list = append(list, v)
		return err
	}, text, args...)
	return list
}

// column reads the only column of rows.
func column[T any](q *Query, text string, args ...any) []T {
	return rowsOf(q, func(v *T) []any { return into(v) }, text, args...)
}

// mapOf reads rows of two columns, a key and a value.
func mapOf[K comparable, V any](q *Query, found map[K]V, text string, args ...any) {
	q.each(func(scan Scan) error {
		var k K
		var v V
		err := scan(&k, &v)
		found[k] = v
		return err
	}, text, args...)
}

// texts reads a column of strings.
func (q *Query) texts(text string, args ...any) []string { return column[string](q, text, args...) }
