package sqlite

import (
	"context"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/sqlitefile"
)

// LearnedAges implements [catalog.LearnedAges] in the order of the agents' ids. A record that cannot be read
// is left out.
func (c *Catalog) LearnedAges(ctx context.Context, after string, n int) (list []catalog.LearnedAge, next string, err error) {
	rows, err := c.file.Scans.QueryContext(ctx, `SELECT agent, doc FROM profiles WHERE agent > ? ORDER BY agent LIMIT ?`, after, n)
	read := 0
	for row := range sqlitefile.Rows(rows, &err) {
		var doc []byte
		err = row.Scan(&next, &doc)
		read++
		if one, ok := catalog.LearnedAgeOf(next, doc); err == nil && ok {
			list = append(list, one)
		}
	}
	if err != nil {
		return nil, "", c.failed(ctx, "read the ages of what was learned", err)
	}
	if read < n {
		next = ""
	}
	return list, next, nil
}
