package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/social"
)

// settles is how long a transaction may take from the arrival of a post to its commit, so that the
// post is not missed by who reads posts in the order of their arrival.
const settles = time.Second

// nowAs is [Now] with another parameter than $1.
func nowAs(param string) string { return strings.ReplaceAll(Now, "$1", param) }

// lateText reads posts by the index posts_late. Its condition is that of the index, which is the one
// of [social.Card.Late].
var lateText = `SELECT p.author, p.created_at, p.id, p.arrived FROM posts p WHERE p.gone = 0 AND p.root = ''
	AND p.created_at < p.arrived / 1000000 - 60 AND p.created_at >= p.arrived / 1000000 - 86400
	AND p.arrived > $2 AND p.arrived <= ` + settled + ` ORDER BY p.arrived DESC, p.id DESC LIMIT $3`

var settled = Now + ` - ` + strconv.FormatInt(settles.Microseconds(), 10)

// Late implements [social.Lists].
func (s *Store) Late(ctx context.Context, after int64, n int) (list []social.LatePost, upTo int64, err error) {
	now := queueNow(s.opts)
	err = s.read(ctx, func(q *Query) {
		list = nil
		q.all(reads(into(&upTo), `SELECT `+settled, now), Reading{Statement{lateText, []any{now, after, n}}, func(scan Scan) error {
			var p social.LatePost
			err := scan(&p.Author, &p.At, &p.ID, &p.Arrived)
			list = append(list, p)
			return err
		}})
	})
	if err != nil {
		return nil, 0, s.failed(ctx, "read late posts", err)
	}
	// The second statement may have read more than the first says.
	list = slices.DeleteFunc(list, func(p social.LatePost) bool { return p.Arrived > upTo })
	slices.Reverse(list)
	return list, max(upTo, after), nil
}
