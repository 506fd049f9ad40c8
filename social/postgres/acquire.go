package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/semaphore"
)

var connectionsRefused = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_postgres_connections_refused_total",
	Help: "Connections refused by PostgreSQL or a pooler because of a connection limit.",
})

const (
	// setAside is how long no connection is opened in the place of one that was refused.
	setAside = 5 * time.Second
	// retryEvery is the pause between attempts to open the only connection.
	retryEvery = 100 * time.Millisecond
	// noneFor is how long a call waits while there is no connection at all, before it fails.
	noneFor = 500 * time.Millisecond
	// countAfter is how long after a refusal the connections are counted for the log: by then those
	// requested at the same time are open or refused.
	countAfter = time.Second
	// logEvery is the minimum time between two such log lines.
	logEvery = 10 * time.Minute
)

// errAllRefused means that this process gets no connection at all.
var errAllRefused = errors.New("the server refuses all connections")

// poolerIsFull are substrings of poolers' messages, which have no error code for it.
var poolerIsFull = []string{"no more connections allowed", "max client", "maxclients"}

// limitReached reports whether a connection was refused because of a limit on their number: of the
// server, the database, the role, or a pooler.
func limitReached(err error) bool {
	var connect *pgconn.ConnectError
	if !errors.As(err, &connect) || errors.Is(err, errAllRefused) {
		return false
	}
	switch code(err) {
	case "":
		return false
	case tooManyConnections, configurationLimit:
		return true
	}
	text := strings.ToLower(err.Error())
	for _, full := range poolerIsFull {
		if strings.Contains(text, full) {
			return true
		}
	}
	return false
}

// connections hands out connections of a pool. If the server allows fewer than the pool may open,
// calls wait for the open ones.
type connections struct {
	pool  *pgxpool.Pool
	seats *semaphore.Weighted // one for each connection that the pool may open
	log   *slog.Logger

	mu      sync.Mutex
	aside   int32 // seats that are out of use for a while, because the server refused their connections
	refusal error // the last; nil after a connection was obtained
	said    time.Time
	left    time.Time // when all connections were last replaced; see leave
}

func newConnections(pool *pgxpool.Pool, log *slog.Logger) *connections {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &connections{pool: pool, seats: semaphore.NewWeighted(int64(pool.Config().MaxConns)), log: log}
}

// acquire waits for a connection until the context ends. release returns it to the pool.
func (c *connections) acquire(ctx context.Context) (conn *pgxpool.Conn, release func(), err error) {
	began := time.Now()
	for {
		if err := c.seat(ctx); err != nil {
			return nil, nil, err
		}
		conn, err := c.pool.Acquire(ctx)
		for limitReached(err) {
			aside := c.putAside(err)
			if aside {
				break
			}
			err = c.wait(ctx, began) // the only seat left: retry its connection
			if err == nil {
				conn, err = c.pool.Acquire(ctx)
			}
		}
		if limitReached(err) {
			continue
		}
		if err != nil {
			c.seats.Release(1)
			return nil, nil, err
		}
		left := onStandby(conn.Conn()) && c.leave(ctx, conn)
		if !left {
			c.noteAccepted()
			return conn, func() { conn.Release(); c.seats.Release(1) }, nil
		}
		conn.Release()
		c.seats.Release(1)
	}
}

// seat waits for a seat.
func (c *connections) seat(ctx context.Context) error {
	if c.seats.TryAcquire(1) {
		return nil
	}
	for {
		turn, cancel := context.WithTimeout(ctx, noneFor)
		err := c.seats.Acquire(turn, 1)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if err := c.checkRefused(); err != nil {
			return err
		}
	}
}

// putAside takes the seat of a refused connection out of use for a while. It returns false for the
// last seat, which must stay in use.
func (c *connections) putAside(refusal error) bool {
	connectionsRefused.Inc()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = refusal
	if time.Since(c.said) > logEvery {
		c.said = time.Now()
		time.AfterFunc(countAfter, func() { c.logRefusal(refusal) })
	}
	if c.aside+1 >= c.pool.Config().MaxConns {
		return false
	}
	c.aside++
	time.AfterFunc(setAside, func() {
		c.mu.Lock()
		c.aside--
		c.mu.Unlock()
		c.seats.Release(1)
	})
	return true
}

func (c *connections) logRefusal(refusal error) {
	s := c.pool.Stat()
	c.log.Warn("PostgreSQL allows fewer connections than pool_max_conns; calls wait for a free one",
		"max_conns", s.MaxConns(), "connections", s.TotalConns()-s.ConstructingConns(), "reason", reason(refusal))
}

// wait pauses before the next attempt to open the only connection.
func (c *connections) wait(ctx context.Context, began time.Time) error {
	if time.Since(began) >= noneFor {
		if err := c.checkRefused(); err != nil {
			return err
		}
	}
	select {
	case <-time.After(retryEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkRefused returns an error if there is no connection to wait for: the server refuses the first
// one.
func (c *connections) checkRefused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.pool.Stat()
	if c.refusal == nil || s.TotalConns() > s.ConstructingConns() {
		return nil
	}
	return fmt.Errorf("%w: %w", errAllRefused, c.refusal)
}

// noteAccepted records that the server accepts connections.
func (c *connections) noteAccepted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = nil
}
