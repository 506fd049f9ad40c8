package sqlite

import (
	"context"

	"github.com/freshet/freshet/social"
)

// purges remove what is over: ?1 is the stamp up to which it is, ?2 how many.
var purges = []string{
	`DELETE FROM follows WHERE (agent, author) IN (SELECT agent, author FROM follows WHERE gone > 0 AND gone <= ?1 LIMIT +?2)`,
	`DELETE FROM members WHERE (circle, agent) IN (SELECT circle, agent FROM members WHERE gone > 0 AND gone <= ?1 LIMIT +?2)`,
	`DELETE FROM circles WHERE id IN (SELECT id FROM circles WHERE gone > 0 AND gone <= ?1 AND size = 0 LIMIT +?2)`,
	`DELETE FROM authors WHERE id IN (SELECT id FROM authors WHERE erased > 0 AND erased <= ?1 AND erasing = 0
		AND has_card = 0 AND followers = 0 AND following = 0 AND delivery = 'push' LIMIT +?2)`,
}

// postPurges remove what belongs to posts that are over; the posts go last.
var postPurges = []string{
	`DELETE FROM post_circles WHERE post IN (SELECT value FROM json_each(?))`,
	`DELETE FROM post_mentions WHERE post IN (SELECT value FROM json_each(?))`,
	`DELETE FROM likes WHERE post IN (SELECT value FROM json_each(?))`,
	`DELETE FROM posts WHERE id IN (SELECT value FROM json_each(?))`,
}

// Purge implements [social.Upkeep].
func (s *Store) Purge(ctx context.Context, n int) (removed int, err error) {
	err = s.write(ctx, func(t *tx) error {
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
		if err := count(`DELETE FROM post_keys WHERE (author, key) IN (SELECT author, key FROM post_keys WHERE at <= ?1 LIMIT +?2)`,
			social.Stamp(t.now.Add(-social.KeyLives)), n); err != nil {
			return err
		}
		posts, err := t.texts(`SELECT id FROM posts WHERE gone > 0 AND gone <= ? LIMIT +?`, over, n)
		if err != nil || len(posts) == 0 {
			return err
		}
		removed += len(posts)
		for _, text := range postPurges {
			if _, err := t.exec(text, array(posts)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, failed(ctx, "purge", err)
	}
	return removed, nil
}
