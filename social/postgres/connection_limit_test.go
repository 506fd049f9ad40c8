package postgres_test

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestConnectionLimitBelowPool checks a server that allows fewer connections than the store
// may open: calls wait for one of them, and one line of the log has both numbers.
func TestConnectionLimitBelowPool(t *testing.T) {
	address, _ := testenv.LimitedPostgres(t, 2)
	log := make(lines, 10)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: address + "&pool_max_conns=12", Log: slog.New(slog.NewTextHandler(log, nil))}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for range 3 {
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				_, err := s.Follow(t.Context(), fmt.Sprint("fan", i), "star", zero)
				assert.NoError(t, err)
				_, err = s.Pull(t.Context(), social.PullQuery{Reader: fmt.Sprint("fan", i), N: 1})
				assert.NoError(t, err)
				assert.NoError(t, s.Ping(t.Context()))
			})
		}
		group.Wait()
	}
	require.Contains(t, <-log, "max_conns=12 connections=2")
	require.Empty(t, log)
	r, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, r.ServerConns, "what the role may have")
}

// TestConnectionLimitReached checks that the database is unavailable while the store has no
// connection at all, and that calls succeed again as soon as it gets one.
func TestConnectionLimitReached(t *testing.T) {
	address, allow := testenv.LimitedPostgres(t, 2)
	s, err := postgres.New(t.Context(), postgres.Config{URL: address + "&pool_max_conns=4"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	var held []*pgx.Conn
	for range 2 {
		conn, err := pgx.Connect(t.Context(), address)
		require.NoError(t, err)
		held = append(held, conn)
	}
	err = s.Migrate(t.Context())
	require.ErrorIs(t, err, social.ErrUnavailable)
	require.ErrorContains(t, err, "no connection left")
	require.NoError(t, held[0].Close(t.Context()))
	testenv.WaitFor(t, func() bool { return s.Migrate(t.Context()) == nil }, "the migration")
	require.NoError(t, s.Ping(t.Context()))

	allow(0)
	script(t, testenv.PostgresURL(t), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '`+strings.TrimPrefix(mustParse(t, address).Path, "/")+`'`)
	testenv.WaitFor(t, func() bool {
		err = s.Ping(t.Context())
		return err != nil && strings.Contains(err.Error(), "no connection left")
	}, "the limit")
	require.True(t, postgres.Unreachable(err), "nothing there to wait for")
	allow(1)
	began := make(chan error, 8)
	for range cap(began) {
		go func() { began <- s.Ping(t.Context()) }()
	}
	for range cap(began) {
		require.NoError(t, <-began)
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}
