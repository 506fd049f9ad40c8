package sqlite

import (
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social/sqlstore"
)

var dialect = sqlstore.Dialect{
	Name: "sqlite", Reason: sqlitefile.Advised, Damaged: sqlitefile.Refused, OneWriter: true,
	Changes: changes,
	// One statement that selects both and leases takes twice as long.
	Choose: [2]string{
		`SELECT id FROM jobs INDEXED BY jobs_by_due WHERE ` + sqlstore.Waiting + ` AND due <= ` + sqlstore.Now + ` - $3 ORDER BY due, id LIMIT $4`,
		`SELECT id FROM jobs INDEXED BY jobs_by_priority WHERE ` + sqlstore.Waiting + `
			AND id NOT IN (SELECT value FROM json_each($3)) ORDER BY priority, due, id LIMIT $4`,
	},
	Done:   sqlstore.Held(sqlstore.Completed),
	Remove: `DELETE FROM jobs WHERE id = $1 AND lease = $2 AND state = 'running' AND generation = leased_generation`,
}
