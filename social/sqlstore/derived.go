package sqlstore

import "context"

// publicText reads the next posts after an id, whatever they are, so that its work is bounded: those that are
// public now may be few.
const publicText = `SELECT id, gone = 0 AND reach = 2 FROM posts WHERE id > $1 ORDER BY id LIMIT $2`

// PublicPosts implements [social.Upkeep].
func (s *Store) PublicPosts(ctx context.Context, after string, n int) (ids []string, last string, err error) {
	type post struct {
		id     string
		public bool
	}
	err = s.read(ctx, func(q *Query) {
		ids, last = nil, "" // of an attempt that failed
		for _, p := range rowsOf(q, func(p *post) []any { return into(&p.id, &p.public) }, publicText, after, n) {
			last = p.id
			if p.public {
				ids = append(ids, p.id)
			}
		}
	})
	return ids, last, s.failed(ctx, "list public posts", err)
}
