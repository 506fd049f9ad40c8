package sqlite

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/events"
)

// addCells adds to the counts by bucket.
func (a *adding) addCells(cells events.Cells) {
	add := a.Prepared(`INSERT INTO cells (day, variant, col, bucket, n) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (day, variant, col, bucket) DO UPDATE SET n = n + excluded.n`)
	for cell, n := range cells {
		if n != 0 {
			add(int(a.b.Day), a.b.Variant, int(cell.Column()), cell.Bucket(), n)
		}
	}
}

// Cells implements [events.Store].
func (s *Store) Cells(ctx context.Context, runs []string, columns []events.Column, from, to feed.Day) (all []events.DayCells, err error) {
	err = sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		for row := range tx.Rows(`SELECT day, variant, col, bucket, n FROM cells WHERE day BETWEEN ? AND ? ORDER BY day, variant`, int(from), int(to)) {
			var day, column, bucket int
			var run string
			var n int64
			tx.Fail(row.Scan(&day, &run, &column, &bucket, &n))
			if runs != nil && !slices.Contains(runs, run) || !slices.Contains(columns, events.Column(column)) {
				continue
			}
			last := len(all) - 1
			if last < 0 || all[last].Run != run || all[last].Day != feed.Day(day) {
				all = append(all, events.DayCells{Run: run, Day: feed.Day(day), Cells: events.Cells{}})
				last++
			}
			all[last].Cells.Add(bucket, events.Column(column), n)
		}
	})
	return all, s.failed(ctx, "read events", err)
}

// partOf is the part of a hash by which a sample is bounded.
func partOf(hash uint64) int64 { return int64(hash >> 11) }

// sample adds the agents of the batch to the sample of its run.
func (a *adding) sample() {
	if !a.b.Sampled {
		return
	}
	add := a.Prepared(`INSERT INTO readers (variant, part, agent, day) VALUES (?, ?, ?, ?)
		ON CONFLICT (variant, part, agent) DO UPDATE SET day = max(day, excluded.day)`)
	for _, agent := range a.b.Agents {
		add(a.b.Variant, partOf(agent), int64(agent), int(a.b.Day))
	}
	a.Do(`DELETE FROM readers WHERE variant = ?1 AND part >
		(SELECT part FROM readers WHERE variant = ?1 ORDER BY part LIMIT 1 OFFSET ?2)`, a.b.Variant, events.SampleSize-1)
}

// Readers implements [events.Store].
func (s *Store) Readers(ctx context.Context, runs []string) (n []int64, part float64, err error) {
	n = make([]int64, len(runs))
	highest := int64(1) << 53
	err = sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		for _, run := range runs {
			var last int64
			if tx.Row([]any{&last}, `SELECT part FROM readers WHERE variant = ? ORDER BY part LIMIT 1 OFFSET ?`, run, events.SampleSize-1) {
				highest = min(highest, last)
			}
		}
		for i, run := range runs {
			tx.Row([]any{&n[i]}, `SELECT count(*) FROM readers WHERE variant = ? AND part <= ?`, run, highest)
		}
	})
	return n, float64(highest) / math.Exp2(53), s.failed(ctx, "read events", err)
}

// Remember implements [events.Store].
func (s *Store) Remember(ctx context.Context, pages []events.PageOf) error {
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		newest := int64(0)
		add := tx.Prepared(`INSERT INTO pages (agent, at, seq, page) VALUES (?1, ?2,
			(SELECT coalesce(max(seq), 0) + 1 FROM pages WHERE agent = ?1), ?3)`)
		trim := tx.Prepared(`DELETE FROM pages WHERE agent = ?1 AND seq <= (SELECT max(seq) FROM pages WHERE agent = ?1) - ?2`)
		for i := range pages {
			p := &pages[i]
			add(int64(p.Agent), p.Page.At.Unix(), p.Page.Encode())
			trim(int64(p.Agent), events.PagesMost)
			newest = max(newest, p.Page.At.Unix())
		}
		tx.Do(`DELETE FROM pages WHERE at < ?`, newest-int64(events.PagesFor/time.Second))
	})
	return s.failed(ctx, "remember pages", err)
}

// PagesOf implements [events.Store].
func (s *Store) PagesOf(ctx context.Context, agents []uint64) ([][]events.Page, error) {
	all := make([][]events.Page, len(agents))
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		for i, agent := range agents {
			for row := range tx.Rows(`SELECT page FROM pages WHERE agent = ? ORDER BY seq`, int64(agent)) {
				var data []byte
				tx.Fail(row.Scan(&data))
				page, err := events.DecodePage(data)
				if err == nil { // a newer server may write other records
					all[i] = append(all[i], page)
				}
			}
		}
	})
	return all, s.failed(ctx, "read pages", err)
}

// Forget implements [events.Store].
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		tx.Do(`DELETE FROM pages WHERE agent = ?`, int64(agent))
	})
	return s.failed(ctx, "forget an agent's pages", err)
}
