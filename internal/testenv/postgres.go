package testenv

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgresURL returns the URL of a database of the real PostgreSQL in which the user may create
// schemas.
func PostgresURL(t testing.TB) string {
	t.Helper()
	address := os.Getenv("FRESHET_TEST_POSTGRES")
	if address == "" {
		missing(t, "FRESHET_TEST_POSTGRES", "the URL of a PostgreSQL database (postgres://user@127.0.0.1:5432/freshet)")
	}
	return address
}

// Postgres creates an empty schema for this test in the real PostgreSQL and returns its URL. The
// schema is dropped with its contents when the test ends. A test that needs a store, and not an
// empty schema, is faster with [ReusedPostgres].
func Postgres(t testing.TB) (address string) {
	t.Helper()
	s := newSchema(t)
	t.Cleanup(func() {
		if err := s.remove(context.Background()); err != nil {
			t.Logf("%v is left behind: %v", s, err)
		}
	})
	return s.address
}

// ReusedPostgres is [Postgres] for tests that change no table: the schema may have the tables of an
// earlier test, without its rows. Emptying them takes a fiftieth of the time of the migrations, or
// of CREATE DATABASE with a template.
func ReusedPostgres(t testing.TB) (address string) {
	t.Helper()
	PostgresURL(t)
	return schemas.take(t, "", func() place { return newSchema(t) }).(*schema).address
}

// schema is a schema in the real PostgreSQL.
type schema struct {
	database, name string
	address        string // a URL of the database whose search_path is the schema
}

func newSchema(t testing.TB) *schema {
	t.Helper()
	s := &schema{database: PostgresURL(t), name: strings.ReplaceAll(Unique(), "-", "_")}
	if err := postgresExec(t.Context(), s.database, "CREATE SCHEMA "+s.name); err != nil {
		t.Fatalf("FRESHET_TEST_POSTGRES: %v", err)
	}
	u, err := url.Parse(s.database)
	if err != nil {
		t.Fatalf("FRESHET_TEST_POSTGRES: %v", err)
	}
	q := u.Query()
	q.Set("search_path", s.name)
	u.RawQuery = q.Encode()
	s.address = u.String()
	return s
}

func (s *schema) String() string { return "the schema " + s.name }

// emptySchema waits for transactions that a test has left open, then deletes all rows except those
// that record the applied migrations. TRUNCATE would create new files.
const emptySchema = `DO $$
DECLARE r record;
BEGIN
	PERFORM set_config('lock_timeout', '10s', true);
	FOR r IN SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'freshet_migrations' ORDER BY 1 LOOP
		EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', r.name);
		EXECUTE format('DELETE FROM %I', r.name);
	END LOOP;
	FOR r IN SELECT sequencename AS name, start_value FROM pg_sequences WHERE schemaname = current_schema() AND sequencename NOT LIKE 'freshet_migrations%' LOOP
		PERFORM setval(format('%I', r.name), r.start_value, false);
	END LOOP;
END $$`

func (s *schema) empty(ctx context.Context) error { return postgresExec(ctx, s.address, emptySchema) }

func (s *schema) remove(ctx context.Context) error {
	return postgresExec(ctx, s.database, "DROP SCHEMA "+s.name+" CASCADE")
}

// postgresExec runs one statement on a new connection.
func postgresExec(ctx context.Context, database, text string) error {
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

// LimitedPostgres returns the URL of a database for this test, with a role that may have the given
// number of connections, and a function that changes this number.
func LimitedPostgres(t testing.TB, conns int) (address string, allow func(conns int)) {
	t.Helper()
	admin := PostgresURL(t)
	name := strings.ReplaceAll(Unique(), "-", "_")
	do := func(text string, args ...any) {
		t.Helper()
		if err := postgresExec(context.WithoutCancel(t.Context()), admin, fmt.Sprintf(text, args...)); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE ROLE %s LOGIN CONNECTION LIMIT %d", name, conns)
	t.Cleanup(func() { do("DROP ROLE %s", name) })
	do("CREATE DATABASE %s OWNER %[1]s", name)
	t.Cleanup(func() { do("DROP DATABASE %s WITH (FORCE)", name) })
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", "public") // callers add parameters
	u.User, u.Path, u.RawQuery = url.User(name), "/"+name, q.Encode()
	return u.String(), func(conns int) { do("ALTER ROLE %s CONNECTION LIMIT %d", name, conns) }
}
