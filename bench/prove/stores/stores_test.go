package stores

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// echo is a server that answers each line by the same line.
func echo(t *testing.T) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
}

// client is a connection through a gate.
type client struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

func dial(t *testing.T, g *Gate) client {
	c, err := net.Dial("tcp", g.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return client{t, c, bufio.NewReader(c)}
}

// says sends a line and returns the answer.
func (c client) says(line string) (string, error) {
	_, err := fmt.Fprintln(c, line)
	if err != nil {
		return "", err
	}
	require.NoError(c.t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	answer, err := c.lines.ReadString('\n')
	return answer, err
}

func newGate(t *testing.T) *Gate {
	g, err := NewGate(t.Context(), echo(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// TestGateCut cuts what is open and refuses what is new, until the fault is over.
func TestGateCut(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	c := dial(t, g)
	answer, err := c.says("first")
	require.NoError(t, err)
	assert.Equal(t, "first\n", answer)

	ctx, over := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- g.Cut(ctx) }()
	_, err = c.lines.ReadString('\n')
	require.ErrorIs(t, err, io.EOF)
	_, err = dial(t, g).says("refused")
	require.Error(t, err)
	over()
	require.NoError(t, <-done)
	answer, err = dial(t, g).says("again")
	require.NoError(t, err)
	assert.Equal(t, "again\n", answer)
}

// TestGateSilence passes nothing on until the fault is over, and loses nothing.
func TestGateSilence(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	c := dial(t, g)
	_, err := c.says("first")
	require.NoError(t, err)

	ctx, over := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- g.Silence(ctx) }()
	testenv.WaitFor(t, func() bool {
		open := g.flow.TryRLock()
		if open {
			g.flow.RUnlock()
		}
		return !open
	}, "the silence")
	_, err = fmt.Fprintln(c, "meanwhile")
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = c.lines.ReadString('\n')
	require.Error(t, err, "nothing can arrive")
	over()
	require.NoError(t, <-done)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	answer, err := c.lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "meanwhile\n", answer)
}

// TestKeysWithoutTTL counts over several pages of SCAN.
func TestKeysWithoutTTL(t *testing.T) {
	t.Parallel()
	_ = testenv.RedisURL(t) // skips where there is no Redis
	r, err := StartRedis(t.Context(), filepath.Join(t.TempDir(), "redis"), "")
	require.NoError(t, err)
	t.Cleanup(r.Kill)
	c := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for n := range 3 * scanned {
			p.Set(t.Context(), fmt.Sprint("ends", n), 1, time.Hour)
		}
		for n := range 7 {
			p.Set(t.Context(), fmt.Sprint("stays", n), 1, 0)
		}
		return nil
	})
	require.NoError(t, err)
	n, err := KeysWithoutTTL(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, 7, n)

	require.NoError(t, r.Restart(t.Context()), "with its file")
	n, err = KeysWithoutTTL(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, 7, n)
}

// TestNoRedisServer reports that there is nothing to run.
func TestNoRedisServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := StartRedis(t.Context(), t.TempDir(), "")
	require.ErrorIs(t, err, ErrNoRedis)
	_, err = StartReplicated(t.Context(), t.TempDir(), "")
	require.ErrorIs(t, err, ErrNoRedis)
}

// TestNothingLeft ends a Redis that did not start.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	_ = testenv.RedisURL(t)
	_, err := StartReplicated(t.Context(), t.TempDir(), "", "loadmodule /no/such/file")
	require.ErrorContains(t, err, "redis-server has ended")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = StartRedis(ctx, t.TempDir(), "")
	require.ErrorIs(t, err, context.Canceled)
}

// TestOwnPostgres keeps what is committed across a kill, and leaves nothing at its end.
func TestOwnPostgres(t *testing.T) {
	t.Parallel()
	_ = testenv.Postgres(t)
	p, err := StartPostgres(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	s, err := NewSchema(t.Context(), p.URL, "one")
	require.NoError(t, err)
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	query := u.Query()
	query.Del("pool_max_conns")
	u.RawQuery = query.Encode()
	exec := func(text string) {
		c, err := pgx.Connect(t.Context(), u.String())
		require.NoError(t, err)
		_, err = c.Exec(t.Context(), text)
		require.NoError(t, err)
		require.NoError(t, c.Close(t.Context()))
	}
	exec("CREATE TABLE stays AS SELECT 1 AS n")
	require.NoError(t, p.Fault().Do(t.Context()))
	exec("INSERT INTO stays VALUES (2)")
	tables, err := s.Tables(t.Context())
	require.NoError(t, err)
	assert.Positive(t, tables["stays"])
	require.NoError(t, s.Drop(t.Context()))
	require.NoError(t, p.Close())
	assert.NoDirExists(t, p.dir)
}
