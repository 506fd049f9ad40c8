package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/social/jobs"
)

// mark identifies a row of the queue.
type mark struct {
	kind jobs.Kind
	key  string
}

func (m mark) compare(o mark) int {
	return cmp.Or(cmp.Compare(m.kind, o.kind), cmp.Compare(m.key, o.key))
}

// mark collects the rows that this transaction makes dirty.
func (t *Tx) mark(rows ...jobs.Dirty) {
	for _, d := range rows {
		key := mark{d.Kind, d.Key}
		d.Priority = max(d.Priority, t.class)
		if before, ok := t.dirty[key]; ok {
			d.Priority, d.After, d.Lazy = min(d.Priority, before.Priority), min(d.After, before.After), d.Lazy && before.Lazy
		}
		t.dirty[key] = d
	}
}

// lowerIfOld lowers the priority of all marks to upkeep if an event reports an old change.
func (t *Tx) lowerIfOld(at time.Time) {
	if !at.IsZero() && t.now.Sub(at) > jobs.Imported {
		t.class = jobs.PriorityUpkeep
	}
}

// markAll writes the collected marks in the order of their keys, the lock order of all
// transactions.
func (t *Tx) markAll() {
	order := slices.SortedFunc(maps.Keys(t.dirty), mark.compare)
	for _, lazy := range []bool{false, true} {
		var kinds, keys []string
		var priorities []int
		var after []int64
		for _, m := range order {
			if d := t.dirty[m]; d.Lazy == lazy {
				kinds, keys = append(kinds, string(d.Kind)), append(keys, d.Key)
				priorities, after = append(priorities, d.Priority), append(after, d.After.Microseconds())
			}
		}
		text := markText
		if lazy {
			text += ` WHERE j.state NOT IN ('pending', 'failed')` // waiting rows stay unchanged
		}
		if len(keys) > 0 {
			t.later(text, queueNow(t.opts), Table{kinds, keys, priorities, after})
		}
	}
}

// wakes reports whether a row was marked that is due at once.
func (t *Tx) wakes() bool {
	for _, d := range t.dirty {
		if d.After == 0 {
			return true
		}
	}
	return false
}

// Mark implements [jobs.Queue].
func (s *Store) Mark(ctx context.Context, rows ...jobs.Dirty) error {
	return s.failed(ctx, "mark jobs", s.write(ctx, func(t *Tx) { t.mark(rows...) }))
}

// Woken implements [jobs.Queue].
func (s *Store) Woken() <-chan struct{} { return s.woken }

// wake wakes the workers of this process.
func (s *Store) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}
