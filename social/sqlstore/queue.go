package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// againRows is the number of rows that one transaction of Again marks.
const againRows = 10_000

// Reenqueue implements [jobs.Queue].
func (s *Store) Reenqueue(ctx context.Context, since time.Time, kinds ...jobs.Kind) (n int, err error) {
	age := s.opts.Clock().Sub(since).Microseconds() // by the clock that since was read from
	for after, more := int64(0), true; more; {
		var list []jobs.Job
		err = s.write(ctx, func(t *Tx) {
			list = t.jobs(`SELECT `+JobColumns+` FROM jobs WHERE kind = ANY ($2) AND id > $3
				AND (state = 'completed' AND finished >= `+Now+` - $5::bigint OR state = 'running') ORDER BY id LIMIT $4`,
				queueNow(s.opts), names(kinds), after, againRows, age)
			for _, j := range list {
				t.enqueue(jobs.Spec{Kind: j.Kind, Key: j.Key, Priority: jobs.PriorityUpkeep})
			}
		})
		if err != nil {
			break
		}
		n, more = n+len(list), len(list) == againRows
		if more {
			after = list[len(list)-1].ID
		}
	}
	return n, s.failed(ctx, "repeat jobs", err)
}

// names returns the kinds as strings.
func names(kinds []jobs.Kind) []string {
	return convert.Each(kinds, func(kind jobs.Kind) string { return string(kind) })
}

// List implements [jobs.Queue].
func (s *Store) List(ctx context.Context, f jobs.Filter) (list []jobs.Job, err error) {
	err = s.read(ctx, func(q *Query) {
		list = q.jobs(`SELECT `+JobColumns+` FROM jobs WHERE id > $1 AND ($2 = '' OR kind = $2) AND ($3 = '' OR state = $3)
			AND ($4 = '' OR key = $4) ORDER BY id LIMIT $5`, f.After, string(f.Kind), string(f.State), f.Key, cmp.Or(f.Limit, 100))
	})
	return list, s.failed(ctx, "list jobs", err)
}

// Retry implements [jobs.Queue].
func (s *Store) Retry(ctx context.Context, id int64) error {
	return s.failed(ctx, "retry job", s.write(ctx, func(t *Tx) {
		list := t.jobs(`SELECT `+JobColumns+` FROM jobs WHERE id = $1`, id)
		if len(list) == 0 {
			t.fail(noJob(id))
			return
		}
		for _, j := range list {
			t.enqueue(jobs.Spec{Kind: j.Kind, Key: j.Key, Priority: j.Priority})
		}
	}))
}

func noJob(id int64) error {
	return fmt.Errorf("job %d: %w", id, feed.Errorf(feed.ErrNotFound, "not found: there is no job with this id"))
}

// Drop implements [jobs.Queue].
func (s *Store) Drop(ctx context.Context, id int64) error {
	return s.failed(ctx, "drop job", s.alone(ctx, func(q *Query) {
		deleted := q.exec(`DELETE FROM jobs WHERE id = $1`, id)
		if deleted == 0 {
			q.fail(noJob(id))
			return
		}
	}))
}

// Stats implements [jobs.Queue].
func (s *Store) Stats(ctx context.Context) (st jobs.Stats, err error) {
	err = s.snapshot(ctx, func(q *Query) {
		st.Rows = rowsOf(q, func(r *jobs.Rows) []any { return into(&r.Kind, &r.State, &r.N) }, countText)
		st.Ages = q.ages(s.opts)
	})
	return st, s.failed(ctx, "count jobs", err)
}

// Ages implements [jobs.Queue].
func (s *Store) Ages(ctx context.Context) (a jobs.Ages, err error) {
	err = s.read(ctx, func(q *Query) { a = q.ages(s.opts) })
	return a, s.failed(ctx, "read the age of jobs", err)
}

func (q *Query) ages(o social.Options) jobs.Ages {
	var all, ofLists, missing int64
	q.row(into(&all, &ofLists, &missing), oldestText, queueNow(o))
	return jobs.Ages{Oldest: micros(all), OldestOfLists: micros(ofLists), OldestMissing: micros(missing)}
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// Sweep implements [jobs.Queue].
func (s *Store) Sweep(ctx context.Context, n int) (int, error) {
	var removed int64
	err := s.alone(ctx, func(q *Query) {
		removed = q.exec(sweepText, queueNow(s.opts), jobs.CompletedTTL.Microseconds(), n)
	})
	return int(removed), s.failed(ctx, "sweep jobs", err)
}
