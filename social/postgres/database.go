package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/slowdisk"
	"github.com/freshet/freshet/social/sqlstore"
)

// database runs calls on a pool of connections.
type database struct {
	*connections
	guard    func(ctx context.Context, kind string, call func(context.Context) error) error
	waits    func(error)           // see [Config.Waits]
	migrated atomic.Bool           // the schema has been checked and is usable
	unusable atomic.Pointer[error] // why it is not, as of the last check
	clock    feed.Clock
	refused  atomic.Pointer[refusal]

	commits    slowdisk.Commits
	inspecting sync.Mutex
	inspected  time.Time // when the tables were last compared with those of their version
	damage     error     // what was found; nil if they are whole

	// snapshots limits the connections of reads that gather rows from many places and may be slow.
	// Other reads, which are lookups, never wait for those.
	snapshots *semaphore.Weighted
}

// errUnchecked is the error of calls before the first attempt to check the schema has ended.
var errUnchecked = errors.New("its schema has not been checked yet")

// snapshotShare is the divisor for the part of the connections that snapshots may take: half.
const snapshotShare = 2

// guarded runs a call through the guard.
func (d *database) guarded(ctx context.Context, kind string, call func(context.Context) error) error {
	if !d.migrated.Load() {
		why := d.unusable.Load()
		if why != nil {
			return *why
		}
		return errUnchecked
	}
	noted := func(ctx context.Context) error {
		err := call(ctx)
		if refuses(err) {
			d.refused.Store(&refusal{d.clock(), err})
		}
		return err
	}
	if d.guard == nil {
		return noted(ctx)
	}
	return d.guard(ctx, kind, noted)
}

// on runs a call on a connection. If its server turns out to be the wrong one, or ends, the
// connection is replaced, and the call runs once more on another if it is repeatable: it has had no
// effect yet, neither in the database nor on its caller.
func (d *database) on(ctx context.Context, call func(*pgxpool.Conn) (repeatable bool, err error)) error {
	again, err := d.once(ctx, call)
	if again {
		_, err = d.once(ctx, call)
	}
	return err
}

func (d *database) once(ctx context.Context, call func(*pgxpool.Conn) (repeatable bool, err error)) (again bool, err error) {
	conn, release, err := d.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	repeatable, err := call(conn)
	return d.replace(ctx, conn, err) && repeatable, err
}

// Read implements [sqlstore.Database].
func (d *database) Read(ctx context.Context, do func(sqlstore.Session) error) error {
	return d.guarded(ctx, "read", func(ctx context.Context) error {
		return d.on(ctx, func(conn *pgxpool.Conn) (bool, error) {
			q := newQuerying(ctx, conn)
			err := do(q)
			return !*q.answered, err
		})
	})
}

// Snapshot implements [sqlstore.Database].
func (d *database) Snapshot(ctx context.Context, do func(sqlstore.Session) error) error {
	return d.guarded(ctx, "read", func(ctx context.Context) error {
		if err := d.snapshots.Acquire(ctx, 1); err != nil {
			return err
		}
		defer d.snapshots.Release(1)
		return d.on(ctx, func(conn *pgxpool.Conn) (bool, error) {
			t := &transaction{querying: newQuerying(ctx, conn), begin: `begin isolation level repeatable read read only`}
			err := t.end(conn, do(t))
			return !*t.answered, err
		})
	})
}

// attempts is the maximum number of runs of a transaction that PostgreSQL aborts in favor of
// another.
const attempts = 20

// Alone implements [sqlstore.Database].
func (d *database) Alone(ctx context.Context, do func(sqlstore.Session) error) (err error) {
	for range attempts {
		if err = d.Read(ctx, do); !retryable(err) {
			break
		}
	}
	return err
}

// Write implements [sqlstore.Database].
func (d *database) Write(ctx context.Context, do func(sqlstore.Writing) error) error {
	return d.guarded(ctx, "write", func(ctx context.Context) (err error) {
		for range attempts {
			err = d.on(ctx, func(conn *pgxpool.Conn) (beforeCommit bool, err error) {
				t := &transaction{querying: newQuerying(ctx, conn), begin: `begin isolation level read committed read write`, commits: &d.commits}
				err = t.end(conn, do(t))
				return !t.committing || takesNoTransaction(err), err
			})
			if !retryable(err) {
				break
			}
		}
		return err
	})
}
