package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/freshet/freshet/social"
)

// refusedFor is how long [Store.Ping] reports a refused call. On a full disk some writes still
// succeed, so a success proves nothing.
const refusedFor = 2 * time.Minute

// refusal is a call that the server refused because of its own state.
type refusal struct {
	at  time.Time
	err error
}

// takesNoWrites reports whether a call failed because the server accepts no writes: its disk or
// memory is full or broken, or the user may not write. That it is read-only is no such state: a ping
// detects it, and the connection is replaced.
func takesNoWrites(err error) bool {
	switch code(err) {
	case diskFull, outOfMemory, noPrivilege, ioError:
		return true
	}
	return false
}

// noPrimary reports whether no connection was made because target_session_attrs requires another
// kind of server.
func noPrimary(err error) bool {
	return errors.Is(err, pgconn.ErrReadOnlyConnection) || errors.Is(err, pgconn.ErrStandbyConnection)
}

// refuses reports whether a call failed because of a state of the server or its tables that a ping
// would not detect.
func refuses(err error) bool {
	if noPrimary(err) {
		return true // the breaker may refuse the ping
	}
	switch code(err) {
	case undefinedTable, undefinedColumn, dataCorrupted, indexCorrupted:
		return true
	}
	return takesNoWrites(err)
}

// lastRefusal returns the error of a recently refused call, or nil.
func (d *database) lastRefusal() error {
	r := d.refused.Load()
	if r != nil && d.clock().Sub(r.at) <= refusedFor {
		return r.err
	}
	return nil
}

// Ping checks whether the server answers, has its tables and accepts writes. If the tables are not
// whole, the error also wraps [ErrUnusable]. If it accepts none, as
// a replica or on a full disk, the error also wraps [social.ErrTakesNoWrites].
func (s *Store) Ping(ctx context.Context) error {
	readOnly, err := s.db.checkWrites(ctx)
	refused := s.db.lastRefusal()
	switch {
	case err != nil && noPrimary(refused):
		err = fmt.Errorf("%w: %w: %w", social.ErrTakesNoWrites, reason(refused), err)
	case err != nil:
	case readOnly:
		err = fmt.Errorf("%w: %s", social.ErrTakesNoWrites, advice[readOnlyTransaction])
	case refused == nil || noPrimary(refused):
	case takesNoWrites(refused):
		err = fmt.Errorf("%w: %w", social.ErrTakesNoWrites, reason(refused))
	default:
		err = reason(refused)
	}
	if err == nil {
		err = s.db.checkTables(ctx)
	}
	return dialect.Failed(ctx, "ping", err)
}

// Disk is the name of the disk that commits wait for. A replica that they wait for looks the same.
const Disk = "PostgreSQL's disk, or a replica that its commits wait for,"

// SlowCommit returns how long a commit took that was slow a short time ago; 0 if there was none.
func (s *Store) SlowCommit() time.Duration { return s.db.commits.Slow() }

// inspectEvery is the least time between two comparisons of the tables by [Store.Ping].
const inspectEvery = time.Minute

// checkTables returns an error if the tables are not whole any more, as of the last comparison.
func (d *database) checkTables(ctx context.Context) error {
	d.inspecting.Lock()
	defer d.inspecting.Unlock()
	if d.clock().Sub(d.inspected).Abs() < inspectEvery {
		return d.damage
	}
	err := d.guarded(ctx, "read", func(ctx context.Context) error {
		return d.on(ctx, func(conn *pgxpool.Conn) (bool, error) {
			schema, err := newQuerying(ctx, conn).inspect()
			if err == nil {
				d.inspected, d.damage = d.clock(), fatal(schema.Problems)
			}
			return true, err
		})
	})
	return cmp.Or(err, d.damage)
}

// errStandby means that a connection leads to a standby.
var errStandby = errors.New("the server is a standby")

// checkWrites reports whether the server is read-only. A connection to a standby is replaced, and
// the new one is checked: the address may lead to the primary again.
func (d *database) checkWrites(ctx context.Context) (readOnly bool, err error) {
	err = d.guarded(ctx, "read", func(ctx context.Context) error {
		return d.on(ctx, func(conn *pgxpool.Conn) (bool, error) {
			var standby bool
			err := conn.QueryRow(ctx, `SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean`).Scan(&standby, &readOnly)
			if err == nil && standby {
				err = errStandby
			}
			return true, err
		})
	})
	if errors.Is(err, errStandby) {
		return true, nil
	}
	return readOnly, err
}
