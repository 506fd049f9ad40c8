package postgres

import "github.com/freshet/freshet/social/sqlstore"

var dialect = sqlstore.Dialect{Name: "postgres", Reason: reason, Damaged: damaged, Lease: leaseText, Done: doneText, Changes: changes}

// leaseText leases overdue rows, the oldest first, and then others by priority. It compares with
// the ids of the overdue rows as an array, so that the others are read in the order of their index.
var leaseText = `WITH late AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + sqlstore.Waiting + ` AND due <= ` + sqlstore.Now + ` - $3::bigint ORDER BY due, id LIMIT $7 FOR UPDATE SKIP LOCKED),
	others AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + sqlstore.Waiting + ` AND id <> ALL (ARRAY(SELECT id FROM late)) ORDER BY priority, due, id
		LIMIT (SELECT $4 - count(*) FROM late) FOR UPDATE SKIP LOCKED),
	taken (job) AS (SELECT id FROM late UNION ALL SELECT id FROM others)
	UPDATE jobs SET leased_till = ` + sqlstore.Now + ` + $5::bigint, worker = $6, ` + sqlstore.Changed + `, ` + sqlstore.Leased + `
	FROM taken WHERE id = taken.job RETURNING ` + sqlstore.JobColumns

// doneText completes rows, or removes those of the kinds $4. It chooses by each row's state after
// it was locked.
var doneText = `WITH held AS MATERIALIZED (
		SELECT j.id, j.kind = ANY ($4::text[]) AND j.generation = j.leased_generation AS over FROM ` + sqlstore.HeldRows + `),
	removed AS (DELETE FROM jobs USING held WHERE jobs.id = held.id AND held.over RETURNING jobs.id),
	ended AS (UPDATE jobs SET ` + sqlstore.Completed + ` FROM held WHERE jobs.id = held.id AND NOT held.over RETURNING jobs.id, state)
	SELECT id, state FROM ended UNION ALL SELECT id, 'completed' FROM removed`
