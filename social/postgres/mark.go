package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// markText is the one statement that makes rows dirty. A row that was marked
// while it runs waits already, so the earlier and the lesser hold for it, too.
const markText = `INSERT INTO jobs AS j (kind, key, generation, priority, state, due, run_at, attempts, error,
		lease, leased_generation, leased_till, finished)
	SELECT d.kind, d.key, 1, d.priority, 'pending', d.due, d.due, 0, '', 0, 0, 0, 0
	FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS d (kind, key, priority, due)
	ON CONFLICT (kind, key) DO UPDATE SET
		priority = CASE WHEN ` + idle + ` THEN excluded.priority ELSE least(j.priority, excluded.priority) END,
		due = CASE WHEN ` + idle + ` THEN excluded.due ELSE least(j.due, excluded.due) END,
		run_at = CASE WHEN ` + idle + ` THEN excluded.run_at ELSE least(j.run_at, excluded.run_at) END,
		state = CASE WHEN j.state = 'running' THEN j.state ELSE 'pending' END,
		generation = j.generation + 1, attempts = 0, error = '', finished = 0`

// lazyText leaves rows that wait as they are.
const lazyText = markText + ` WHERE j.state NOT IN ('pending', 'failed')`

// idle says that nothing waits in a row.
const idle = `(j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation)`

// mark is a row of the queue that a transaction makes dirty.
type mark struct {
	kind jobs.Kind
	key  string
}

func (m mark) compare(o mark) int {
	return cmp.Or(cmp.Compare(m.kind, o.kind), cmp.Compare(m.key, o.key))
}

// mark notes what this transaction makes dirty.
func (t *tx) mark(rows ...jobs.Dirty) {
	for _, d := range rows {
		key := mark{d.Kind, d.Key}
		if before, ok := t.dirty[key]; ok {
			d.Priority, d.After, d.Lazy = min(d.Priority, before.Priority), min(d.After, before.After), d.Lazy && before.Lazy
		}
		t.dirty[key] = d
	}
}

// markAll writes the notes in the order of their keys, which is everybody's.
func (t *tx) markAll() {
	order := slices.SortedFunc(maps.Keys(t.dirty), mark.compare)
	for _, lazy := range []bool{false, true} {
		var kinds, keys []string
		var priorities []int
		var due []int64
		for _, m := range order {
			if d := t.dirty[m]; d.Lazy == lazy {
				kinds, keys = append(kinds, string(d.Kind)), append(keys, d.Key)
				priorities, due = append(priorities, d.Priority), append(due, social.Stamp(t.now.Add(d.After)))
			}
		}
		text := markText
		if lazy {
			text = lazyText
		}
		if len(keys) > 0 {
			t.then(text, kinds, keys, priorities, due)
		}
	}
}

// wakes reports whether a row was marked that is due.
func (t *tx) wakes() bool {
	for _, d := range t.dirty {
		if d.After == 0 {
			return true
		}
	}
	return false
}

// Mark implements [jobs.Queue].
func (s *Store) Mark(ctx context.Context, rows ...jobs.Dirty) error {
	return queueFailed(ctx, "mark jobs", s.write(ctx, func(t *tx) error {
		t.mark(rows...)
		return nil
	}))
}

// Woken implements [jobs.Queue].
func (s *Store) Woken() <-chan struct{} { return s.woken }

// wake tells the workers of this process.
func (s *Store) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}
