package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/freshet/freshet/social/sqlstore"
)

// querying runs prepared statements, of one transaction or each by itself.
type querying struct {
	ctx     context.Context
	prepare func(context.Context, string) (*sql.Stmt, error)
}

var _ sqlstore.Writing = querying{}

// forms are the texts of a statement in SQLite. one is for a list of texts that has a
// single element, which most have: it needs no table of them. It is "" where the
// statement reads the list in another way, too. A table is read as JSON, or the
// statement is run for each of its rows.
type forms struct {
	many, one string
	json      bool
}

var (
	known  sync.Map // forms of statements
	oneOf  = regexp.MustCompile(`= ANY \((\$\d+)\)`)
	asRows = regexp.MustCompile(`FROM unnest\((\$\d+)::text\[\]\) j \(value\)`)

	parameter = regexp.MustCompile(`\$\d+`)
)

// rewrite makes a statement of the store SQLite's. Lists are JSON. It says LIMIT +$1 and
// not LIMIT $1: SQLite compiles a statement anew for each value of a bare parameter there.
func rewrite(text string) forms {
	if f, ok := known.Load(text); ok {
		return f.(forms)
	}
	limited := strings.ReplaceAll(text, `LIMIT $`, `LIMIT +$`)
	f := forms{many: oneOf.ReplaceAllString(limited, `IN (SELECT value FROM json_each($1))`), json: strings.Contains(text, "json_each")}
	f.many = asRows.ReplaceAllString(f.many, `FROM json_each($1) j`)
	if oneOf.MatchString(limited) && !f.json && !asRows.MatchString(text) {
		f.one = oneOf.ReplaceAllString(limited, `= $1`)
	}
	f.many, f.one = numbered(f.many), numbered(f.one)
	known.Store(text, f)
	return f
}

// numbered leaves out the numbers of parameters that stand once each, in their order: the
// driver binds those faster.
func numbered(text string) string {
	for i, number := range parameter.FindAllString(text, -1) {
		if number != fmt.Sprintf("$%d", i+1) {
			return text
		}
	}
	return parameter.ReplaceAllString(text, "?")
}

// use is a prepared statement, and how it takes its arguments.
type use struct {
	*sql.Stmt
	json, one bool
	plain     bool // the driver takes the arguments as they are
	times     int  // how often it is run: once, or for each row of a table
}

func (q querying) use(text string, args []any) (u use, err error) {
	f := rewrite(text)
	u = use{json: f.json, one: f.one != "", plain: true, times: 1}
	for _, arg := range args {
		switch arg := arg.(type) {
		case []string:
			u.plain, u.one = false, u.one && len(arg) == 1
		case sqlstore.Table:
			if u.plain = false; !f.json {
				u.times = length(arg[0])
			}
		case sqlstore.List, sqlstore.Named:
			u.plain = false
		}
	}
	form := f.many
	if u.one {
		form = f.one
	}
	u.Stmt, err = q.prepare(q.ctx, form)
	return u, err
}

// Exec returns how many rows a statement changed.
func (q querying) Exec(text string, args ...any) (changed int64, err error) {
	u, err := q.use(text, args)
	for i := 0; i < u.times && err == nil; i++ {
		var res sql.Result
		var n int64
		if res, err = u.ExecContext(q.ctx, u.arguments(args, i)...); err == nil {
			n, err = res.RowsAffected()
		}
		changed += n
	}
	return changed, err
}

// Later is Exec: there is no trip to save.
func (q querying) Later(text string, args ...any) error {
	_, err := q.Exec(text, args...)
	return err
}

// Row reads one row and says whether there is one.
func (q querying) Row(into []any, text string, args ...any) (bool, error) {
	u, err := q.use(text, args)
	found := false
	if err == nil {
		err = u.each(q.ctx, func(scan sqlstore.Scan) error {
			if found { // only the first row is asked for
				return nil
			}
			found = true
			return scan(into...)
		}, u.arguments(args, 0))
	}
	return found && err == nil, err
}

// Each calls scan for each row.
func (q querying) Each(scan func(sqlstore.Scan) error, text string, args ...any) error {
	u, err := q.use(text, args)
	for i := 0; i < u.times && err == nil; i++ {
		err = u.each(q.ctx, scan, u.arguments(args, i))
	}
	return err
}

func (u use) each(ctx context.Context, scan func(sqlstore.Scan) error, args []any) error {
	rows, err := u.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	read := func(into ...any) error { return rows.Scan(columns(into)...) }
	for rows.Next() {
		if err := scan(read); err != nil {
			return sqlstore.Damaged(err)
		}
	}
	return rows.Err()
}

// Both runs a statement, if there is one, and then another.
func (q querying) Both(first sqlstore.Statement, scan func(sqlstore.Scan) error, then sqlstore.Statement) error {
	if first.Text != "" {
		if _, err := q.Exec(first.Text, first.Args...); err != nil {
			return err
		}
	}
	return q.Each(scan, then.Text, then.Args...)
}

// columns are where a row is read to, as the driver takes it.
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

// arguments are those of a statement as the driver takes them, for a row of a table. Lists
// are JSON, but for those that are compared with as one text.
func (u use) arguments(args []any, row int) []any {
	if u.plain {
		return args
	}
	out := make([]any, 0, len(args)+3)
	for _, arg := range args {
		switch arg := arg.(type) {
		case []string:
			if u.one {
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
			if u.json {
				out = append(out, list(arg))
				continue
			}
			for _, column := range arg {
				out = append(out, cell(column, row))
			}
		case sqlstore.Named:
			for name, value := range arg {
				out = append(out, sql.Named(name, use{json: true}.arguments([]any{value}, 0)[0]))
			}
		default:
			out = append(out, arg)
		}
	}
	return out
}

func length(column any) int {
	if ids, ok := column.([]int64); ok {
		return len(ids)
	}
	return len(column.([]string))
}

func cell(column any, row int) any {
	switch column := column.(type) {
	case []string:
		return column[row]
	case []int:
		return column[row]
	default:
		return column.([]int64)[row]
	}
}

// list is a table in JSON: of one column its values, of more a list for each row.
func list(t sqlstore.Table) string {
	n := length(t[0])
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
				b = appendText(b, column[row])
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

// appendText appends a text in JSON.
func appendText(b []byte, s string) []byte {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			raw, err := json.Marshal(s)
			if err != nil { // of a text there is none
				panic(err)
			}
			return append(b, raw...)
		}
	}
	b = append(append(b, '"'), s...)
	return append(b, '"')
}
