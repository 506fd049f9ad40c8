// Package sqlite keeps live popularity in the SQLite file of embedded mode, beside
// the items: one that is deleted takes its counts along, in the same transaction.
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
	pruned feed.Day // what was to be forgotten by this day is
}

var _ popularity.Store = (*Store)(nil)

// New returns the store in an open file, which the caller closes.
func New(file *sqlitefile.File) *Store { return &Store{file: file} }

// Add implements [popularity.Store]: the acts are one transaction.
func (s *Store) Add(ctx context.Context, acts []popularity.Act) (map[string]feed.Counts, error) {
	if len(acts) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := map[string]feed.Counts{}
	last := s.pruned
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sql.Tx) error {
		a := adding{ctx: ctx, tx: tx, changed: changed}
		for _, act := range acts {
			last = max(last, feed.DayOf(time.Unix(act.At, 0)))
			if err := a.act(act); err != nil {
				return err
			}
		}
		if err := a.write(); err != nil || last == s.pruned {
			return err
		}
		return a.prune(last)
	})
	if err != nil {
		return nil, failed(ctx, "count popularity", err)
	}
	s.pruned = last
	return changed, nil
}

// adding is one batch on its way in.
type adding struct {
	ctx     context.Context
	tx      *sql.Tx
	changed map[string]feed.Counts
}

// act counts one act, if it is new and its item is there.
func (a *adding) act(act popularity.Act) error {
	day := feed.DayOf(time.Unix(act.At, 0))
	res, err := a.tx.ExecContext(a.ctx, `INSERT INTO popularity_agents (item, agent, day)
		SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM items WHERE id = ?)
		ON CONFLICT (item, agent) DO UPDATE SET day = excluded.day WHERE day <= excluded.day - ?`,
		act.Item, int64(act.Agent), int(day), act.Item, popularity.RememberDays)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	counts, known := a.changed[act.Item]
	if !known {
		err := a.tx.QueryRowContext(a.ctx, `SELECT last, sum_2h, sum_2d FROM popularity WHERE item = ?`, act.Item).
			Scan(&counts.Last, &counts.Short, &counts.Long)
		if err != nil && err != sql.ErrNoRows {
			return err
		}
	}
	a.changed[act.Item] = counts.Add(act.At)
	return nil
}

func (a *adding) write() error {
	for item, c := range a.changed {
		if _, err := a.tx.ExecContext(a.ctx, `INSERT INTO popularity (item, last, sum_2h, sum_2d) VALUES (?, ?, ?, ?)
			ON CONFLICT (item) DO UPDATE SET last = excluded.last, sum_2h = excluded.sum_2h, sum_2d = excluded.sum_2d`,
			item, c.Last, c.Short, c.Long); err != nil {
			return err
		}
	}
	return nil
}

// prune forgets, once for each new day, who acted too long ago and what counts
// nothing any more.
func (a *adding) prune(day feed.Day) error {
	if _, err := a.tx.ExecContext(a.ctx, `DELETE FROM popularity_agents WHERE day <= ?`, int(day)-popularity.RememberDays); err != nil {
		return err
	}
	all, err := read(a.ctx, a.tx)
	if err != nil {
		return err
	}
	begin := day.Start().Unix()
	for item, c := range all {
		if !c.Negligible(begin) {
			continue
		}
		if _, err := a.tx.ExecContext(a.ctx, `DELETE FROM popularity WHERE item = ?`, item); err != nil {
			return err
		}
		a.changed[item] = feed.Counts{}
	}
	return nil
}

// Read implements [popularity.Store].
func (s *Store) Read(ctx context.Context) (map[string]feed.Counts, error) {
	all, err := read(ctx, s.file.Scans)
	return all, failed(ctx, "read popularity", err)
}

// Forget implements [popularity.Store].
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	_, err := s.file.Writer.ExecContext(ctx, `DELETE FROM popularity_agents WHERE agent = ?`, int64(agent))
	return failed(ctx, "forget an agent's acts", err)
}

// querier is a file, or a transaction in it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func read(ctx context.Context, from querier) (map[string]feed.Counts, error) {
	rows, err := from.QueryContext(ctx, `SELECT item, last, sum_2h, sum_2d FROM popularity`)
	all := map[string]feed.Counts{}
	err = sqlitefile.Each(rows, err, func(rows *sql.Rows) error {
		var item string
		var c feed.Counts
		err := rows.Scan(&item, &c.Last, &c.Short, &c.Long)
		all[item] = c
		return err
	})
	return all, err
}

func failed(ctx context.Context, what string, err error) error {
	return sqlitefile.Failed(ctx, popularity.ErrUnavailable, what, err)
}
