// Package postgres implements the social store and its queue in a PostgreSQL database: both
// contracts, for any number of servers.
//
// Every write is one transaction, with its jobs. Transactions are READ COMMITTED and take their
// locks before they read the data for their decisions, in one order: circles, agents, posts, rows
// of the queue, each by key. So a write sees everything committed before its turn, and two never
// deadlock. One that PostgreSQL aborts nevertheless is retried.
//
// A server can start while the database is down: [New] does not connect, and until [Store.Migrate]
// has succeeded once, every other method returns [social.ErrUnavailable].
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/certificates"
	"github.com/freshet/freshet/internal/repeatable"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/sqlstore"
)

// Config configures a [Store]. Zero fields mean the defaults.
type Config struct {
	// URL is postgres://user:password@host:port/database?sslmode=…, with the other parameters of
	// libpq, target_session_attrs and several hosts among them, and pool_max_conns, the maximum number
	// of connections of this process; default 20. A connection is replaced after five to six minutes,
	// or pool_max_conn_lifetime. The tables are in the first schema of its search_path.
	URL string
	// Current returns the current URL; each new connection takes user, password and certificates
	// from it. Nil means URL.
	Current func() string
	// Guard runs a call, or refuses it with an error; kind is "read" or "write". It may end the
	// call's context before the caller's. Nil means that all calls run.
	Guard func(ctx context.Context, kind string, call func(context.Context) error) error
	// Log gets a warning if the server allows fewer connections than pool_max_conns, and while a
	// migration waits. Nil disables it.
	Log *slog.Logger
	// Waits is told why a migration waits, an [ErrWaits], each time that this is logged. Nil means that
	// nobody asks.
	Waits func(error)
}

const (
	defaultConns   = 20
	connectTimeout = 5 * time.Second
)

// Store is a social store and its queue in one database. It is safe for concurrent use.
type Store struct {
	*sqlstore.Store
	db        *database
	clock     feed.Clock
	validator *validator
	// unanswered returns the addresses that did not answer lately, although they are the database's.
	unanswered func() []string
}

var (
	_ social.Store = (*Store)(nil)
	_ jobs.Queue   = (*Store)(nil)
)

// New returns a store without connecting to the database. It returns an error for an invalid
// configuration, which contains no password.
func New(ctx context.Context, cfg Config, opts social.Options) (*Store, error) {
	c, d, err := cfg.poolConfig()
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), c)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s := newStore(newDatabase(pool, cfg), opts)
	s.unanswered = d.unanswered
	return s, nil
}

func newDatabase(pool *pgxpool.Pool, cfg Config) *database {
	share := max(1, int64(pool.Config().MaxConns)/snapshotShare)
	return &database{connections: newConnections(pool, cfg.Log), guard: cfg.Guard, waits: cfg.Waits, snapshots: semaphore.NewWeighted(share)}
}

func newStore(d *database, opts social.Options) *Store {
	d.clock = opts.WithDefaults().Clock
	s := &Store{Store: sqlstore.New(d, &dialect, opts), db: d, clock: d.clock}
	s.validator = newValidator(s)
	return s
}

// Check checks the URL and the files that it names. The error contains no password.
func (cfg Config) Check() error {
	_, err := cfg.pool()
	return err
}

func (cfg Config) pool() (*pgxpool.Config, error) {
	c, _, err := cfg.poolConfig()
	return c, err
}

// poolConfig returns the configuration of a pool, and the dialer of its connections.
func (cfg Config) poolConfig() (*pgxpool.Config, *dialer, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		// The parser's error would show the password.
		return nil, nil, errors.New("its URL must look like postgres://user:password@host:5432/database")
	}
	for _, name := range []string{"sslrootcert", "sslcert", "sslkey", "passfile"} {
		if err := repeatable.Check(u.Query().Get(name)); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	c, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, nil, explainFiles(err, u.Query())
	}
	if !u.Query().Has("pool_max_conns") {
		c.MaxConns = defaultConns
	}
	if !u.Query().Has("pool_max_conn_lifetime") {
		c.MaxConnLifetime, c.MaxConnLifetimeJitter = connLifetime, connLifetimeJitter
	}
	c.MinConns, c.MinIdleConns = 0, 0
	fresh := &renewal{cfg: cfg}
	fresh.last.Store(c.ConnConfig)
	d := newDialer(c.ConnConfig, cfg.Log)
	c.AfterConnect = noteOpened
	c.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		err := fresh.renew(ctx, c)
		d.order(c)
		return err
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectTimeout
	}
	c.ConnConfig.RuntimeParams["client_encoding"] = "UTF8" // whatever the role or the database has
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "freshet"
	}
	return c, d, nil
}

// explainFiles appends to an error of the URL which of the files that it names cannot be used, and why.
func explainFiles(err error, parameters url.Values) error {
	root, cert, key := parameters.Get("sslrootcert"), parameters.Get("sslcert"), parameters.Get("sslkey")
	if root != "" && root != "system" {
		why := certificates.NoAuthority(root)
		if why != nil && !errors.Is(why, os.ErrNotExist) {
			return fmt.Errorf("%w: sslrootcert: %w", err, why)
		}
	}
	if cert != "" && key != "" {
		return certificates.Explain(err, cert, key)
	}
	return err
}

// renewal gives new connections what the files contain that may have changed since the start.
type renewal struct {
	cfg  Config
	last atomic.Pointer[pgx.ConnConfig] // read without an error
}

// renew gives a new connection the current user, password and certificates. While a file cannot be
// read, they are the last ones that could: it may be half written.
func (r *renewal) renew(_ context.Context, c *pgx.ConnConfig) error {
	current := r.cfg.URL
	if r.cfg.Current != nil {
		current = r.cfg.Current()
	}
	pool, err := pgxpool.ParseConfig(current)
	if err == nil {
		r.last.Store(pool.ConnConfig)
	}
	now := r.last.Load()
	c.User, c.Password = now.User, now.Password
	if sameHosts(c, now) {
		c.TLSConfig, c.Fallbacks = now.TLSConfig, now.Fallbacks
	}
	return nil
}

// sameHosts reports whether two configurations try the same servers in the same order.
func sameHosts(a, b *pgx.ConnConfig) bool {
	return a.Host == b.Host && slices.EqualFunc(a.Fallbacks, b.Fallbacks, func(a, b *pgconn.FallbackConfig) bool {
		return a.Host == b.Host && a.Port == b.Port
	})
}

// Pinger returns a function that checks whether the database answers, on a separate connection, so that
// it waits for no other call. The error is that of [Config.Check].
func (cfg Config) Pinger() (func(context.Context) error, error) {
	pool, err := cfg.pool()
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return func(ctx context.Context) error {
		c := pool.ConnConfig.Copy()
		if err := pool.BeforeConnect(ctx, c); err != nil {
			return err
		}
		conn, err := pgx.ConnectConfig(ctx, c)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		return conn.Ping(ctx)
	}, nil
}

// Close closes the connections, after the calls in progress. Later calls fail with
// [social.ErrUnavailable].
func (s *Store) Close() error {
	s.db.pool.Close()
	return nil
}
