package sqlite

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/coread"
)

// load reads the file into the memory.
func (s *Store) load(tx *sqlitefile.Tx) {
	tx.Row([]any{&s.saved, &s.written}, `SELECT seq, written FROM checkpoint`)
	for row := range tx.Rows(`SELECT item, dated, readers, list FROM items ORDER BY written`) {
		var id, lines string
		var dated int64
		var readers int
		tx.Fail(row.Scan(&id, &dated, &readers, &lines))
		tx.Fail(s.restoreItem(id, dated, readers, lines))
	}
	for row := range tx.Rows(`SELECT agent, before, last, items FROM readers`) {
		var agent int64
		var ids string
		r := &reader{}
		tx.Fail(row.Scan(&agent, &r.before, &r.last, &ids))
		for id := range strings.SplitSeq(ids, "\n") {
			r.items = append(r.items, s.number(id))
		}
		s.readers[uint64(agent)] = r
	}
	for row := range tx.Rows(`SELECT seq, agent, item, dated, at FROM acts ORDER BY seq`) {
		var agent int64
		var act coread.Act
		tx.Fail(row.Scan(&s.seq, &agent, &act.Item, &act.Dated, &act.At))
		act.Agent = uint64(agent)
		if s.seq > s.saved {
			s.add(&act)
		} else if act.Young() {
			n := s.number(act.Item)
			s.begin(n)
			s.items[n].acted[act.Agent] = struct{}{}
		}
	}
	s.seq = max(s.seq, s.saved)
}

// restoreItem restores an item with its list.
func (s *Store) restoreItem(id string, dated int64, readers int, lines string) error {
	n := s.number(id)
	s.items[n].dated, s.items[n].readers = dated, readers
	if lines == "" {
		return nil
	}
	l := &list{owner: n}
	for line := range strings.SplitSeq(lines, "\n") {
		var e entry
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return fmt.Errorf("the list of %s cannot be read: %q", id, line)
		}
		sum, err := strconv.ParseFloat(fields[1], 32)
		if err != nil {
			return err
		}
		people, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			return err
		}
		e.item, e.sum, e.people = s.number(fields[0]), float32(sum), uint32(people)
		l.entries = append(l.entries, e)
	}
	s.items[n].list = l
	s.chain(l)
	s.lists++
	return nil
}

// checkpoint writes what has changed since the last one and, once a day, what is no longer needed.
// The caller holds writing.
func (s *Store) checkpoint(ctx context.Context) error {
	if s.seq == s.saved {
		return nil
	}
	var last int64
	s.mu.RLock()
	for agent := range s.changedReaders {
		last = max(last, s.readers[agent].last)
	}
	s.mu.RUnlock()
	_, err := s.save(ctx, last)
	return err
}

// Purge removes what is no longer needed at a moment, once for each day, and returns how many items and
// readers. Acts do the same with their times, at a checkpoint.
func (s *Store) Purge(ctx context.Context, now time.Time) (removed int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if feed.DayOf(now) <= s.swept {
		return 0, nil
	}
	return s.save(ctx, now.Unix())
}

// save writes a checkpoint as of a moment, and returns how many items and readers it has removed. The caller
// holds writing.
func (s *Store) save(ctx context.Context, last int64) (removed int, err error) {
	var ended []string
	var idle []uint64
	day := feed.DayOf(time.Unix(last, 0))
	if day > s.swept {
		s.mu.Lock()
		s.endYoung(last)
		ended, idle = s.sweep(last)
		s.mu.Unlock()
		s.swept = day
	}
	err = sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		s.mu.RLock() // only Add and Forget write, and they wait
		defer s.mu.RUnlock()
		s.saveItems(tx)
		s.saveReaders(tx)
		for _, id := range ended {
			tx.Do(`DELETE FROM items WHERE item = ?`, id)
		}
		for _, agent := range idle {
			tx.Do(`DELETE FROM readers WHERE agent = ?`, int64(agent))
		}
		tx.Do(`DELETE FROM acts WHERE seq <= ? AND dated <= ?`, s.seq, last-window)
		tx.Do(`UPDATE checkpoint SET seq = ?, written = ?`, s.seq, s.written)
	})
	if err != nil {
		return 0, s.failed(ctx, "write a checkpoint", err)
	}
	s.saved = s.seq
	clear(s.changedItems)
	clear(s.changedReaders)
	return len(ended) + len(idle), nil
}

// saveItems writes the changed items, those with lists in the order in which these were written.
func (s *Store) saveItems(tx *sqlitefile.Tx) {
	save := tx.Prepared(`INSERT INTO items (item, dated, readers, written, list) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (item) DO UPDATE SET dated = excluded.dated, readers = excluded.readers, written = excluded.written, list = excluded.list`)
	for n := range s.changedItems {
		it := &s.items[n]
		if it.list == nil {
			save(it.id, it.dated, it.readers, 0, "")
		}
	}
	for l := s.oldest; l != nil; l = l.newer {
		if _, changed := s.changedItems[l.owner]; changed {
			s.written++
			it := &s.items[l.owner]
			save(it.id, it.dated, it.readers, s.written, s.lines(l))
		}
	}
}

func (s *Store) lines(l *list) string {
	var b strings.Builder
	for i, e := range l.entries {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\t%g\t%d", s.items[e.item].id, e.sum, e.people)
	}
	return b.String()
}

func (s *Store) saveReaders(tx *sqlitefile.Tx) {
	save := tx.Prepared(`INSERT INTO readers (agent, before, last, items) VALUES (?, ?, ?, ?)
		ON CONFLICT (agent) DO UPDATE SET before = excluded.before, last = excluded.last, items = excluded.items`)
	for agent := range s.changedReaders {
		r := s.readers[agent]
		ids := make([]string, len(r.items))
		for i, n := range r.items {
			ids[i] = s.items[n].id
		}
		save(int64(agent), r.before, r.last, strings.Join(ids, "\n"))
	}
}
