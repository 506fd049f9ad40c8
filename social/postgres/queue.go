package postgres

import "github.com/freshet/freshet/social/sqlstore"

// markText makes rows dirty. A row that was marked while it runs waits already, so the
// earlier and the lesser hold for it, too.
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

// idle says that nothing waits in a row.
const idle = `(j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation)`

// expireText takes back leases that have run out; what somebody changes at this
// moment is left to the next.
const expireText = `UPDATE jobs SET state = CASE WHEN attempts >= $2 THEN 'dead' ELSE 'pending' END,
	finished = CASE WHEN attempts >= $2 THEN $1 ELSE 0 END, error = 'its lease ran out', leased_till = 0
	WHERE id = ANY (ARRAY(SELECT id FROM jobs WHERE state = 'running' AND leased_till <= $1 FOR UPDATE SKIP LOCKED))`

const waiting = `state IN ('pending', 'failed') AND run_at <= $1 AND (cardinality($2::text[]) = 0 OR kind = ANY ($2))`

// leaseText takes the rows that have waited too long, by how long, and then
// others by priority.
const leaseText = `WITH late AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + waiting + ` AND due <= $3 ORDER BY due, id LIMIT $4 FOR UPDATE SKIP LOCKED),
	others AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + waiting + ` AND due > $3 ORDER BY priority, due, id
		LIMIT (SELECT $4 - count(*) FROM late) FOR UPDATE SKIP LOCKED),
	taken (job) AS (SELECT id FROM late UNION ALL SELECT id FROM others)
	UPDATE jobs SET leased_till = $5, ` + sqlstore.Leased + ` FROM taken WHERE id = taken.job RETURNING ` + sqlstore.JobColumns

// heldText begins a statement that changes rows somebody has leased, $1 and $2
// their ids and leases, of $3 now: what is set follows. The rows are locked in
// the order of their keys, which is everybody's.
const heldText = `WITH held AS MATERIALIZED (
		SELECT j.id FROM unnest($1::bigint[], $2::bigint[]) h (id, lease)
		JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
		ORDER BY j.kind COLLATE "C", j.key FOR UPDATE OF j)
	UPDATE jobs SET `

// What ends a lease, or extends it.
const (
	renewText = heldText + `leased_till = $3 FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`

	failText = heldText + `leased_till = 0,
		state = CASE WHEN generation <> leased_generation THEN 'pending' WHEN $4 OR attempts < $7 THEN 'failed' ELSE 'dead' END,
		run_at = CASE WHEN generation = leased_generation THEN $3::bigint + $5::bigint ELSE run_at END,
		attempts = CASE WHEN generation = leased_generation AND $4 THEN greatest(attempts - 1, 0) ELSE attempts END,
		finished = CASE WHEN generation = leased_generation AND NOT $4 AND attempts >= $7 THEN $3 ELSE 0 END,
		error = $6 FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`

	giveBackText = heldText + `state = 'pending', leased_till = 0, attempts = greatest(attempts - 1, 0)
		FROM held WHERE jobs.id = held.id AND $3::bigint > 0 RETURNING jobs.id, state`
)

// doneText completes such rows, or removes those of the kinds $4. Which of the two
// is asked of each row as it was locked.
const doneText = `WITH held AS MATERIALIZED (
		SELECT j.id, j.kind = ANY ($4::text[]) AND j.generation = j.leased_generation AS over
		FROM unnest($1::bigint[], $2::bigint[]) h (id, lease) JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
		ORDER BY j.kind COLLATE "C", j.key FOR UPDATE OF j),
	removed AS (DELETE FROM jobs USING held WHERE jobs.id = held.id AND held.over RETURNING jobs.id),
	ended AS (UPDATE jobs SET leased_till = 0, state = CASE WHEN generation = leased_generation THEN 'completed' ELSE 'pending' END,
		error = '', finished = CASE WHEN generation = leased_generation THEN $3::bigint ELSE 0 END
		FROM held WHERE jobs.id = held.id AND NOT held.over RETURNING jobs.id, state)
	SELECT id, state FROM ended UNION ALL SELECT id, 'completed' FROM removed`

// statsText counts each state by an index of its own, which holds no rows of
// the other states. Completed rows may be millions.
const statsText = `SELECT kind, state, count(*) FROM jobs WHERE state IN ('pending', 'failed') GROUP BY kind, state
	UNION ALL SELECT kind, 'running', count(*) FROM jobs WHERE state = 'running' GROUP BY kind
	UNION ALL SELECT kind, 'dead', count(*) FROM jobs WHERE state = 'dead' GROUP BY kind`

const oldestText = `SELECT least($1::bigint, (SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed')),
	(SELECT min(due) FROM jobs WHERE state = 'running')),
	least($1::bigint, (SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND kind NOT IN ('index', 'count')),
	(SELECT min(due) FROM jobs WHERE state = 'running' AND kind NOT IN ('index', 'count')))`

const sweepText = `DELETE FROM jobs WHERE id = ANY (ARRAY(
	SELECT id FROM jobs WHERE state = 'completed' AND finished <= $1 ORDER BY finished LIMIT $2 FOR UPDATE SKIP LOCKED))`
