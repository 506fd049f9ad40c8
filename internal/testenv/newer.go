package testenv

import (
	"database/sql"
	"fmt"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// NewerSQLite turns a SQLite file of this version into one of the next version: every table has an
// additional column, there is another table, and the file states that programs that are at least
// oldest versions newer than this one can use it (0: this one, 1: only newer ones).
func NewerSQLite(t testing.TB, path string, oldest int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var version int
	if err := db.QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	statements := []string{
		`CREATE TABLE later (id TEXT PRIMARY KEY)`,
		fmt.Sprintf(`UPDATE freshet_schema SET oldest = %d`, version+oldest),
		fmt.Sprintf(`PRAGMA user_version = %d`, version+1),
	}
	rows, err := db.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		statements = append(statements, fmt.Sprintf(`ALTER TABLE %q ADD COLUMN later TEXT NOT NULL DEFAULT 'later'`, table))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
