package postgres_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/jobs/jobstest"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/socialtest"
)

// conns limits the connections of a test: the server allows a hundred, and other tests run in
// parallel.
const conns = "&pool_max_conns=6"

// forPoolers are the parameters of a connection through a pooler: with exec the driver sends arguments
// without knowing the types of the parameters.
const forPoolers = "&default_query_exec_mode=exec"

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

func open(t testing.TB, url string, opts social.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url + conns}, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestQueue(t *testing.T) {
	for _, mode := range []string{"", forPoolers} {
		t.Run("queue"+mode, func(t *testing.T) {
			jobstest.Run(t, func(t *testing.T, opts social.Options) jobs.Queue {
				return open(t, testenv.ReusedPostgres(t)+mode, opts)
			})
		})
	}
}

// TestDocumentedReferencesEnd checks all columns of the database that can hold ids.
func TestDocumentedReferencesEnd(t *testing.T) {
	socialtest.CheckReferences(t, columnsOf(t, "text", "ARRAY"), "../../docs/security.md")
}

// TestDocumentedStampsOrdered checks all columns of the database that can hold times.
func TestDocumentedStampsOrdered(t *testing.T) {
	socialtest.CheckStamps(t, columnsOf(t, "bigint"), "../../docs/decisions/order.md")
}

// columnsOf lists the columns of some types, as "table.column".
func columnsOf(t *testing.T, types ...string) []string {
	t.Helper()
	url := testenv.ReusedPostgres(t)
	open(t, url, social.Options{})
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	rows, err := conn.Query(t.Context(), `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND data_type = ANY ($1)`, types)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	return columns
}

func TestDamagedRow(t *testing.T) {
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

// TestQueueUsesDatabaseClock checks that servers with wrong clocks mark, lease, fail and
// repeat jobs like all others.
func TestQueueUsesDatabaseClock(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"ahead": 30 * time.Minute, "a little ahead": 20 * time.Second, "behind": -30 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			url, ctx := testenv.ReusedPostgres(t), t.Context()
			off := open(t, url, social.Options{Clock: func() time.Time { return time.Now().Add(wrong) }, KeepJobs: true})
			right := open(t, url, social.Options{KeepJobs: true})
			lease := func(s *postgres.Store) (keys []string) {
				list, err := s.Lease(ctx, 10, time.Minute, jobs.Deliver)
				require.NoError(t, err)
				for _, j := range list {
					keys = append(keys, j.Key)
					require.Less(t, j.Waited, jobs.Overdue)
				}
				return keys
			}
			mark := func(s *postgres.Store, d jobs.Spec) { require.NoError(t, s.Enqueue(ctx, d)) }
			p, _, err := off.CreatePost(ctx, social.Post{Author: "a", Caption: "x", Audience: social.Audience{Public: true}}, social.Creation{})
			require.NoError(t, err)
			require.Equal(t, []string{p.ID}, lease(right), "it waits for no clock")
			mark(right, jobs.Spec{Kind: jobs.Deliver, Key: "post:right"})
			mark(right, jobs.Spec{Kind: jobs.Deliver, Key: "post:later", After: time.Minute})
			mark(off, jobs.Spec{Kind: jobs.Deliver, Key: "post:later", After: time.Minute})
			require.Equal(t, []string{"post:right"}, lease(off), "what others have leased stays theirs, and later is later")
			require.Empty(t, lease(right))
			ages, err := off.Ages(ctx)
			require.NoError(t, err)
			require.Less(t, ages.Oldest, jobs.Overdue)
			begin := time.Now()
			done, err := right.List(ctx, jobs.Filter{Key: p.ID, Kind: jobs.Deliver})
			require.NoError(t, err)
			ends, err := right.Done(ctx, done[0])
			require.NoError(t, err)
			require.Equal(t, []jobs.State{jobs.Completed}, ends)
			n, err := off.Reenqueue(ctx, begin.Add(wrong).Add(-10*time.Second), jobs.Deliver)
			require.NoError(t, err)
			require.Equal(t, 2, n, "what was completed since a moment of the wrong clock, and what runs")
			n, err = off.Sweep(ctx, 10)
			require.NoError(t, err)
			require.Zero(t, n)
		})
	}
}

type place struct {
	t    *testing.T
	url  string
	opts social.Options
}

func (p place) Open() socialtest.Backend { return open(p.t, p.url, p.opts) }

func (p place) Close(b socialtest.Backend) { require.NoError(p.t, b.(*postgres.Store).Close()) }

// TestQueueLeaseEndsByDatabaseClock leases a job whose lease has ended, by the clock of the database, by
// which a store does not look for such leases each time.
func TestQueueLeaseEndsByDatabaseClock(t *testing.T) {
	t.Parallel()
	s := open(t, testenv.Postgres(t), social.Options{})
	ctx := t.Context()
	require.NoError(t, s.Enqueue(ctx, jobs.Spec{Kind: jobs.Deliver, Key: "post:a"}))
	first, err := s.Lease(ctx, 1, time.Millisecond)
	require.NoError(t, err)
	require.Len(t, first, 1)
	testenv.WaitFor(t, func() bool {
		again, err := s.Lease(ctx, 1, time.Hour)
		require.NoError(t, err)
		return len(again) == 1 && again[0].ID == first[0].ID && again[0].Attempts == 2
	}, "the second lease")
}

func TestStore(t *testing.T) { socialtest.Run(t, in("")) }

// TestLimits is left to the full run: the limits are those of sqlstore, which SQLite's tests check.
func TestLimits(t *testing.T) {
	testenv.Full(t, "models")
	socialtest.RunLimits(t, in(""))
}

func TestModels(t *testing.T) {
	testenv.WithoutRace(t)
	socialtest.RunModels(t, in(""))
}

// TestStoreBehindPooler checks the parameters of the connection that poolers need.
func TestStoreBehindPooler(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.Full(t, "models")
	socialtest.Run(t, in(forPoolers))
}

// in returns empty places with further parameters of the connection.
func in(parameters string) socialtest.New {
	return func(t *testing.T, opts social.Options) socialtest.Place {
		return place{t, testenv.ReusedPostgres(t) + parameters, opts}
	}
}
