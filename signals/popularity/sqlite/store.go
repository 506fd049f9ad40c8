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

	mu     sync.Mutex
	pruned feed.Day // data that expired by this day has been deleted
}

var _ popularity.Store = (*Store)(nil)

// New returns the store in an open file, which the caller closes.
func New(file *sqlitefile.File) *Store { return &Store{file: file} }

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
		a := adding{tx, changed}
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
		return nil, failed(ctx, "count popularity", err)
	}
	s.pruned = last
	return changed, nil
}

// adding is a transaction that adds one batch.
type adding struct {
	*sqlitefile.Tx
	changed map[string]feed.Counts
}

// act counts one act if it is new and its item exists.
func (a *adding) act(act popularity.Act) {
	day := feed.DayOf(time.Unix(act.At, 0))
	if a.Do(`INSERT INTO popularity_agents (item, agent, day)
		SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM items WHERE id = ?)
		ON CONFLICT (item, agent) DO UPDATE SET day = excluded.day WHERE day <= excluded.day - ?`,
		act.Item, int64(act.Agent), int(day), act.Item, popularity.RememberDays) == 0 {
		return
	}
	counts, known := a.changed[act.Item]
	if !known {
		a.Row([]any{&counts.Last, &counts.Short, &counts.Long}, `SELECT last, sum_2h, sum_2d FROM popularity WHERE item = ?`, act.Item)
	}
	a.changed[act.Item] = counts.Add(act.At)
}

func (a *adding) write() {
	for item, c := range a.changed {
		a.Do(`INSERT INTO popularity (item, last, sum_2h, sum_2d) VALUES (?, ?, ?, ?)
			ON CONFLICT (item) DO UPDATE SET last = excluded.last, sum_2h = excluded.sum_2h, sum_2d = excluded.sum_2d`,
			item, c.Last, c.Short, c.Long)
	}
}

// prune deletes, once for each new day, expired acts and negligible counts.
func (a *adding) prune(day feed.Day) {
	a.Do(`DELETE FROM popularity_agents WHERE day <= ?`, int(day)-popularity.RememberDays)
	all := map[string]feed.Counts{}
	for row := range a.Rows(counts) {
		a.Fail(scan(row, all))
	}
	for item, c := range all {
		if c.Negligible(day.Start().Unix()) {
			a.Do(`DELETE FROM popularity WHERE item = ?`, item)
			a.changed[item] = feed.Counts{}
		}
	}
}

// Read implements [popularity.Store].
func (s *Store) Read(ctx context.Context) (map[string]feed.Counts, error) {
	all := map[string]feed.Counts{}
	rows, err := s.file.Scans.QueryContext(ctx, counts)
	for row := range sqlitefile.Rows(rows, &err) {
		err = scan(row, all)
	}
	return all, failed(ctx, "read popularity", err)
}

const counts = `SELECT item, last, sum_2h, sum_2d FROM popularity`

// scan reads a row of counts.
func scan(row *sql.Rows, all map[string]feed.Counts) error {
	var item string
	var c feed.Counts
	err := row.Scan(&item, &c.Last, &c.Short, &c.Long)
	all[item] = c
	return err
}

// Forget implements [popularity.Store].
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	_, err := s.file.Writer.ExecContext(ctx, `DELETE FROM popularity_agents WHERE agent = ?`, int64(agent))
	return failed(ctx, "forget an agent's acts", err)
}

func failed(ctx context.Context, what string, err error) error {
	return sqlitefile.Failed(ctx, popularity.ErrUnavailable, what, err)
}
