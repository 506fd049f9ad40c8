package sqlite

import (
	"context"
	"database/sql"

	"github.com/freshet/freshet/social"
)

// receiverReasons are the reasons by their rank in receiversText.
var receiverReasons = []social.Reason{social.Self, social.Follow, social.Member, social.Mention}

// receiversText pages through whoever gets a post ?1 of ?2, after ?3, at most
// ?4. Each part is limited by itself, so that a page of a million followers
// reads a page of them; who is blocked is left out before that. Followers need
// no such look, since a block ends the follow.
const receiversText = `SELECT agent, min(rank) FROM (
	SELECT ?2 AS agent, 0 AS rank WHERE ?2 > ?3 AND ?5
	UNION ALL SELECT * FROM (SELECT agent, 1 FROM follows WHERE ?6 AND author = ?2 AND gone = 0 AND agent > ?3 ORDER BY agent LIMIT +?4)
	UNION ALL SELECT * FROM (SELECT DISTINCT m.agent, 2 FROM post_circles pc
		JOIN circles c ON c.id = pc.circle AND c.owner = pc.author AND c.gone = 0
		JOIN members m ON m.circle = pc.circle AND m.gone = 0
		WHERE pc.post = ?1 AND m.agent > ?3
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = ?2)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = ?2 AND b.other = m.agent) ORDER BY m.agent LIMIT +?4)
	UNION ALL SELECT * FROM (SELECT m.agent, 3 FROM post_mentions m WHERE m.post = ?1 AND m.agent > ?3
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = ?2)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = ?2 AND b.other = m.agent) ORDER BY m.agent LIMIT +?4)
	) GROUP BY agent ORDER BY agent LIMIT +?4`

// Receivers implements [social.Lists].
func (s *Store) Receivers(ctx context.Context, post string, followers bool, after string, n int) (list []social.Receiver, err error) {
	err = s.readers.snapshot(ctx, func(q *reading) error {
		var author, origin string
		var reach social.Reach
		ok, err := found(q.row(`SELECT author, origin, reach FROM posts WHERE id = ?`, post), &author, &origin, &reach)
		if err != nil || !ok || author == "" {
			return err
		}
		return q.each(func(rows *sql.Rows) error {
			var r social.Receiver
			var rank int
			err := rows.Scan(&r.Agent, &rank)
			if err == nil {
				r.Reason = receiverReasons[rank]
				list = append(list, r)
			}
			return err
		}, receiversText, post, author, after, n, origin == "", followers && reach >= social.ToFollowers)
	})
	return list, failed(ctx, "read receivers", err)
}
