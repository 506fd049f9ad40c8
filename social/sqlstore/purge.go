package sqlstore

import (
	"context"

	"github.com/freshet/freshet/social"
)

// postPurges remove what belongs to posts that are over; the posts go last.
var postPurges = []string{
	`DELETE FROM post_circles WHERE post = ANY ($1)`,
	`DELETE FROM post_mentions WHERE post = ANY ($1)`,
	`DELETE FROM likes WHERE post = ANY ($1)`,
	`DELETE FROM reply_mentions WHERE reply = ANY ($1)`,
	`DELETE FROM posts WHERE id = ANY ($1)`,
}

// Promotions that ended long ago. They are read first and removed by their ids, as a planner
// reads the whole table for a DELETE with the same SELECT in it.
const (
	overPromotions  = `SELECT id FROM promotions WHERE ends <= $1 ORDER BY ends LIMIT $2`
	purgePromotions = `DELETE FROM promotions WHERE id = ANY ($1)`
)

// Purge implements [social.Upkeep].
func (s *Store) Purge(ctx context.Context, n int) (removed int, err error) {
	err = s.write(ctx, func(t *Tx) {
		removed = 0
		over := social.Stamp(t.now.Add(-social.TombstoneLives))
		for _, text := range t.d.Purges {
			removed += int(t.exec(text, over, n))
		}
		removed += int(t.exec(t.d.PurgeKeys, social.Stamp(t.now.Add(-social.KeyLives)), n))
		removed += t.purgeRevived(n)
		removed += t.purgeSuggestions(n)
		// After what waits for posts: a post that is made again locks its row before its promotions.
		if ended := t.texts(overPromotions, t.now.Add(-social.PromotionLives).Unix(), n); len(ended) > 0 {
			removed += int(t.exec(purgePromotions, ended))
		}
		posts := t.texts(t.d.OverPosts, over, n)
		if len(posts) == 0 {
			return
		}
		removed += len(posts)
		for _, text := range postPurges {
			t.later(text, posts)
		}
	})
	if err != nil {
		return 0, s.failed(ctx, "purge", err)
	}
	return removed, nil
}

// purgeRevived removes at most n likes and replies that were given to posts before they were
// deleted, or made again. They are in no count.
func (t *Tx) purgeRevived(n int) (removed int) {
	posts := t.texts(`SELECT post FROM revived ORDER BY post LIMIT $1`, n)
	t.lockRows("posts", posts...)
	for _, post := range posts {
		left := n - removed
		some := t.exec(`DELETE FROM likes WHERE post = $1 AND agent IN (SELECT l.agent FROM posts p JOIN likes l ON l.post = p.id
			WHERE p.id = $1 AND p.gone = 0 AND l.incarnation <= p.deleted LIMIT $2)`, post, left)
		if removed += int(some); removed < n {
			removed += t.endReplies(post, n-removed)
		}
		if removed >= n {
			return removed
		}
		t.exec(`DELETE FROM revived WHERE post = $1`, post)
	}
	return removed
}
