package postgres

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/social/sqlstore"
)

// changes reads changes by snapshots of PostgreSQL. Neither the number of a row nor the id of its
// transaction tells whether a reader has seen it, as transactions commit in another order than they begin:
// docs/decisions/changes.md.
var changes = sqlstore.ChangesDialect{
	Oldest: "3:3:", // the first id of a transaction
	State: `SELECT s.tableoid || '-' || s.epoch, pg_current_snapshot()::text, s.trimmed,
		s.trimmed_xid < pg_snapshot_xmin($1::text::pg_snapshot), pg_snapshot_xmax($2::text::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
		FROM changes_state s WHERE s.one AND s.epoch <> '' AND s.home = s.tableoid::text`,
	First: `WITH fresh AS MATERIALIZED (
			SELECT c.* FROM changes c WHERE c.xid >= (SELECT pg_snapshot_xmax($1::text::pg_snapshot)) AND c.xid < (SELECT pg_snapshot_xmax($2::text::pg_snapshot))
			UNION ALL SELECT own.* FROM pg_snapshot_xip($1::text::pg_snapshot) x (xid)
				CROSS JOIN LATERAL (SELECT c.* FROM changes c WHERE c.xid = x.xid OFFSET 0) own)
		SELECT ` + sqlstore.ChangeColumns + ` FROM fresh c WHERE pg_visible_in_snapshot(c.xid, $2::text::pg_snapshot)
			AND c.type = ANY ($3) AND ` + sqlstore.Unerased + ` ORDER BY c.seq LIMIT $4`,
	Next: `SELECT ` + sqlstore.ChangeColumns + ` FROM changes c WHERE c.seq > $5 AND pg_visible_in_snapshot(c.xid, $2::text::pg_snapshot)
		AND NOT pg_visible_in_snapshot(c.xid, $1::text::pg_snapshot) AND c.type = ANY ($3) AND ` + sqlstore.Unerased + ` ORDER BY c.seq LIMIT $4`,
	Restored: `DELETE FROM changes WHERE EXISTS (SELECT 1 FROM changes_state s WHERE s.home <> s.tableoid::text)`,
	Snapshot: isSnapshot,
}

// mostInProgress bounds the transactions in progress that a cursor may name. PostgreSQL has no more than
// sessions.
const mostInProgress = 1000

var snapshotText = regexp.MustCompile(`^[1-9]\d{0,17}:[1-9]\d{0,17}:(\d{1,18}(,\d{1,18})*)?$`)

// isSnapshot reports whether PostgreSQL reads a text as a pg_snapshot.
func isSnapshot(text string) bool {
	if len(text) > mostInProgress*20 || !snapshotText.MatchString(text) {
		return false
	}
	var numbers []int64
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ':' || r == ',' }) {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	first, end, running := numbers[0], numbers[1], numbers[2:]
	for _, n := range running {
		if n < first || n >= end {
			return false
		}
	}
	return first <= end && slices.IsSorted(running)
}
