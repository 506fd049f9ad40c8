package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/social/jobs"
)

// rowKey identifies a row of the queue.
type rowKey struct {
	kind jobs.Kind
	key  string
}

func (m rowKey) compare(o rowKey) int {
	return cmp.Or(cmp.Compare(m.kind, o.kind), cmp.Compare(m.key, o.key))
}

// enqueue collects the rows that this transaction makes dirty.
func (t *Tx) enqueue(rows ...jobs.Spec) {
	for _, d := range rows {
		key := rowKey{d.Kind, d.Key}
		d.Priority = max(d.Priority, t.class)
		if before, ok := t.specs[key]; ok {
			d.Priority, d.After, d.Lazy = min(d.Priority, before.Priority), min(d.After, before.After), d.Lazy && before.Lazy
		}
		t.specs[key] = d
	}
}

// lowerIfOld lowers the priority of all marks to upkeep if an event reports an old change.
func (t *Tx) lowerIfOld(at time.Time) {
	if !at.IsZero() && t.now.Sub(at) > jobs.Imported {
		t.class = jobs.PriorityUpkeep
	}
}

// writeSpecs writes the collected marks in the order of their keys, the lock order of all
// transactions.
func (t *Tx) writeSpecs() {
	order := slices.SortedFunc(maps.Keys(t.specs), rowKey.compare)
	for _, lazy := range []bool{false, true} {
		var kinds, keys []string
		var priorities []int
		var after []int64
		for _, m := range order {
			d := t.specs[m]
			if d.Lazy == lazy {
				kinds, keys = append(kinds, string(d.Kind)), append(keys, d.Key)
				priorities, after = append(priorities, d.Priority), append(after, d.After.Microseconds())
			}
		}
		text := enqueueText
		if lazy {
			text += ` WHERE j.state NOT IN ('pending', 'failed')` // waiting rows stay unchanged
		}
		if len(keys) > 0 {
			t.later(text, queueNow(t.opts), Table{kinds, keys, priorities, after})
		}
	}
}

// hasDueNow reports whether a row was marked that is due at once.
func (t *Tx) hasDueNow() bool {
	for _, d := range t.specs {
		if d.After == 0 {
			return true
		}
	}
	return false
}

// Enqueue implements [jobs.Queue].
func (s *Store) Enqueue(ctx context.Context, rows ...jobs.Spec) error {
	return s.failed(ctx, "mark jobs", s.write(ctx, func(t *Tx) { t.enqueue(rows...) }))
}

// Notify implements [jobs.Queue].
func (s *Store) Notify() <-chan struct{} { return s.notified }

// notify wakes the workers of this process.
func (s *Store) notify() {
	select {
	case s.notified <- struct{}{}:
	default:
	}
}
