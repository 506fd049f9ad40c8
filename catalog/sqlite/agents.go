package sqlite

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
)

// Agents draws n of the agents with a profile, as defined by offline.Source. It reads the ids
// of all profiles, which takes about a second for a million.
func (c *Catalog) Agents(ctx context.Context, n int, seed int64) ([]string, error) {
	draw := rand.New(rand.NewPCG(uint64(seed), 0))
	var drawn []string
	seen := 0
	rows, err := c.file.Scans.QueryContext(ctx, `SELECT agent FROM profiles ORDER BY agent`)
	for row := range sqlitefile.Rows(rows, &err) {
		var agent string
		err = row.Scan(&agent)
		seen++
		if len(drawn) < n {
			drawn = append(drawn, agent)
		} else if i := draw.IntN(seen); i < n { // with the same probability as each before
			drawn[i] = agent
		}
	}
	if err != nil {
		return nil, c.failed(ctx, "sample agents", err)
	}
	slices.Sort(drawn)
	return c.known(ctx, drawn)
}

// known removes agents whose record only marks an erasure.
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
		known = append(known, agent) // a damaged profile is reported when it is used
	}
	return known, nil
}
