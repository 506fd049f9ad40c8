package sqlite

import (
	"context"
	"errors"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
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
	return c.known(ctx, sample.ids())
}

// known leaves out whose record only says that they were erased.
func (c *Catalog) known(ctx context.Context, agents []string) ([]string, error) {
	known := agents[:0]
	for _, agent := range agents {
		_, err := c.Profile(ctx, agent)
		switch {
		case errors.Is(err, feed.ErrNotFound):
			continue
		case errors.Is(err, catalog.ErrUnavailable) || ctx.Err() != nil:
			return nil, err
		}
		known = append(known, agent) // a damaged one is reported when it is used
	}
	return known, nil
}
