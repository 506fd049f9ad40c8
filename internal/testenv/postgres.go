package testenv

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgresURL is the address of the real PostgreSQL, of a database in which the
// user may make schemas.
func PostgresURL(t testing.TB) string {
	t.Helper()
	address := os.Getenv("FRESHET_TEST_POSTGRES")
	if address == "" {
		missing(t, "FRESHET_TEST_POSTGRES", "the URL of a PostgreSQL database (postgres://user@127.0.0.1:5432/freshet)")
	}
	return address
}

// Postgres makes an empty schema of this test's own in the real PostgreSQL and
// returns the URL that leads there. The schema is dropped, with all that is in
// it, when the test ends.
func Postgres(t testing.TB) (address string) {
	t.Helper()
	return PostgresAt(t, PostgresURL(t))
}

// PostgresAt is [Postgres] in another database.
func PostgresAt(t testing.TB, database string) (address string) {
	t.Helper()
	schema := strings.ReplaceAll(Unique(), "-", "_")
	if err := postgresExec(database, "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("FRESHET_TEST_POSTGRES: %v", err)
	}
	t.Cleanup(func() {
		if err := postgresExec(database, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Logf("the schema %s is left behind: %v", schema, err)
		}
	})
	u, err := url.Parse(database)
	if err != nil {
		t.Fatalf("FRESHET_TEST_POSTGRES: %v", err)
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// postgresExec runs one statement on a connection of its own.
func postgresExec(database, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	if _, err := c.Exec(ctx, text); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}
