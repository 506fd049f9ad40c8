package sqlite

import (
	"context"
	"errors"
)

// Agents draws n of those who have a profile, as offline.Source says. It reads
// the ids of all profiles, which takes about a second for a million.
func (c *Catalog) Agents(ctx context.Context, n int, seed int64) (ids []string, err error) {
	rows, err := c.file.Scans.QueryContext(ctx, `SELECT agent FROM profiles`)
	if err != nil {
		return nil, failed(ctx, "sample agents", err)
	}
	defer func() { err = errors.Join(err, failed(ctx, "sample agents", rows.Close())) }()
	sample := newSample(n, seed)
	for rows.Next() {
		var agent string
		if err := rows.Scan(&agent); err != nil {
			return nil, failed(ctx, "sample agents", err)
		}
		sample.add(agent)
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, "sample agents", err)
	}
	return sample.ids(), nil
}
