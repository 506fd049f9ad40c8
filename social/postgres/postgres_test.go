package postgres_test

import (
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/jobs/jobstest"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/socialtest"
)

// conns is how many connections a test takes: the server has a hundred, and
// other tests run beside.
const conns = 6

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

func open(t testing.TB, url string, opts social.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: conns}, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestQueue(t *testing.T) {
	jobstest.Run(t, func(t *testing.T, opts social.Options) jobs.Queue {
		return open(t, testenv.ReusedPostgres(t), opts)
	})
}

func TestADamagedRow(t *testing.T) {
	url := testenv.ReusedPostgres(t)
	s := open(t, url, social.Options{})
	socialtest.Damaged(t, s, func(post, content string) {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), `UPDATE posts SET content = $1 WHERE id = $2`, content, post)
		require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	})
	_, err := s.PostsByID(t.Context(), []string{"post:bad"})
	require.False(t, postgres.Unreachable(err), "no reason for a breaker to open")
	_, err = s.List(t.Context(), jobs.Filter{Key: "\x00"})
	require.ErrorIs(t, err, social.ErrDamaged, "PostgreSQL refuses the value")
}

// place is a schema.
type place struct {
	t    *testing.T
	url  string
	opts social.Options
}

func (p place) Open() socialtest.Backend { return open(p.t, p.url, p.opts) }

func (p place) Close(b socialtest.Backend) { require.NoError(p.t, b.(*postgres.Store).Close()) }

func TestStore(t *testing.T) {
	socialtest.Run(t, func(t *testing.T, opts social.Options) socialtest.Place {
		return place{t, testenv.ReusedPostgres(t), opts}
	})
}
