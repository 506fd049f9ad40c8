package postgres_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/jobs/jobstest"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/socialtest"
)

// pooled are the modes of PgBouncer with the parameter of the URL that docs/production.md names for each.
var pooled = map[string]string{"transaction": "default_query_exec_mode=exec", "session": "application_name=freshet"}

// TestPgBouncer runs the suites of the store through PgBouncer. In session mode, in which each connection
// is one of PostgreSQL's, that of the queue alone.
func TestPgBouncer(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.Full(t, "poolers")
	for mode, parameter := range pooled {
		t.Run(mode, func(t *testing.T) {
			server := testenv.StartPostgres(t)
			b := testenv.StartPgBouncer(t, server, "pool_mode = "+mode, "default_pool_size = 6", "max_client_conn = 500")
			s, err := postgres.Open(t.Context(), postgres.Config{URL: b.URL("", parameter)}, social.Options{}) // migrates
			require.NoError(t, err)
			require.NoError(t, s.Close())
			empty := func(t *testing.T) (address string) { return b.URL(b.Database(t, server), parameter) }
			if mode == "transaction" {
				t.Run("store", func(t *testing.T) {
					socialtest.Run(t, func(t *testing.T, opts social.Options) socialtest.Place { return place{t, empty(t), opts} })
				})
			}
			jobstest.Run(t, func(t *testing.T, opts social.Options) jobs.Queue { return open(t, empty(t), opts) })
		})
	}
}

// TestPgBouncerPrepares checks which poolers are advised not to get prepared statements: those that
// do not prepare them on each connection themselves, as PgBouncer 1.21 and newer do.
func TestPgBouncerPrepares(t *testing.T) {
	t.Parallel()
	testenv.Full(t, "poolers")
	b := testenv.StartPgBouncer(t, testenv.StartPostgres(t), "pool_mode = transaction", "default_pool_size = 3")
	report := func(parameter string) postgres.Report {
		s, err := postgres.New(t.Context(), postgres.Config{URL: b.URL("", parameter, "pool_max_conns=2")}, social.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		r, err := s.Check(t.Context())
		require.NoError(t, err)
		require.True(t, r.Pooled)
		return r
	}
	require.False(t, report(pooled["transaction"]).Prepares)
	require.Equal(t, !b.Prepares(), report("application_name=freshet").Prepares)
}

// TestPgBouncerIsFull has a PgBouncer that takes fewer clients than servers may open connections: calls
// wait for the open ones, and the log has both numbers. Where it takes none, the error says what to do.
func TestPgBouncerIsFull(t *testing.T) {
	t.Parallel()
	testenv.Full(t, "poolers")
	b := testenv.StartPgBouncer(t, testenv.StartPostgres(t), "pool_mode = transaction", "default_pool_size = 2", "max_client_conn = 3")
	log := make(lines, 100)
	s, err := postgres.Open(t.Context(), postgres.Config{
		URL: b.URL("", pooled["transaction"], "pool_max_conns=12"), Log: slog.New(slog.NewTextHandler(log, nil)),
	}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for range 3 {
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				_, err := s.Follow(t.Context(), fmt.Sprint("fan", i), "star", zero)
				assert.NoError(t, err)
				assert.NoError(t, s.Ping(t.Context()))
			})
		}
		group.Wait()
	}
	require.Contains(t, <-log, "max_conns=12 connections=3")
	other, err := postgres.New(t.Context(), postgres.Config{URL: b.URL("", pooled["transaction"])}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	err = other.Migrate(t.Context())
	require.ErrorIs(t, err, social.ErrUnavailable)
	require.ErrorContains(t, err, "raise its max_client_conn")
}

// TestPgBouncerRefuses has what operators get wrong with PgBouncer, each with the advice.
func TestPgBouncerRefuses(t *testing.T) {
	t.Parallel()
	testenv.Full(t, "poolers")
	b := testenv.StartPgBouncer(t, testenv.StartPostgres(t), "pool_mode = transaction")
	for name, tt := range map[string]struct{ address, advice string }{
		"search_path":          {b.URL("", "search_path=public"), "use ALTER ROLE … SET search_path"},
		"an unknown database":  {b.URL("nowhere"), "create it"},
		"a wrong password":     {strings.Replace(b.URL(""), "rd@127", "x@127", 1), "or the pooler's auth_file"},
		"an unknown user":      {strings.Replace(b.URL(""), "freshet_pooled:", "somebody:", 1), "or the pooler's auth_file"},
		"TLS that it does not": {strings.Replace(b.URL(""), "sslmode=disable", "sslmode=require", 1), "correct sslmode"},
	} {
		s, err := postgres.New(t.Context(), postgres.Config{URL: tt.address}, social.Options{})
		require.NoError(t, err, name)
		_, err = s.Check(t.Context())
		assert.ErrorIs(t, err, social.ErrUnavailable, name)
		assert.ErrorContains(t, err, tt.advice, name)
		require.NoError(t, s.Close())
	}
}
