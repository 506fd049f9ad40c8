package postgres

import (
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestUserRotated replaces the user and the password of a store whose calls go on by another user of the
// same owner: no call fails, and after the lifetime of a connection none of the old user is left.
func TestUserRotated(t *testing.T) {
	t.Parallel()
	server := testenv.StartPostgres(t)
	admin, err := pgx.Connect(t.Context(), server.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = admin.Close(t.Context()) })
	do := func(statements ...string) {
		for _, statement := range statements {
			_, err := admin.Exec(t.Context(), statement)
			require.NoError(t, err, statement)
		}
	}
	do("CREATE ROLE owner", "GRANT CREATE, USAGE ON SCHEMA public TO owner", "CREATE ROLE one LOGIN PASSWORD 'first' IN ROLE owner", "ALTER ROLE one SET role TO owner")
	server.RequirePassword("one", "two")
	address := func(user, password string) string {
		u, err := url.Parse(server.URL)
		require.NoError(t, err)
		u.User = url.UserPassword(user, password)
		q := u.Query()
		q.Set("pool_max_conn_lifetime", "200ms")
		q.Set("pool_health_check_period", "50ms")
		u.RawQuery = q.Encode()
		return u.String()
	}
	var current atomic.Pointer[string]
	use := func(user, password string) string {
		text := address(user, password)
		current.Store(&text)
		return text
	}
	require.Error(t, Config{URL: address("one", "wrong")}.reaches(t))
	store, err := New(t.Context(), Config{URL: use("one", "first"), Current: func() string { return *current.Load() }}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	require.NoError(t, store.Migrate(t.Context()))

	var calls sync.WaitGroup
	var made, failed atomic.Int64
	var end atomic.Bool
	for n := range 4 {
		calls.Go(func() {
			for !end.Load() {
				if _, err := store.Follow(t.Context(), "reader", fmt.Sprint("author_", n), time.Now()); err != nil {
					failed.Add(1)
					t.Log(err)
				}
				made.Add(1)
			}
		})
	}
	defer calls.Wait()
	defer end.Store(true)
	connections := func(user string) (n int) {
		require.NoError(t, admin.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1", user).Scan(&n))
		return n
	}
	testenv.WaitFor(t, func() bool { return made.Load() > 20 && connections("one") > 0 }, "calls")
	do("CREATE ROLE two LOGIN PASSWORD 'second' IN ROLE owner", "ALTER ROLE two SET role TO owner") // both are valid
	use("two", "second")
	testenv.WaitFor(t, func() bool { return connections("one") == 0 && connections("two") > 0 }, "the end of the connections of before")
	do("ALTER ROLE one NOLOGIN")
	before := made.Load()
	testenv.WaitFor(t, func() bool { return made.Load() > before+100 }, "calls of the new user alone")
	assert.Zero(t, failed.Load())
}

// reaches returns the error of a connection.
func (cfg Config) reaches(t *testing.T) error {
	ping, err := cfg.Pinger()
	require.NoError(t, err)
	return ping(t.Context())
}
