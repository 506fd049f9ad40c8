package postgres_test

import (
	"os"
	"testing"

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
