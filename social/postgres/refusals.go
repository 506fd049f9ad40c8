package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// refusedFor is how long the store says of a call that was refused that the server takes
// none such. On a full disk some writes still succeed, so one that does proves nothing.
const refusedFor = 2 * time.Minute

// refusal is a call that the server refused because of its own state.
type refusal struct {
	at  time.Time
	err error
}

// takesNoWrites reports whether a call has ended so because the server takes no writes: its
// disk is full, it only reads, or the user may not write.
func takesNoWrites(err error) bool {
	switch code(err) {
	case readOnlyTransaction, diskFull, outOfMemory, noPrivilege, ioError:
		return true
	}
	return false
}

// refuses reports whether a call has ended so because of the state that the server or its
// tables are in, which a ping would not meet.
func refuses(err error) bool {
	switch code(err) {
	case undefinedTable, undefinedColumn, dataCorrupted, indexCorrupted:
		return true
	}
	return takesNoWrites(err)
}

// lastRefusal returns the call that was refused lately; nil: none.
func (d *database) lastRefusal() error {
	if r := d.refused.Load(); r != nil && d.clock().Sub(r.at) <= refusedFor {
		return r.err
	}
	return nil
}

// Ping asks whether the server answers, has its tables and takes writes. Where it takes none,
// as a replica or on a full disk, the error wraps [social.ErrTakesNoWrites], too.
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
