package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// againRows is how many rows one transaction of Again marks.
const againRows = 10_000

// Again implements [jobs.Queue].
func (s *Store) Again(ctx context.Context, since time.Time, kinds ...jobs.Kind) (n int, err error) {
	of := make([]string, len(kinds))
	for i, kind := range kinds {
		of[i] = string(kind)
	}
	for after, more := int64(0), true; more; {
		var list []jobs.Job
		err = s.write(ctx, func(t *tx) (err error) {
			list, err = t.jobs(`SELECT `+jobColumns+` FROM jobs j WHERE kind = ANY ($2) AND id > $3
				AND (state = 'completed' AND finished >= $1 OR state = 'running') ORDER BY id LIMIT $4`,
				social.Stamp(since), of, after, againRows)
			for _, j := range list {
				t.mark(jobs.Dirty{Kind: j.Kind, Key: j.Key, Priority: j.Priority})
			}
			return err
		})
		if err != nil {
			break
		}
		if n, more = n+len(list), len(list) == againRows; more {
			after = list[len(list)-1].ID
		}
	}
	return n, queueFailed(ctx, "repeat jobs", err)
}

// List implements [jobs.Queue].
func (s *Store) List(ctx context.Context, f jobs.Filter) (list []jobs.Job, err error) {
	err = s.read(ctx, func(q querying) error {
		list, err = q.jobs(`SELECT `+jobColumns+` FROM jobs j WHERE id > $1 AND ($2 = '' OR kind = $2) AND ($3 = '' OR state = $3)
			AND ($4 = '' OR key = $4) ORDER BY id LIMIT $5`, f.After, string(f.Kind), string(f.State), f.Key, cmp.Or(f.Limit, 100))
		return err
	})
	return list, queueFailed(ctx, "list jobs", err)
}

// Retry implements [jobs.Queue].
func (s *Store) Retry(ctx context.Context, id int64) error {
	return queueFailed(ctx, "retry job", s.write(ctx, func(t *tx) error {
		j, err := scanJob(t.row(`SELECT `+jobColumns+` FROM jobs j WHERE id = $1`, id).Scan)
		if err != nil {
			return noJob(id, err)
		}
		t.mark(jobs.Dirty{Kind: j.Kind, Key: j.Key, Priority: j.Priority})
		return nil
	}))
}

func noJob(id int64, err error) error {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("job %d: %w", id, jobs.ErrNotFound)
	}
	return err
}

// Drop implements [jobs.Queue].
func (s *Store) Drop(ctx context.Context, id int64) error {
	return queueFailed(ctx, "drop job", s.read(ctx, func(q querying) error {
		n, err := q.exec(`DELETE FROM jobs WHERE id = $1`, id)
		if err == nil && n == 0 {
			return noJob(id, nil)
		}
		return err
	}))
}

// statsText counts each state by an index of its own, which holds no rows of
// the other states. Completed rows may be millions.
const statsText = `SELECT kind, state, count(*) FROM jobs WHERE state IN ('pending', 'failed') GROUP BY kind, state
	UNION ALL SELECT kind, 'running', count(*) FROM jobs WHERE state = 'running' GROUP BY kind
	UNION ALL SELECT kind, 'dead', count(*) FROM jobs WHERE state = 'dead' GROUP BY kind`

// Stats implements [jobs.Queue].
func (s *Store) Stats(ctx context.Context) (st jobs.Stats, err error) {
	err = s.snapshot(ctx, func(q querying) error {
		if err := q.each(func(rows pgx.Rows) error {
			var r jobs.Rows
			err := rows.Scan(&r.Kind, &r.State, &r.N)
			st.Rows = append(st.Rows, r)
			return err
		}, statsText); err != nil {
			return err
		}
		now := social.Stamp(s.opts.Clock())
		var oldest, ofLists int64
		if err := q.row(`SELECT least($1::bigint, (SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed')),
			(SELECT min(due) FROM jobs WHERE state = 'running')),
			least($1::bigint, (SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND kind NOT IN ('index', 'count')),
			(SELECT min(due) FROM jobs WHERE state = 'running' AND kind NOT IN ('index', 'count')))`, now).Scan(&oldest, &ofLists); err != nil {
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
	err := s.read(ctx, func(q querying) (err error) {
		removed, err = q.exec(`DELETE FROM jobs WHERE id = ANY (ARRAY(
			SELECT id FROM jobs WHERE state = 'completed' AND finished <= $1 ORDER BY finished LIMIT $2 FOR UPDATE SKIP LOCKED))`,
			social.Stamp(s.opts.Clock().Add(-jobs.CompletedLives)), n)
		return err
	})
	return int(removed), queueFailed(ctx, "sweep jobs", err)
}
