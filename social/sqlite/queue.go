package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Again implements [jobs.Queue].
func (s *Store) Again(ctx context.Context, since time.Time, kinds ...jobs.Kind) (n int, err error) {
	err = s.write(ctx, func(t *tx) error {
		list, err := t.jobs(`SELECT `+jobColumns+` FROM jobs WHERE kind IN (SELECT value FROM json_each(?2))
			AND (state = 'completed' AND finished >= ?1 OR state = 'running')`, social.Stamp(since), array(append([]jobs.Kind{}, kinds...)))
		if err != nil {
			return err
		}
		n = len(list)
		for _, j := range list {
			if err := t.mark(jobs.Dirty{Kind: j.Kind, Key: j.Key, Priority: j.Priority}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, queueFailed(ctx, "repeat jobs", err)
}

// List implements [jobs.Queue].
func (s *Store) List(ctx context.Context, f jobs.Filter) (list []jobs.Job, err error) {
	err = s.readers.read(ctx, func(q *reading) error {
		list, err = q.jobs(`SELECT `+jobColumns+` FROM jobs WHERE id > ?1 AND (?2 = '' OR kind = ?2) AND (?3 = '' OR state = ?3)
			AND (?4 = '' OR key = ?4) ORDER BY id LIMIT +?5`, f.After, f.Kind, f.State, f.Key, cmp.Or(f.Limit, 100))
		return err
	})
	return list, queueFailed(ctx, "list jobs", err)
}

// Retry implements [jobs.Queue].
func (s *Store) Retry(ctx context.Context, id int64) error {
	return queueFailed(ctx, "retry job", s.write(ctx, func(t *tx) error {
		j, err := scanJob(t.row(`SELECT `+jobColumns+` FROM jobs WHERE id = ?`, id).Scan)
		if err != nil {
			return noJob(id, err)
		}
		return t.mark(jobs.Dirty{Kind: j.Kind, Key: j.Key, Priority: j.Priority})
	}))
}

func noJob(id int64, err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("job %d: %w", id, jobs.ErrNotFound)
	}
	return err
}

// Drop implements [jobs.Queue].
func (s *Store) Drop(ctx context.Context, id int64) error {
	return queueFailed(ctx, "drop job", s.write(ctx, func(t *tx) error {
		n, err := t.exec(`DELETE FROM jobs WHERE id = ?`, id)
		if err == nil && n == 0 {
			return noJob(id, nil)
		}
		return err
	}))
}

// Stats implements [jobs.Queue].
func (s *Store) Stats(ctx context.Context) (st jobs.Stats, err error) {
	err = s.readers.snapshot(ctx, func(q *reading) error {
		if err := q.each(func(rows *sql.Rows) error {
			var r jobs.Rows
			err := rows.Scan(&r.Kind, &r.State, &r.N)
			st.Rows = append(st.Rows, r)
			return err
		}, `SELECT kind, state, count(*) FROM jobs WHERE state IN ('pending', 'running', 'failed', 'dead') GROUP BY state, kind`); err != nil {
			return err
		}
		now := social.Stamp(s.opts.Clock())
		var oldest, ofLists int64
		if err := q.row(`SELECT min(ifnull((SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed')), ?1),
			ifnull((SELECT min(due) FROM jobs WHERE state = 'running'), ?1)),
			min(ifnull((SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND kind NOT IN ('index', 'count')), ?1),
			ifnull((SELECT min(due) FROM jobs WHERE state = 'running' AND kind NOT IN ('index', 'count')), ?1))`, now).Scan(&oldest, &ofLists); err != nil {
			return err
		}
		st.Oldest = time.Duration(now-oldest) * time.Microsecond
		st.OldestOfLists = time.Duration(now-ofLists) * time.Microsecond
		return nil
	})
	return st, queueFailed(ctx, "count jobs", err)
}

// Sweep implements [jobs.Queue].
func (s *Store) Sweep(ctx context.Context, n int) (int, error) {
	var removed int64
	err := s.write(ctx, func(t *tx) (err error) {
		removed, err = t.exec(`DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE state = 'completed' AND finished <= ? ORDER BY finished LIMIT +?)`,
			social.Stamp(t.now.Add(-jobs.CompletedLives)), n)
		return err
	})
	return int(removed), queueFailed(ctx, "sweep jobs", err)
}
