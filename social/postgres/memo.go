package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

const (
	// memoReaders bounds the readers whose relations are in memory.
	memoReaders = 5000
	// validateTimeout bounds a query of [validator].
	validateTimeout = 2 * time.Second
	// memoPause is how long no memo is used after a query has failed, or while triggers are missing.
	memoPause = time.Second
	// checkTriggers is the time between two looks at the triggers.
	checkTriggers = time.Second
	// mostTouched is the number of touched entries above which everything is evicted.
	mostTouched = 10_000
)

var (
	errPaused   = errors.New("the memo is not used for a moment")
	errTriggers = errors.New("triggers of the memo are missing or off, see docs/operations.md")
)

// validator brings a memo up to date: it evicts what transactions of all servers have touched since
// its last snapshot of the database. Triggers note that in the table touched, with the id of the
// transaction.
//
// Calls share queries, but each waits for one that began after the call, so that the memo then has
// every commit from before it.
type validator struct {
	db   *database
	memo *sqlstore.Memo

	mu      sync.Mutex
	running bool
	next    *validation // has not begun; nil if nobody waits
	began   time.Time   // when the last query that succeeded began

	trims trims

	// The following are used by one query at a time.
	snapshot string // what the memo is up to date with; "" means that it is empty
	identity string // of the database, and of the tables since they were last emptied
	checked  time.Time
	paused   time.Time // until then no memo is used
}

// validation is one query, for which any number of calls wait.
type validation struct {
	done chan struct{}
	err  error
}

func newValidator(s *Store) *validator {
	v := &validator{db: s.db}
	v.memo = sqlstore.NewMemo(s.Store, memoReaders, v.validate)
	return v
}

// validate is a [sqlstore.Validate].
func (v *validator) validate(ctx context.Context, before time.Time) error {
	v.mu.Lock()
	if v.began.After(before) {
		v.mu.Unlock()
		return nil
	}
	if v.next == nil {
		v.next = &validation{done: make(chan struct{})}
	}
	mine := v.next
	if !v.running {
		v.running = true
		go v.run(context.WithoutCancel(ctx))
	}
	v.mu.Unlock()
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs queries until nobody waits.
func (v *validator) run(ctx context.Context) {
	for {
		v.mu.Lock()
		now := v.next
		v.next = nil
		if now == nil {
			v.running = false
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
		began := time.Now()
		now.err = safego.Run(func() error { return v.update(ctx, began) })
		if now.err == nil {
			v.mu.Lock()
			v.began = began
			v.mu.Unlock()
		}
		close(now.done)
	}
}

// update evicts what was touched since the last update.
func (v *validator) update(ctx context.Context, start time.Time) error {
	if start.Before(v.paused) {
		return errPaused
	}
	ctx, cancel := context.WithTimeout(ctx, validateTimeout)
	defer cancel()
	err := v.read(ctx, start)
	if err != nil {
		v.paused = start.Add(memoPause)
	}
	return err
}

// Statements of a validator. identity tells apart databases, servers, and the tables since a crash or
// a restoration emptied them.
const (
	identity = `pg_postmaster_start_time()::text || ' ' || s.tableoid || ' ' || s.epoch`

	startText = `SELECT pg_current_snapshot()::text, ` + identity + ` FROM touched_state s WHERE s.one`

	// touchedText reads what transactions have touched that the snapshot $1 does not see: later ones,
	// and those that were in progress. It is incomplete if it may lack some that have been removed.
	// Subqueries hide the values, for which PostgreSQL would otherwise plan it anew in each call.
	touchedText = `SELECT pg_current_snapshot()::text, ` + identity + `, s.trimmed <= pg_snapshot_xmin((SELECT $1::text)::pg_snapshot),
		freshet_touched_since((SELECT $1::text)::pg_snapshot, (SELECT $2::int)) FROM touched_state s WHERE s.one`

	newStateText = `INSERT INTO touched_state (one, epoch, trimmed) VALUES (true, gen_random_uuid()::text, pg_snapshot_xmin(pg_current_snapshot()))
		ON CONFLICT DO NOTHING`
)

// triggersText counts the triggers that note what was touched and run in the sessions of this user.
var triggersText = `SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = ANY (ARRAY[` + watchedTables() + `]) AND t.tgname LIKE '%\_touched\_%'
	AND (t.tgenabled = 'A' OR t.tgenabled = 'O' AND current_setting('session_replication_role') <> 'replica')`

// watchedTables lists the tables that have these triggers, as an SQL list of their ids.
func watchedTables() string {
	var ids []string
	for _, on := range sqlstore.Watched {
		ids = append(ids, `to_regclass('`+on.Table+`')::oid`)
	}
	return strings.Join(slices.Compact(ids), ", ")
}

// read reads and evicts.
func (v *validator) read(ctx context.Context, start time.Time) error {
	var snapshot, id string
	var complete, found bool
	var touched []string
	var triggers int
	check := start.Sub(v.checked) >= checkTriggers
	ask := func(on sqlstore.Session) error {
		touched = nil
		text, into, args := touchedText, []any{&snapshot, &id, &complete, &touched}, []any{v.snapshot, mostTouched + 1}
		if v.snapshot == "" {
			text, into, args = startText, into[:2], nil
		}
		all := []sqlstore.Reading{sqlstore.First(into, &found, text, args...)}
		if check {
			all = append(all, sqlstore.First([]any{&triggers}, new(bool), triggersText))
		}
		found = false
		return on.All(all...)
	}
	if err := v.db.Read(ctx, ask); err != nil {
		return err
	}
	if check {
		if triggers < touchTriggers() {
			v.forget("", "")
			return errTriggers
		}
		v.checked = start
	}
	switch {
	case !found:
		v.forget("", "")
		return errors.Join(errPaused, v.db.Alone(ctx, func(on sqlstore.Session) error {
			_, err := on.Exec(newStateText)
			return err
		}))
	case v.snapshot == "", id != v.identity, !complete, len(touched) > mostTouched:
		v.forget(snapshot, id)
		return nil
	}
	v.snapshot = snapshot
	if len(touched) > 0 {
		v.memo.Evict(entries(touched))
	}
	return nil
}

// forget evicts everything, and begins again with a snapshot.
func (v *validator) forget(snapshot, id string) {
	v.memo.Forget()
	v.snapshot, v.identity = snapshot, id
}

// entries parses the rows of touched: a digit, and the key.
func entries(rows []string) []sqlstore.Touched {
	all := make([]sqlstore.Touched, len(rows))
	for i, row := range rows {
		all[i] = sqlstore.Touched{Kind: int(row[0] - '0'), Key: row[1:]}
	}
	return all
}

// touchTriggers is the number of triggers that note what was touched.
var touchTriggers = sync.OnceValue(func() (n int) {
	for _, e := range expectations() {
		if notesTouched(e.name) {
			n++
		}
	}
	return n
})

// notesTouched reports whether an object is a trigger that notes what was touched.
func notesTouched(name string) bool {
	return strings.HasPrefix(name, "trigger ") && strings.Contains(name, "_touched_")
}

// Cards implements [social.Cards] from memory, and reads missing data.
func (s *Store) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	return s.validator.memo.Cards(ctx, reader, posts)
}

// Celebrities implements [social.Authors] from memory, and reads missing data.
func (s *Store) Celebrities(ctx context.Context, reader string) (social.Pulled, error) {
	return s.validator.memo.Celebrities(ctx, reader)
}
