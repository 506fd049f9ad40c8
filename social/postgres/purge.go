package postgres

import (
	"context"

	"github.com/freshet/freshet/social"
)

// purges remove what is over, the oldest first: $1 is the stamp up to which it
// is, $2 how many. What somebody changes at this moment is left to the next time.
var purges = []string{
	`DELETE FROM follows WHERE ctid = ANY (ARRAY(SELECT ctid FROM follows WHERE gone > 0 AND gone <= $1 ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED))`,
	`DELETE FROM members WHERE ctid = ANY (ARRAY(SELECT ctid FROM members WHERE gone > 0 AND gone <= $1 ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED))`,
	`DELETE FROM circles WHERE id = ANY (ARRAY(SELECT id FROM circles WHERE gone > 0 AND gone <= $1 AND size = 0 ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED))`,
	`DELETE FROM authors WHERE id = ANY (ARRAY(SELECT id FROM authors WHERE erased > 0 AND erased <= $1 AND erasing = 0
		AND NOT has_card AND followers = 0 AND following = 0 AND delivery = 'push' ORDER BY erased LIMIT $2 FOR UPDATE SKIP LOCKED))`,
}

// postPurges remove what belongs to posts that are over; the posts go last.
var postPurges = []string{
	`DELETE FROM post_circles WHERE post = ANY ($1)`,
	`DELETE FROM post_mentions WHERE post = ANY ($1)`,
	`DELETE FROM likes WHERE post = ANY ($1)`,
	`DELETE FROM posts WHERE id = ANY ($1)`,
}

// Purge implements [social.Upkeep].
func (s *Store) Purge(ctx context.Context, n int) (removed int, err error) {
	err = s.write(ctx, func(t *tx) error {
		removed = 0
		over := social.Stamp(t.now.Add(-social.TombstoneLives))
		count := func(text string, args ...any) error {
			n, err := t.exec(text, args...)
			removed += int(n)
			return err
		}
		for _, text := range purges {
			if err := count(text, over, n); err != nil {
				return err
			}
		}
		if err := count(`DELETE FROM post_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM post_keys WHERE at <= $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
			social.Stamp(t.now.Add(-social.KeyLives)), n); err != nil {
			return err
		}
		posts, err := t.texts(`SELECT id FROM posts WHERE gone > 0 AND gone <= $1 ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED`, over, n)
		if err != nil || len(posts) == 0 {
			return err
		}
		removed += len(posts)
		for _, text := range postPurges {
			t.then(text, posts)
		}
		return nil
	})
	if err != nil {
		return 0, failed(ctx, "purge", err)
	}
	return removed, nil
}
