package sqlstore

import (
	"strconv"
	"strings"

	"github.com/freshet/freshet/social/jobs"
)

// Parts of the queue's statements; see [Now].
var (
	// back is true if the clock has been set back since the row was changed.
	back = `changed > ` + Now + ` + ` + strconv.FormatInt(jobs.ClockJump.Microseconds(), 10)
	// expired is true if the row's lease has expired.
	expired = `(state = 'running' AND (leased_till <= ` + Now + ` OR ` + back + `))`
	// Changed sets the time of a row's change. If the clock has been set back since the last one,
	// it also sets times in the future to now.
	Changed = `changed = ` + Now + `, due = ` + notInFuture("due") + `, run_at = ` + notInFuture("run_at")
	// Waiting is true if the row may be leased and is of one of the kinds $2; an empty $2 means
	// all.
	Waiting = `state IN ('pending', 'failed') AND (run_at <= ` + Now + ` OR ` + back + `) AND (` + Either(`cardinality((SELECT $2::text[])) = 0`, `$2 = '[]'`) + ` OR kind ` + ofList2 + `)`
	// Completed ends a lease as completed, or as pending if the row was marked in the meantime.
	Completed = `leased_till = 0, state = CASE WHEN generation = leased_generation THEN 'completed' ELSE 'pending' END,
		error = '', ` + Changed + `, finished = CASE WHEN generation = leased_generation THEN ` + Now + ` ELSE 0 END`
)

// notInFuture returns a time of a row: now if it is in the future and the clock has been set back.
func notInFuture(column string) string {
	return `CASE WHEN ` + column + ` > ` + Now + ` AND ` + back + ` THEN ` + Now + ` ELSE ` + column + ` END`
}

const (
	// Leased sets the columns of a lease except for the worker and the times.
	Leased = `state = 'running', lease = lease + 1, leased_generation = generation, attempts = attempts + 1`
	// unleased undoes a lease.
	unleased = `state = 'pending', leased_till = 0, attempts = greatest(attempts - 1, 0)`
	// idle is true if nothing in the row is waiting to run.
	idle = `(j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation)`

	// countText counts each state by an index without rows of other states, or with that state as
	// its first column. There may be millions of completed rows.
	countText = `SELECT kind, state, count(*) FROM jobs WHERE state IN ('pending', 'failed') GROUP BY kind, state
		UNION ALL SELECT kind, 'running', count(*) FROM jobs WHERE state = 'running' GROUP BY kind
		UNION ALL SELECT kind, 'dead', count(*) FROM jobs WHERE state = 'dead' GROUP BY kind`
)

var (
	// enqueueText makes rows dirty. A row that was marked while it runs is already waiting, so the
	// earlier time and the lower priority number apply to it, too.
	enqueueText = `INSERT INTO jobs AS j (kind, key, generation, priority, state, due, run_at, attempts, error,
			lease, leased_generation, leased_till, finished, changed)
		SELECT d.kind, d.key, 1, d.priority, 'pending', ` + Now + ` + d.wait, ` + Now + ` + d.wait, 0, '', 0, 0, 0, 0, ` + Now + `
		FROM unnest($2::text[], $3::text[], $4::int[], $5::bigint[]) d (kind, key, priority, wait) WHERE true
		ON CONFLICT (kind, key) DO UPDATE SET
			priority = CASE WHEN ` + idle + ` THEN excluded.priority ELSE least(j.priority, excluded.priority) END,
			due = CASE WHEN ` + idle + ` THEN excluded.due ELSE least(j.due, excluded.due) END,
			run_at = CASE WHEN ` + idle + ` THEN excluded.run_at ELSE least(j.run_at, excluded.run_at) END,
			state = CASE WHEN j.state = 'running' THEN j.state ELSE 'pending' END,
			generation = j.generation + 1, attempts = 0, error = '', finished = 0, changed = excluded.changed`

	dueText    = `SELECT EXISTS (SELECT 1 FROM jobs WHERE ` + Waiting + `) OR EXISTS (SELECT 1 FROM jobs WHERE ` + expired + `)`
	expireText = `UPDATE jobs SET state = CASE WHEN attempts >= $2 THEN 'dead' ELSE 'pending' END, ` + Changed + `,
		finished = CASE WHEN attempts >= $2 THEN ` + Now + ` ELSE 0 END, error = 'its lease ran out', leased_till = 0
		WHERE ` + among(`id`, `jobs x WHERE `+expired)
	sweepText = deleting(`id`, `jobs x WHERE state = 'completed' AND finished <= `+Now+` - $2::bigint ORDER BY finished LIMIT $3`)

	// leaseText leases the rows $2 for the period $3 to the worker $4.
	leaseText = `UPDATE jobs SET leased_till = ` + Now + ` + $3::bigint, worker = $4, ` + Changed + `, ` + Leased + `
		FROM unnest($2::bigint[]) c (chosen) WHERE id = chosen RETURNING ` + JobColumns

	// Statements that end leases, or extend them.
	renewText = Held(`leased_till = ` + Now + ` + $4::bigint, ` + Changed)
	failText  = Held(`leased_till = 0, changed = ` + Now + `, due = ` + notInFuture("due") + `,
		state = CASE WHEN generation <> leased_generation THEN 'pending' WHEN $4 OR attempts < $7 THEN 'failed' ELSE 'dead' END,
		run_at = CASE WHEN generation = leased_generation THEN ` + Now + ` + $5::bigint ELSE ` + notInFuture("run_at") + ` END,
		attempts = CASE WHEN generation = leased_generation AND $4 THEN greatest(attempts - 1, 0) ELSE attempts END,
		finished = CASE WHEN generation = leased_generation AND NOT $4 AND attempts >= $7 THEN ` + Now + ` ELSE 0 END,
		error = $6`)
	releaseText        = Held(unleased + `, ` + Changed)
	releaseUnknownText = `UPDATE jobs SET ` + unleased + `, ` + Changed + ` WHERE ` + among(`id`, `jobs x WHERE x.state = 'running' AND x.worker = $4
		AND NOT EXISTS (SELECT 1 FROM unnest($2::bigint[], $3::bigint[]) h (id, lease) WHERE h.id = x.id AND h.lease = x.lease)`) + ` RETURNING id, state`

	oldestText = `SELECT ` + age(`kind <> 'export'`) + `, ` + age(ofLists) + `, ` + age(ofLists+` AND priority > `+strconv.Itoa(jobs.PriorityRemoval))
	ofLists    = `kind IN ` + kindsOfLists() + ` AND priority < ` + strconv.Itoa(jobs.PriorityLeftover)
)

// HeldRows are leased rows, $2 and $3 their ids and leases, locked in the order of their keys, the
// lock order of all transactions.
const HeldRows = `unnest($2::bigint[], $3::bigint[]) h (id, lease) JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
	ORDER BY j.kind COLLATE "C", j.key FOR UPDATE OF j`

// Held changes such rows, and returns the id and state of each.
func Held(set string) string {
	return `WITH held AS MATERIALIZED (SELECT j.id FROM ` + HeldRows + `)
		UPDATE jobs SET ` + set + ` FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`
}

// age is the time for which the oldest unfinished job with a condition has waited. It uses one
// index for each state.
func age(of string) string {
	return Now + ` - least(` + Now + `, coalesce((SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND ` + of + `), ` + Now + `),
		coalesce((SELECT min(due) FROM jobs WHERE state = 'running' AND ` + of + `), ` + Now + `))`
}

// kindsOfLists returns the kinds that lists wait for, as an SQL list.
func kindsOfLists() string {
	var list []string
	for _, kind := range jobs.Kinds() {
		if kind.OfLists() {
			list = append(list, `'`+string(kind)+`'`)
		}
	}
	return `(` + strings.Join(list, `, `) + `)`
}
