package postgres

import "github.com/freshet/freshet/social/sqlstore"

// now is the queue's clock: the parameter, or this database's own clock, which is the same
// for all servers. It does not pass while a statement runs, so that an index can be searched
// by it.
func now(parameter string) string {
	return `coalesce(` + parameter + `::bigint, (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)`
}

// markText makes rows dirty. A row that was marked while it runs waits already, so the
// earlier and the lesser hold for it, too.
var markText = `INSERT INTO jobs AS j (kind, key, generation, priority, state, due, run_at, attempts, error,
		lease, leased_generation, leased_till, finished, changed)
	SELECT d.kind, d.key, 1, d.priority, 'pending', ` + now("$5") + ` + d.after, ` + now("$5") + ` + d.after, 0, '', 0, 0, 0, 0, ` + now("$5") + `
	FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS d (kind, key, priority, after)
	ON CONFLICT (kind, key) DO UPDATE SET
		priority = CASE WHEN ` + idle + ` THEN excluded.priority ELSE least(j.priority, excluded.priority) END,
		due = CASE WHEN ` + idle + ` THEN excluded.due ELSE least(j.due, excluded.due) END,
		run_at = CASE WHEN ` + idle + ` THEN excluded.run_at ELSE least(j.run_at, excluded.run_at) END,
		state = CASE WHEN j.state = 'running' THEN j.state ELSE 'pending' END,
		generation = j.generation + 1, attempts = 0, error = '', finished = 0, changed = excluded.changed`

// idle says that nothing waits in a row.
const idle = `(j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation)`

// expireText takes back leases that have run out; what somebody changes at this
// moment is left to the next.
var expireText = `UPDATE jobs SET state = CASE WHEN attempts >= $2 THEN 'dead' ELSE 'pending' END, ` + sqlstore.Changed(now("$1")) + `,
	finished = CASE WHEN attempts >= $2 THEN ` + now("$1") + ` ELSE 0 END, error = 'its lease ran out', leased_till = 0
	WHERE id = ANY (ARRAY(SELECT id FROM jobs WHERE ` + sqlstore.Over(now("$1")) + ` FOR UPDATE SKIP LOCKED))`

var waiting = `state IN ('pending', 'failed') AND (run_at <= ` + now("$1") + ` OR ` + sqlstore.Back(now("$1")) + `)
	AND (cardinality($2::text[]) = 0 OR kind = ANY ($2))`

// leaseText takes some rows that have waited too long, by how long, and then
// others by priority. The ids of the first are compared as an array, so that the second are
// found in the order of their index.
var leaseText = `WITH late AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + waiting + ` AND due <= ` + now("$1") + ` - $3::bigint ORDER BY due, id LIMIT $7 FOR UPDATE SKIP LOCKED),
	others AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + waiting + ` AND id <> ALL (ARRAY(SELECT id FROM late)) ORDER BY priority, due, id
		LIMIT (SELECT $4 - count(*) FROM late) FOR UPDATE SKIP LOCKED),
	taken (job) AS (SELECT id FROM late UNION ALL SELECT id FROM others)
	UPDATE jobs SET leased_till = ` + now("$1") + ` + $5::bigint, worker = $6, ` + sqlstore.Changed(now("$1")) + `, ` + sqlstore.Leased + `
	FROM taken WHERE id = taken.job RETURNING ` + sqlstore.JobColumns

// heldText begins a statement that changes rows somebody has leased, $1 and $2
// their ids and leases, $3 now: what is set follows. The rows are locked in
// the order of their keys, which is everybody's.
const heldText = `WITH held AS MATERIALIZED (
		SELECT j.id FROM unnest($1::bigint[], $2::bigint[]) h (id, lease)
		JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
		ORDER BY j.kind COLLATE "C", j.key FOR UPDATE OF j)
	UPDATE jobs SET `

// What ends a lease, or extends it.
var (
	renewText = heldText + `leased_till = ` + now("$3") + ` + $4::bigint, ` + sqlstore.Changed(now("$3")) + ` FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`

	failText = heldText + `leased_till = 0, changed = ` + now("$3") + `, due = ` + sqlstore.Kept("due", now("$3")) + `,
		state = CASE WHEN generation <> leased_generation THEN 'pending' WHEN $4 OR attempts < $7 THEN 'failed' ELSE 'dead' END,
		run_at = CASE WHEN generation = leased_generation THEN ` + now("$3") + ` + $5::bigint ELSE ` + sqlstore.Kept("run_at", now("$3")) + ` END,
		attempts = CASE WHEN generation = leased_generation AND $4 THEN greatest(attempts - 1, 0) ELSE attempts END,
		finished = CASE WHEN generation = leased_generation AND NOT $4 AND attempts >= $7 THEN ` + now("$3") + ` ELSE 0 END,
		error = $6 FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`

	giveBackText = heldText + unleased + `, ` + sqlstore.Changed(now("$3")) + ` FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`

	takeBackText = `UPDATE jobs SET ` + unleased + `, ` + sqlstore.Changed(now("$3")) + ` WHERE id = ANY (ARRAY(
		SELECT j.id FROM jobs j WHERE j.state = 'running' AND j.worker = $4
		AND NOT EXISTS (SELECT 1 FROM unnest($1::bigint[], $2::bigint[]) h (id, lease) WHERE h.id = j.id AND h.lease = j.lease)
		FOR UPDATE SKIP LOCKED)) RETURNING id, state`
)

// unleased makes a row as if it had not been leased.
const unleased = `state = 'pending', leased_till = 0, attempts = greatest(attempts - 1, 0)`

// doneText completes such rows, or removes those of the kinds $4. Which of the two
// is asked of each row as it was locked.
var doneText = `WITH held AS MATERIALIZED (
		SELECT j.id, j.kind = ANY ($4::text[]) AND j.generation = j.leased_generation AS over
		FROM unnest($1::bigint[], $2::bigint[]) h (id, lease) JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
		ORDER BY j.kind COLLATE "C", j.key FOR UPDATE OF j),
	removed AS (DELETE FROM jobs USING held WHERE jobs.id = held.id AND held.over RETURNING jobs.id),
	ended AS (UPDATE jobs SET leased_till = 0, state = CASE WHEN generation = leased_generation THEN 'completed' ELSE 'pending' END,
		error = '', ` + sqlstore.Changed(now("$3")) + `, finished = CASE WHEN generation = leased_generation THEN ` + now("$3") + ` ELSE 0 END
		FROM held WHERE jobs.id = held.id AND NOT held.over RETURNING jobs.id, state)
	SELECT id, state FROM ended UNION ALL SELECT id, 'completed' FROM removed`

// statsText counts each state by an index of its own, which holds no rows of
// the other states. Completed rows may be millions.
const statsText = `SELECT kind, state, count(*) FROM jobs WHERE state IN ('pending', 'failed') GROUP BY kind, state
	UNION ALL SELECT kind, 'running', count(*) FROM jobs WHERE state = 'running' GROUP BY kind
	UNION ALL SELECT kind, 'dead', count(*) FROM jobs WHERE state = 'dead' GROUP BY kind`

var oldestText = `SELECT ` + sqlstore.Ages(age)

// age is how long the oldest job that is not done has waited, of those for which a condition
// holds. It looks into an index for each state.
func age(of string) string {
	return now("$1") + ` - least(` + now("$1") + `, (SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND ` + of + `),
		(SELECT min(due) FROM jobs WHERE state = 'running' AND ` + of + `))`
}

var sweepText = `DELETE FROM jobs WHERE id = ANY (ARRAY(
	SELECT id FROM jobs WHERE state = 'completed' AND finished <= ` + now("$1") + ` - $2::bigint ORDER BY finished LIMIT $3 FOR UPDATE SKIP LOCKED))`
