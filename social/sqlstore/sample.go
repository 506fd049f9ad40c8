package sqlstore

import "context"

// sampleText selects n random agents who follow somebody.
const sampleText = `SELECT agent FROM (SELECT DISTINCT agent FROM follows WHERE gone = 0) followers ORDER BY random() LIMIT $1`

// DrawFollowers implements [social.Follows].
func (s *Store) DrawFollowers(ctx context.Context, n int) (agents []string, err error) {
	err = s.snapshot(ctx, func(q *Query) { agents = q.texts(sampleText, n) })
	return agents, s.failed(ctx, "draw followers", err)
}
