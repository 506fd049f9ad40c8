package sqlite

import "github.com/freshet/freshet/social/sqlstore"

// now is the queue's clock: the parameter, which is always given.
func now(parameter string) string { return parameter }

// markText makes rows dirty. A row that was marked while it runs waits already, so the
// earlier and the lesser hold for it, too.
const markText = `INSERT INTO jobs AS j (kind, key, generation, priority, state, due, run_at, attempts, error,
		lease, leased_generation, leased_till, finished, changed)
	VALUES ($1, $2, 1, $3, 'pending', $5 + $4, $5 + $4, 0, '', 0, 0, 0, 0, $5)
	ON CONFLICT (kind, key) DO UPDATE SET
		priority = CASE WHEN ` + idle + ` THEN excluded.priority ELSE min(j.priority, excluded.priority) END,
		due = CASE WHEN ` + idle + ` THEN excluded.due ELSE min(j.due, excluded.due) END,
		run_at = CASE WHEN ` + idle + ` THEN excluded.run_at ELSE min(j.run_at, excluded.run_at) END,
		state = CASE WHEN j.state = 'running' THEN j.state ELSE 'pending' END,
		generation = j.generation + 1, attempts = 0, error = '', finished = 0, changed = excluded.changed`

// idle says that nothing waits in a row.
const idle = `(j.state IN ('completed', 'dead') OR j.state = 'running' AND j.generation = j.leased_generation)`

var waiting = `state IN ('pending', 'failed') AND (run_at <= $1 OR ` + sqlstore.Back("$1") + `) AND ($2 = '[]' OR kind = ANY ($2))`

// dueText is asked first: whoever polls an idle queue does not disturb the writer.
var dueText = `SELECT EXISTS (SELECT 1 FROM jobs WHERE ` + waiting + `)
	OR EXISTS (SELECT 1 FROM jobs WHERE ` + sqlstore.Over("$1") + `)`

var expireText = `UPDATE jobs SET state = CASE WHEN attempts >= $2 THEN 'dead' ELSE 'pending' END, ` + sqlstore.Changed("$1") + `,
	finished = CASE WHEN attempts >= $2 THEN $1 ELSE 0 END, error = 'its lease ran out', leased_till = 0
	WHERE ` + sqlstore.Over("$1")

// What a lease chooses from. One statement for both, and the lease, takes twice as long.
var (
	overdueText = `SELECT id FROM jobs INDEXED BY jobs_by_due WHERE ` + waiting + ` AND due <= $1 - $3 ORDER BY due, id LIMIT $4`
	othersText  = `SELECT id FROM jobs INDEXED BY jobs_by_priority WHERE ` + waiting + `
		AND id NOT IN (SELECT value FROM json_each($3)) ORDER BY priority, due, id LIMIT $4`
)

var oldestText = `SELECT ` + sqlstore.Ages(age)

// age is how long the oldest job that is not done has waited, of those for which a condition
// holds. It looks into an index for each state.
func age(of string) string {
	return `$1 - min($1, ifnull((SELECT min(due) FROM jobs WHERE state IN ('pending', 'failed') AND ` + of + `), $1),
		ifnull((SELECT min(due) FROM jobs WHERE state = 'running' AND ` + of + `), $1))`
}

// held ends the text of a statement that changes a row somebody has leased: $1 and $2 are
// its id and lease, $3 is now.
const held = ` WHERE id = $1 AND lease = $2 AND state = 'running'`

// What ends a lease, or extends it.
var (
	changed   = sqlstore.Changed("$3")
	renewText = `UPDATE jobs SET leased_till = $3 + $4, ` + changed + held + ` RETURNING id, state`

	removeText   = `DELETE FROM jobs` + held + ` AND generation = leased_generation`
	completeText = `UPDATE jobs SET leased_till = 0, state = CASE WHEN generation = leased_generation THEN 'completed' ELSE 'pending' END,
		error = '', ` + changed + `, finished = CASE WHEN generation = leased_generation THEN $3 ELSE 0 END` + held + ` RETURNING id, state`

	failText = `UPDATE jobs SET leased_till = 0, changed = $3, due = ` + sqlstore.Kept("due", "$3") + `,
		state = CASE WHEN generation <> leased_generation THEN 'pending' WHEN $4 OR attempts < $7 THEN 'failed' ELSE 'dead' END,
		run_at = CASE WHEN generation = leased_generation THEN $3 + $5 ELSE ` + sqlstore.Kept("run_at", "$3") + ` END,
		attempts = CASE WHEN generation = leased_generation AND $4 THEN max(attempts - 1, 0) ELSE attempts END,
		finished = CASE WHEN generation = leased_generation AND NOT $4 AND attempts >= $7 THEN $3 ELSE 0 END,
		error = $6` + held + ` RETURNING id, state`

	// unleased makes a row as if it had not been leased.
	unleased     = `state = 'pending', leased_till = 0, attempts = max(attempts - 1, 0)`
	giveBackText = `UPDATE jobs SET ` + unleased + `, ` + changed + held + ` RETURNING id, state`
	takeBackText = `UPDATE jobs SET ` + unleased + `, ` + sqlstore.Changed("$2") + ` WHERE state = 'running' AND worker = $3
		AND (id, lease) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each($1)) RETURNING id, state`
)
