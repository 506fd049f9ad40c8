package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/social"
)

// Scan reads the columns of a row, lists of texts into a *[]string.
type Scan = func(into ...any) error

// Statement is a text with its arguments.
type Statement struct {
	Text string
	Args []any
}

// Session runs statements. Arguments are texts, bytes, numbers, truth values, slices of
// texts, and the types of this package that follow.
type Session interface {
	// Exec returns how many rows a statement changed.
	Exec(text string, args ...any) (int64, error)
	// Row reads one row and says whether there is one.
	Row(into []any, text string, args ...any) (bool, error)
	// Each calls scan for each row.
	Each(scan func(Scan) error, text string, args ...any) error
	// Both runs a statement and then another, whose rows it reads, in one trip.
	Both(first Statement, scan func(Scan) error, then Statement) error
}

// Writing is the session of a transaction.
type Writing interface {
	Session
	// Later runs a statement at once, or with the commit. Nothing that the
	// transaction reads may depend on it.
	Later(text string, args ...any) error
}

// Table is the columns of some rows, each a []string, []int or []int64, and all of
// one length. It stands for one argument a column.
type Table []any

// Damaged marks an error of reading a row that is there: a database gives it to what its
// sessions return. The end of a context stays what it is.
func Damaged(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", social.ErrDamaged, err)
}

// List is the value of a column that holds a list of texts.
type List []string

// Named are the arguments of a statement that names them: it stands alone.
type Named map[string]any

// Database runs calls. The context of a session may end before that of the call.
type Database interface {
	// Read runs do, each of whose statements is by itself.
	Read(ctx context.Context, do func(Session) error) error
	// Snapshot runs do, all of whose statements see one state of the database.
	Snapshot(ctx context.Context, do func(Session) error) error
	// Write runs do in a transaction, which holds if do returns nil. It may run do
	// more than once: where the database ends a transaction for the sake of
	// another, and after [ErrRaced].
	Write(ctx context.Context, do func(Writing) error) error
	// Alone runs do, whose changes are one transaction: all of do, or, where a single
	// call changes anything, that call. It may run do more than once, as Write may.
	Alone(ctx context.Context, do func(Session) error) error
}

// Query runs statements until one fails. That error stays: from then on nothing is run,
// and what is read is zero.
type Query struct {
	d   *Dialect
	on  Session
	err error
}

// fail ends the query with an error, unless it has ended before.
func (q *Query) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (q *Query) exec(text string, args ...any) (changed int64) {
	if q.err == nil {
		changed, q.err = q.on.Exec(text, args...)
	}
	return changed
}

// row reads one row and says whether there is one.
func (q *Query) row(into []any, text string, args ...any) (found bool) {
	if q.err == nil {
		found, q.err = q.on.Row(into, text, args...)
	}
	return found && q.err == nil
}

// into lists where a row is read to.
func into(columns ...any) []any { return columns }

func (q *Query) each(scan func(Scan) error, text string, args ...any) {
	if q.err == nil {
		q.err = q.on.Each(scan, text, args...)
	}
}

func (q *Query) both(first Statement, scan func(Scan) error, then Statement) {
	if q.err == nil {
		q.err = q.on.Both(first, scan, then)
	}
}

// rowsOf reads rows, each into the columns of a value.
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

// mapOf reads rows of two columns, the first of which is the key.
func mapOf[K comparable, V any](q *Query, found map[K]V, text string, args ...any) {
	q.each(func(scan Scan) error {
		var k K
		var v V
		err := scan(&k, &v)
		found[k] = v
		return err
	}, text, args...)
}

// texts reads a column of texts.
func (q *Query) texts(text string, args ...any) []string { return column[string](q, text, args...) }
