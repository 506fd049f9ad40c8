package sqlite

import (
	"context"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// markText is the one statement that makes a row dirty. A row that was marked
// while it runs waits already, so the earlier and the lesser hold for it, too.
const markText = `INSERT INTO jobs (kind, key, generation, priority, state, due, run_at, attempts, error,
		lease, leased_generation, leased_till, finished)
	VALUES (?1, ?2, 1, ?3, 'pending', ?4, ?4, 0, '', 0, 0, 0, 0)
	ON CONFLICT (kind, key) DO UPDATE SET
		priority = CASE WHEN ` + idle + ` THEN ?3 ELSE min(priority, ?3) END,
		due = CASE WHEN ` + idle + ` THEN ?4 ELSE min(due, ?4) END,
		run_at = CASE WHEN ` + idle + ` THEN ?4 ELSE min(run_at, ?4) END,
		state = CASE WHEN state = 'running' THEN state ELSE 'pending' END,
		generation = generation + 1, attempts = 0, error = '', finished = 0
	WHERE NOT (?5 AND state IN ('pending', 'failed'))`

// idle says that nothing waits in a row.
const idle = `(state IN ('completed', 'dead') OR state = 'running' AND generation = leased_generation)`

// mark notes in this transaction what it makes dirty.
func (t *tx) mark(rows ...jobs.Dirty) error {
	for _, d := range rows {
		if _, err := t.exec(markText, d.Kind, d.Key, d.Priority, social.Stamp(t.now.Add(d.After)), d.Lazy); err != nil {
			return err
		}
		t.woken = t.woken || d.After == 0
	}
	return nil
}

// Mark implements [jobs.Queue].
func (s *Store) Mark(ctx context.Context, rows ...jobs.Dirty) error {
	return queueFailed(ctx, "mark jobs", s.write(ctx, func(t *tx) error { return t.mark(rows...) }))
}

func queueFailed(ctx context.Context, what string, err error) error {
	return failedAs(ctx, jobs.ErrUnavailable, what, err)
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
