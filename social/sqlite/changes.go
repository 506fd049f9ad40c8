package sqlite

import (
	"strconv"

	"github.com/freshet/freshet/social/sqlstore"
)

// changes reads changes by their numbers: there is one writer, so they are committed in this order.
var changes = sqlstore.ChangesDialect{
	Oldest: "0",
	State: `SELECT s.epoch, CAST(ifnull(n.seq, 0) AS TEXT), s.trimmed, CAST($1 AS INTEGER) >= s.trimmed, CAST($2 AS INTEGER) > ifnull(n.seq, 0)
		FROM changes_state s LEFT JOIN sqlite_sequence n ON n.name = 'changes' WHERE s.one AND s.epoch <> ''`,
	First: between(``),
	Next:  between(` AND c.seq > $5`),
	Snapshot: func(text string) bool {
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
	},
}

func between(above string) string {
	return `SELECT ` + sqlstore.ChangeColumns + ` FROM changes c WHERE c.seq > CAST($1 AS INTEGER) AND c.seq <= CAST($2 AS INTEGER)` + above +
		` AND c.type = ANY ($3) AND ` + sqlstore.Unerased + ` ORDER BY c.seq LIMIT $4`
}
