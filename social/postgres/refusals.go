package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// refusedFor is how long [Store.Ping] reports a refused call. On a full disk some writes still
// succeed, so a success proves nothing.
const refusedFor = 2 * time.Minute

// refusal is a call that the server refused because of its own state.
type refusal struct {
	at  time.Time
	err error
}

// takesNoWrites reports whether a call failed because the server accepts no writes: its disk is
// full, it is read-only, or the user may not write.
func takesNoWrites(err error) bool {
	switch code(err) {
	case readOnlyTransaction, diskFull, outOfMemory, noPrivilege, ioError:
		return true
	}
	return false
}

// refuses reports whether a call failed because of a state of the server or its tables that a ping
// would not detect.
func refuses(err error) bool {
	switch code(err) {
	case undefinedTable, undefinedColumn, dataCorrupted, indexCorrupted:
		return true
	}
	return takesNoWrites(err)
}

// lastRefusal returns the error of a recently refused call, or nil.
func (d *database) lastRefusal() error {
	if r := d.refused.Load(); r != nil && d.clock().Sub(r.at) <= refusedFor {
		return r.err
	}
	return nil
}

// Ping checks whether the server answers, has its tables and accepts writes. If it accepts none, as
// a replica or on a full disk, the error also wraps [social.ErrTakesNoWrites].
func (s *Store) Ping(ctx context.Context) error {
	var readOnly bool
	err := s.db.Read(ctx, func(on sqlstore.Session) error {
		_, err := on.Row([]any{&readOnly}, `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean`)
		return err
	})
	switch refused := s.db.lastRefusal(); {
	case err != nil:
	case readOnly:
		err = fmt.Errorf("%w: %s", social.ErrTakesNoWrites, advice[readOnlyTransaction])
	case refused != nil && !takesNoWrites(refused):
		err = reason(refused)
	case refused != nil:
		err = fmt.Errorf("%w: %w", social.ErrTakesNoWrites, reason(refused))
	}
	return dialect.Failed(ctx, "ping", err)
}
