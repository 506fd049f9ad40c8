package sqlite

import (
	"context"
	"iter"
	"maps"
	"time"

	"github.com/axiomhq/hyperloglog"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/events"
)

// Names in the table of sketches.
const (
	agents  = "agents"
	authors = "authors"
)

// Add implements [events.Store]: a batch is one transaction.
func (s *Store) Add(ctx context.Context, b *events.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		if b.Day > s.pruned { // once for each new day
			prune(tx, b.Day)
		}
		a := (adding{tx, b})
		if a.register() {
			a.count(b.Counts())
			a.addCells(b.Cells)
			a.count(maps.All(a.fresh()))
			a.sample()
			a.sketch(agents, b.Agents)
			a.sketch(authors, b.Authors)
		}
	})
	if err == nil {
		s.pruned = max(s.pruned, b.Day)
	}
	return s.failed(ctx, "count events", err)
}

// Purge removes what has expired by a moment, once for each day, and returns how many rows. [Store.Add] does
// the same with the days of what it adds.
func (s *Store) Purge(ctx context.Context, now time.Time) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	day := feed.DayOf(now)
	if day <= s.pruned {
		return 0, nil
	}
	if err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) { removed = prune(tx, day) }); err != nil {
		return 0, s.failed(ctx, "remove expired counts", err)
	}
	s.pruned = day
	return removed, nil
}

// prune deletes expired counts and memberships, and returns how many rows.
func prune(tx *sqlitefile.Tx, day feed.Day) (removed int) {
	for table, days := range map[string]int{
		"counts": events.KeepDays, "sketches": events.KeepDays, "cells": events.KeepDays, "readers": events.KeepDays,
		"acts": events.OnceDays, "senders": events.OnceDays,
	} {
		removed += int(tx.Do(`DELETE FROM `+table+` WHERE day <= ?`, int(day)-days))
	}
	return removed + int(tx.Do(`DELETE FROM pages WHERE at < ?`, day.Start().Add(-events.PagesFor).Unix()))
}

// adding is a transaction that adds one batch.
type adding struct {
	*sqlitefile.Tx
	b *events.Batch
}

// register stores the batch as the sender's last, and reports whether it is new.
func (a *adding) register() bool {
	return a.Do(`INSERT INTO senders (day, variant, sender, seq) VALUES (?, ?, ?, ?)
		ON CONFLICT (day, variant, sender) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq`,
		int(a.b.Day), a.b.Variant, a.b.Sender, int64(a.b.Seq)) > 0
}

func (a *adding) count(all iter.Seq2[string, int64]) {
	add := a.Prepared(`INSERT INTO counts (variant, day, what, n) VALUES (?, ?, ?, ?)
		ON CONFLICT (variant, day, what) DO UPDATE SET n = n + excluded.n`)
	for what, n := range all {
		if n != 0 {
			add(a.b.Variant, int(a.b.Day), what, n)
		}
	}
}

// fresh counts the events that are new on the day, and adds them to those of the day. An event is not
// new if the one that it requires is on none of the last [events.OnceDays] days.
func (a *adding) fresh() map[string]int64 {
	fresh := map[string]int64{}
	if len(a.b.Events) == 0 {
		return fresh
	}
	add := a.Prepared(`INSERT INTO acts (day, variant, hash) SELECT ?1, ?2, ?3
		WHERE ?4 = 0 OR EXISTS (SELECT 1 FROM acts WHERE day IN (?1, ?1 - 1, ?1 - 2) AND variant = ?2 AND hash = ?4)
		ON CONFLICT DO NOTHING`)
	cells := events.Cells{}
	for _, e := range a.b.Events {
		n := add(int(a.b.Day), a.b.Variant, int64(e.Hash), int64(e.After))
		for _, field := range []string{e.Field, e.Also, e.Place} {
			if field != "" {
				fresh[field] += n
			}
		}
		if e.Cell != 0 {
			cells[e.Cell] += n
		}
	}
	a.addCells(cells)
	return fresh
}

// sketch adds members to a HyperLogLog of the day.
func (a *adding) sketch(what string, members []uint64) {
	if len(members) == 0 {
		return
	}
	sketch := hyperloglog.New14() // 16,384 registers: a standard error of 0.8 %
	var stored []byte
	if a.Row([]any{&stored}, `SELECT sketch FROM sketches WHERE variant = ? AND day = ? AND what = ?`, a.b.Variant, int(a.b.Day), what) {
		a.Fail(sketch.UnmarshalBinary(stored))
	}
	for _, m := range members {
		sketch.InsertHash(m)
	}
	stored, err := sketch.MarshalBinary()
	a.Fail(err)
	a.Do(`INSERT INTO sketches (variant, day, what, sketch) VALUES (?, ?, ?, ?)
		ON CONFLICT (variant, day, what) DO UPDATE SET sketch = excluded.sketch`, a.b.Variant, int(a.b.Day), what, stored)
}
