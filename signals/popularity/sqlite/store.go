// Package sqlite stores live popularity in the SQLite file of embedded mode, together with the
// items: deleting an item deletes its counts in the same transaction.
package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/popularity"
)

// Store implements [popularity.Store] in a catalog's file. It is safe for
// concurrent use.
type Store struct {
	file *sqlitefile.File
	keep feed.HalfLives

	mu     sync.Mutex
	pruned feed.Day // data that expired by this day has been deleted
}

var (
	_ popularity.Store   = (*Store)(nil)
	_ popularity.Readers = (*Store)(nil)
)

// New returns the store in an open file, which the caller closes. It keeps the sums of these half-lives
// beside the two of all [feed.Counts]; those of others are dropped as items are counted.
func New(file *sqlitefile.File, keep feed.HalfLives) *Store { return &Store{file: file, keep: keep} }

// Add implements [popularity.Store]. The acts are one transaction.
func (s *Store) Add(ctx context.Context, acts []popularity.Act) (map[string]feed.Counts, error) {
	if len(acts) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := map[string]feed.Counts{}
	last := s.pruned
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		a := adding{tx, s.keep, changed}
		for _, act := range acts {
			last = max(last, feed.DayOf(time.Unix(act.At, 0)))
			a.act(act)
		}
		a.write()
		if last > s.pruned {
			a.prune(last)
		}
	})
	if err != nil {
		return nil, s.failed(ctx, "count popularity", err)
	}
	s.pruned = last
	return changed, nil
}

// Purge removes what has expired by a moment, once for each day, and returns the counts that it has changed,
// and how many acts it has removed. [Store.Add] does the same with the days of the acts.
func (s *Store) Purge(ctx context.Context, now time.Time) (changed map[string]feed.Counts, removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	day := feed.DayOf(now)
	if day <= s.pruned {
		return nil, 0, nil
	}
	changed = map[string]feed.Counts{}
	err = sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		a := adding{tx, s.keep, changed}
		removed = a.prune(day)
	})
	if err != nil {
		return nil, 0, s.failed(ctx, "remove expired popularity", err)
	}
	s.pruned = day
	return changed, removed, nil
}

// adding is a transaction that adds one batch.
type adding struct {
	*sqlitefile.Tx
	keep    feed.HalfLives
	changed map[string]feed.Counts
}

// pair is what is stored about an agent and an item.
type pair struct {
	at    int64 // Unix seconds of the act that was counted, or of when it was taken back
	kinds int   // bits of the kinds of acts; undone; 0 if an earlier version has counted one
}

const undone = 1 << popularity.Unlike

// after returns the pair after an act, and by how much the act changes the number of counted acts.
func (p pair) after(act popularity.Act) (next pair, by int) {
	const like = 1 << popularity.Like
	unlike := act.Kind == popularity.Unlike
	switch {
	case p.kinds == 0, p.kinds == undone && act.Kind == popularity.Like && act.At < p.at:
		return p, 0
	case unlike && p.kinds == undone:
		return pair{max(p.at, act.At), undone}, 0
	case unlike && p.kinds == like:
		return pair{act.At, undone}, -1
	case unlike:
		return pair{p.at, p.kinds &^ like}, 0
	case p.kinds == undone:
		return pair{act.At, 1 << act.Kind}, 1
	}
	return pair{p.at, p.kinds | 1<<act.Kind}, 0
}

// act counts one act if it is new and its item exists.
func (a *adding) act(act popularity.Act) {
	known := pair{kinds: undone} // nothing
	a.Row([]any{&known.at, &known.kinds}, `SELECT at, kinds FROM popularity_agents WHERE item = ? AND agent = ? AND day > ?`,
		act.Item, int64(act.Agent), dayOf(act.At)-popularity.RememberDays)
	next, by := known.after(act)
	if next == known {
		return
	}
	if a.Do(`INSERT INTO popularity_agents (item, agent, day, at, kinds)
		SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM items WHERE id = ?)
		ON CONFLICT (item, agent) DO UPDATE SET day = excluded.day, at = excluded.at, kinds = excluded.kinds`,
		act.Item, int64(act.Agent), dayOf(next.at), next.at, next.kinds, act.Item) == 0 || by == 0 {
		return
	}
	counts, found := a.changed[act.Item]
	if !found {
		var more sql.NullString
		a.Row([]any{&counts.Last, &counts.Short, &counts.Long, &more}, `SELECT last, sum_2h, sum_2d, more FROM popularity WHERE item = ?`, act.Item)
		counts.More = popularity.ParseSums(a.keep, more.String)
	}
	if by > 0 {
		counts = a.keep.Add(counts, act.At)
	} else {
		counts = a.keep.Subtract(counts, known.at)
	}
	a.changed[act.Item] = counts
}

func dayOf(at int64) int { return int(feed.DayOf(time.Unix(at, 0))) }

func (a *adding) write() {
	for item, c := range a.changed {
		more := popularity.FormatSums(a.keep, c)
		a.Do(`INSERT INTO popularity (item, last, sum_2h, sum_2d, more) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (item) DO UPDATE SET last = excluded.last, sum_2h = excluded.sum_2h, sum_2d = excluded.sum_2d, more = excluded.more`,
			item, c.Last, c.Short, c.Long, sql.NullString{String: more, Valid: more != ""})
	}
}

// prune deletes, once for each new day, expired acts and negligible counts. It returns how many acts.
func (a *adding) prune(day feed.Day) int {
	expired := a.Do(`DELETE FROM popularity_agents WHERE day <= ?`, int(day)-popularity.RememberDays)
	all := map[string]feed.Counts{}
	for row := range a.Rows(counts) {
		a.Fail(scan(row, a.keep, all))
	}
	for item, c := range all {
		if c.Negligible(day.Start().Unix()) {
			a.Do(`DELETE FROM popularity WHERE item = ?`, item)
			a.changed[item] = feed.Counts{}
		}
	}
	return int(expired)
}

// Read implements [popularity.Store].
func (s *Store) Read(ctx context.Context) (map[string]feed.Counts, error) {
	all := map[string]feed.Counts{}
	rows, err := s.file.Scans.QueryContext(ctx, counts)
	for row := range sqlitefile.Rows(rows, &err) {
		err = scan(row, s.keep, all)
	}
	return all, s.failed(ctx, "read popularity", err)
}

const counts = `SELECT item, last, sum_2h, sum_2d, more FROM popularity`

// scan reads a row of counts.
func scan(row *sql.Rows, keep feed.HalfLives, all map[string]feed.Counts) error {
	var item string
	var more sql.NullString
	var c feed.Counts
	err := row.Scan(&item, &c.Last, &c.Short, &c.Long, &more)
	c.More = popularity.ParseSums(keep, more.String)
	all[item] = c
	return err
}

// Readers implements [popularity.Readers].
func (s *Store) Readers(ctx context.Context, item string) (n int64, err error) {
	err = s.file.Scans.QueryRowContext(ctx, `SELECT count(*) FROM popularity_agents WHERE item = ?`, item).Scan(&n)
	return n, s.failed(ctx, "count the readers of an item", err)
}

// Forget implements [popularity.Store].
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	_, err := s.file.Writer.ExecContext(ctx, `DELETE FROM popularity_agents WHERE agent = ?`, int64(agent))
	return s.failed(ctx, "forget an agent's acts", err)
}

// ActsOf implements [popularity.ActList].
func (s *Store) ActsOf(ctx context.Context, agent uint64) (map[string]feed.Day, error) {
	days := map[string]feed.Day{}
	rows, err := s.file.Scans.QueryContext(ctx, `SELECT item, day FROM popularity_agents WHERE agent = ?`, int64(agent))
	for row := range sqlitefile.Rows(rows, &err) {
		var item string
		var day int
		err = row.Scan(&item, &day)
		days[item] = feed.Day(day)
	}
	return days, s.failed(ctx, "list an agent's acts", err)
}

func (s *Store) failed(ctx context.Context, what string, err error) error {
	return s.file.Failed(ctx, popularity.ErrUnavailable, what, err)
}
