package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/freshet/freshet/internal/rowsum"
)

// Copy copies one state of the file at path into a new file, which only its owner can read, while
// other processes may read and write it. The copy is one file, without a write-ahead log. The file
// must exist; to must not. After an error there may be a part of the copy.
func Copy(ctx context.Context, path, to string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy %s: %w", path, Advised(err))
		}
	}()
	if err := checkLog(path); err != nil {
		return err
	}
	// SQLite writes the copy into an empty file, but would leave the mode of a new one to the umask.
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := Connect(path, "rw", "synchronous(FULL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, to)
	return err
}

// Contents returns the rows of each table of the file at path, as one state of it, and the version of its
// schema, 0 if the file does not say. It changes nothing.
func Contents(ctx context.Context, path string) (tables map[string]rowsum.Sum, version int, err error) {
	db, err := ReadOnly(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, Advised(err))
	}
	defer func() { _ = tx.Rollback() }()
	tables, version, err = contents(ctx, tx)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, Advised(err))
	}
	return tables, version, nil
}

func contents(ctx context.Context, tx *sql.Tx) (map[string]rowsum.Sum, int, error) {
	var version int
	if err := tx.QueryRowContext(ctx, `SELECT user_version FROM pragma_user_version`).Scan(&version); err != nil {
		return nil, 0, err
	}
	var names []string
	rows, err := tx.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence') ORDER BY name`)
	for row := range Rows(rows, &err) {
		var name string
		err = row.Scan(&name)
		names = append(names, name)
	}
	if err != nil {
		return nil, 0, err
	}
	tables := map[string]rowsum.Sum{}
	for _, name := range names {
		sum, err := sumOf(ctx, tx, name)
		if err != nil {
			return nil, 0, fmt.Errorf("table %s: %w", name, err)
		}
		tables[name] = sum
	}
	return tables, version, nil
}

// sumOf reads a table, whose name is from the schema.
func sumOf(ctx context.Context, tx *sql.Tx, table string) (sum rowsum.Sum, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT * FROM "`+table+`"`)
	if err != nil {
		return sum, err
	}
	columns, err := rows.Columns()
	if err != nil {
		return sum, errors.Join(err, rows.Close())
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var buf []byte
	for row := range Rows(rows, &err) {
		err = row.Scan(into...)
		buf = rowsum.Append(buf[:0], values...)
		sum.Add(buf)
	}
	return sum, err
}

// ReadOnly returns connections to the file at path that change nothing. A file that is not open elsewhere
// must not be opened elsewhere meanwhile.
func ReadOnly(path string) (*sql.DB, error) {
	if err := checkLog(path); err != nil {
		return nil, err
	}
	address, err := readOnlyURL(path)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", address)
}

// Newest reports whether a schema version is the newest that this program knows.
func (s *Schema) Newest(version int) bool { return version == len(s.Migrations) }
