// Package sqlstore implements the social store and its queue over an SQL database: every operation
// of both contracts, once. A backend adds a [Database], which connects, begins, commits and
// retries, and a [Dialect]. Statements are in PostgreSQL's SQL, except for the parts that are
// also written in SQLite's; see [Either].
//
// A write takes its locks before it reads the data for its decisions, in one order: circles,
// agents, posts, rows of the queue, each by key. A post locks the groups that it addresses with its
// commit; see [Tx.place].
package sqlstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Store is a social store and its queue. It is safe for concurrent use.
type Store struct {
	db       Database
	d        *Dialect
	opts     social.Options
	name     string // the worker to which this store leases jobs
	notified chan struct{}
	turn     atomic.Int64 // counts leases
	unkept   atomic.Bool  // the first change was made that is not kept
	ended    atomic.Int64 // Unix nanoseconds of the last look for leases that have ended
}

var (
	_ social.Store = (*Store)(nil)
	_ jobs.Queue   = (*Store)(nil)
)

// New returns a store over a database. It runs no statement.
func New(db Database, d *Dialect, opts social.Options) *Store {
	return &Store{db: db, d: d, opts: opts.WithDefaults(), name: rand.Text(), notified: make(chan struct{}, 1)}
}

// queueNow returns the queue's time as the parameter of [Now].
func queueNow(o social.Options) any {
	if o.QueueClock == nil {
		return nil
	}
	return social.Stamp(o.QueueClock())
}

// Ping implements [social.Upkeep].
func (s *Store) Ping(ctx context.Context) error {
	return s.failed(ctx, "ping", s.read(ctx, func(q *Query) { q.row(into(new(int)), `SELECT 1`) }))
}

// read runs do; each statement is separate.
func (s *Store) read(ctx context.Context, do func(*Query)) error { return s.db.Read(ctx, s.query(do)) }

// snapshot runs do; all statements see the same state of the database.
func (s *Store) snapshot(ctx context.Context, do func(*Query)) error {
	return s.db.Snapshot(ctx, s.query(do))
}

// alone runs do with its changes in one transaction; see [Database].
func (s *Store) alone(ctx context.Context, do func(*Query)) error {
	return s.db.Alone(ctx, s.query(do))
}

func (s *Store) query(do func(*Query)) func(Session) error {
	return func(on Session) error {
		q := &Query{d: s.d, on: on, clock: s.opts.Clock}
		do(q)
		return q.err
	}
}

// Tx is a transaction in progress.
type Tx struct {
	Query
	opts  social.Options
	on    Writing
	now   time.Time
	specs map[rowKey]jobs.Spec
	class int // the lowest number of a mark's priority: that of upkeep or leftovers, or 0
	// noPairs omits the jobs for the lists of followers.
	noPairs bool
	changes []social.Change // to be written with the commit
	notices []notice        // the same
	undone  map[string]bool // agents of whose notifications some may not stand any more
	erasing string          // the agent whose erasure this is
	unkept  bool            // see [Store]
	actor   social.Actor    // who makes the call; the zero value for admins, events and jobs
	checked bool            // [social.Actor.Check] has passed
	renew   map[string]bool // agents whose lists are rebuilt after their follows; if nil, each follow is marked
}

// write runs do in a transaction, with its jobs, which is committed if no part fails. It may run do
// more than once.
func (s *Store) write(ctx context.Context, do func(*Tx)) error {
	var t *Tx
	err := s.db.Write(ctx, func(on Writing) error {
		t = &Tx{Query: Query{d: s.d, on: on, clock: s.opts.Clock}, opts: s.opts, on: on, now: s.opts.Clock(), specs: map[rowKey]jobs.Spec{}, unkept: s.unkept.Load(), actor: social.ActorOf(ctx)}
		do(t)
		t.checkActor()
		t.writeChanges()
		t.writeNotices()
		t.writeSpecs()
		return t.err
	})
	if err == nil && len(t.changes) > 0 && s.opts.KeepChanges <= 0 {
		s.unkept.Store(true)
	}
	if err == nil && t.hasDueNow() {
		s.notify()
	}
	if err == nil && len(t.notices) > 0 {
		s.opts.Notified(t.told())
	}
	if err == nil && len(t.undone) > 0 {
		s.opts.Undone(slices.Sorted(maps.Keys(t.undone)))
	}
	return err
}

// later runs a statement at once, or with the commit. The transaction must not read its effects.
func (t *Tx) later(text string, args ...any) {
	t.readLater(Reading{Statement: Statement{text, args}})
}

// readLater reads rows as the transaction leaves them, after the statements of [Tx.later] so far. They
// are there when the transaction has been committed.
func (t *Tx) readLater(r Reading) {
	if t.err == nil {
		t.err = t.on.Later(r)
	}
}

// ErrRaced aborts a transaction for a retry: another has changed the data that this one has read.
var ErrRaced = errors.New("conflict with a concurrent transaction")

// Answered reports whether an error is about the request or one row, not about the database.
func Answered(err error) bool {
	return feed.Refused(err) || errors.Is(err, feed.ErrUnauthenticated) || errors.Is(err, jobs.ErrTaken) || errors.Is(err, social.ErrDamaged)
}

func (s *Store) failed(ctx context.Context, what string, err error) error {
	return s.d.Failed(ctx, what, err)
}

// Failed wraps the error of a call. It does not change answers, and returns the error of an ended
// context. Others wrap [social.ErrDamaged] or [social.ErrUnavailable].
func (d *Dialect) Failed(ctx context.Context, what string, err error) error {
	if err == nil || Answered(err) {
		return err
	}
	cause := ctx.Err()
	if cause != nil {
		if errors.Is(err, cause) {
			cause = err // it may say more
		}
		return fmt.Errorf("%s: %s: %w", d.Name, what, cause)
	}
	if d.Damaged(err) {
		return fmt.Errorf("%w: %s: %s: %w", social.ErrDamaged, d.Name, what, err)
	}
	return fmt.Errorf("%w: %s: %s: %w", social.ErrUnavailable, d.Name, what, d.Reason(err))
}
