package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/sqlstore"
)

// querying runs prepared statements, in one transaction or each separately.
type querying struct {
	ctx     context.Context
	prepare func(context.Context, string) (*sql.Stmt, error)
}

var _ sqlstore.Writing = querying{}

// use prepares a statement and converts its arguments for the driver. Lists become JSON, except
// single elements that are compared as strings.
func (q querying) use(text string, args []any) (stmt *sql.Stmt, values []any, err error) {
	f := rewrite(text)
	plain, one := true, f.one != ""
	for _, arg := range args {
		switch arg := arg.(type) {
		case []string:
			plain, one = false, one && len(arg) == 1
		case sqlstore.List, sqlstore.Table, sqlstore.Named:
			plain = false
		}
	}
	form := f.many
	if one {
		form = f.one
	}
	if !plain {
		args = arguments(args, one)
	}
	stmt, err = q.prepare(q.ctx, form)
	return stmt, args, err
}

// Exec returns how many rows a statement changed.
func (q querying) Exec(text string, args ...any) (changed int64, err error) {
	stmt, values, err := q.use(text, args)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(q.ctx, values...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Later is All: there is no round trip to save.
func (q querying) Later(r sqlstore.Reading) error { return q.All(r) }

// Row reads one row and reports whether there is one.
func (q querying) Row(into []any, text string, args ...any) (found bool, err error) {
	err = q.Each(sqlstore.First(into, &found, text, args...))
	return found && err == nil, err
}

// Each reads all rows.
func (q querying) Each(r sqlstore.Reading) error {
	stmt, values, err := q.use(r.Text, r.Args)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(q.ctx, values...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	read := func(into ...any) error { return rows.Scan(columns(into)...) }
	for rows.Next() {
		if err := r.Scan(read); err != nil {
			return sqlstore.Damaged(err)
		}
	}
	return rows.Err()
}

// All runs statements one after another.
func (q querying) All(readings ...sqlstore.Reading) (err error) {
	for _, r := range readings {
		switch {
		case r.Text == "":
		case r.Scan == nil:
			_, err = q.Exec(r.Text, r.Args...)
		default:
			err = q.Each(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// columns converts the destinations of a row for the driver.
func columns(into []any) []any {
	for i := range into {
		if list, ok := into[i].(*[]string); ok {
			into[i] = (*texts)(list)
		}
	}
	return into
}

// texts is a list in a column: JSON, or "" for none.
type texts []string

// Scan implements [sql.Scanner].
func (l *texts) Scan(from any) error {
	raw, ok := from.(string)
	switch {
	case !ok:
		return fmt.Errorf("a list is damaged: it is a %T", from)
	case raw == "":
		*l = nil
		return nil
	}
	if err := json.Unmarshal([]byte(raw), (*[]string)(l)); err != nil {
		return fmt.Errorf("a list is damaged: %w", err)
	}
	return nil
}

// arguments converts the arguments of a statement for the driver. A table is JSON in the place of
// its first column; the others stay empty.
func arguments(args []any, one bool) []any {
	out := make([]any, 0, len(args)+3)
	for _, arg := range args {
		switch arg := arg.(type) {
		case []string:
			if one {
				out = append(out, arg[0])
			} else {
				out = append(out, list(sqlstore.Table{arg}))
			}
		case sqlstore.List:
			if len(arg) == 0 {
				out = append(out, "")
			} else {
				out = append(out, list(sqlstore.Table{[]string(arg)}))
			}
		case sqlstore.Table:
			out = append(append(out, list(arg)), make([]any, len(arg)-1)...)
		case sqlstore.Named:
			for name, value := range arg {
				out = append(out, sql.Named(name, arguments([]any{value}, false)[0]))
			}
		default:
			out = append(out, arg)
		}
	}
	return out
}

// list returns a table as JSON: of one column its values, of more a list for each row.
func list(t sqlstore.Table) string {
	var n int
	switch first := t[0].(type) {
	case []string:
		n = len(first)
	case []int64:
		n = len(first)
	}
	b := append(make([]byte, 0, 32*n*len(t)), '[')
	for row := range n {
		if row > 0 {
			b = append(b, ',')
		}
		if len(t) > 1 {
			b = append(b, '[')
		}
		for i, column := range t {
			if i > 0 {
				b = append(b, ',')
			}
			switch column := column.(type) {
			case []string:
				b = feed.AppendString(b, column[row])
			case []int:
				b = strconv.AppendInt(b, int64(column[row]), 10)
			case []int64:
				b = strconv.AppendInt(b, column[row], 10)
			}
		}
		if len(t) > 1 {
			b = append(b, ']')
		}
	}
	return string(append(b, ']'))
}
