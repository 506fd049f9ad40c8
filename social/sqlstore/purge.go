package sqlstore

import (
	"context"
	"strings"

	"github.com/freshet/freshet/social"
)

// postPurges remove expired posts with their rows in other tables; the posts last.
var postPurges = []string{
	`DELETE FROM post_circles WHERE post = ANY ($1)`,
	`DELETE FROM post_mentions WHERE post = ANY ($1)`,
	`DELETE FROM likes WHERE post = ANY ($1)`,
	`DELETE FROM reply_mentions WHERE reply = ANY ($1)`,
	`DELETE FROM removals WHERE post = ANY ($1)`,
	`DELETE FROM moderated_circles WHERE post = ANY ($1)`,
	`DELETE FROM moderated WHERE post = ANY ($1)`,
	`DELETE FROM posts WHERE id = ANY ($1)`,
}

// purges remove the rows x that expired at $1, at most $2, mostly the oldest first.
var purges = []struct{ kind, text string }{
	{"follows", deleting(`agent, author`, `follows x WHERE gone > 0 AND gone <= $1 ORDER BY gone LIMIT $2`)},
	{"members", deleting(`circle, agent`, `members x WHERE gone > 0 AND gone <= $1 ORDER BY gone LIMIT $2`)},
	{"circles", deleting(`id`, `circles x WHERE gone > 0 AND gone <= $1 AND size = 0
		AND NOT EXISTS (SELECT 1 FROM post_circles pc WHERE pc.circle = x.id OFFSET 0)
		AND NOT EXISTS (SELECT 1 FROM moderated_circles pc WHERE pc.circle = x.id OFFSET 0) ORDER BY gone LIMIT $2`)},
	{"authors", deleting(`id`, `authors x WHERE erased > 0 AND erased_agent = 0 AND erased <= $1 AND erasing = 0
		AND has_card = false AND followers = 0 AND following = 0 AND delivery = 'push' AND suspended_until = 0 ORDER BY erased LIMIT $2`)},
}

// deleting deletes the rows x of a FROM clause; key is the primary key of their table. Rows that are
// locked at the moment are left for the next time.
func deleting(key, rows string) string {
	table, _, _ := strings.Cut(rows, " ")
	return `DELETE FROM ` + table + ` WHERE ` + among(key, rows)
}

// among reports whether a row is one of the rows x of a FROM clause; key is the primary key of their
// table. It locks these, and skips those that another transaction has locked.
func among(key, rows string) string {
	byKey := `(` + key + `) IN (SELECT x.` + strings.ReplaceAll(key, `, `, `, x.`)
	return Either(`ctid = ANY (ARRAY(SELECT x.ctid`, byKey) + ` FROM ` + rows + Either(` FOR UPDATE OF x SKIP LOCKED))`, `)`)
}

// Promotions that ended long ago. They are read first and removed by id, as a planner reads the
// whole table for a DELETE with the same SELECT in it.
const (
	overPromotions  = `SELECT id FROM promotions WHERE ends <= $1 ORDER BY ends LIMIT $2`
	purgePromotions = `DELETE FROM promotions WHERE id = ANY ($1)`
)

// Purge implements [social.Upkeep].
func (s *Store) Purge(ctx context.Context, n int) (removed social.Purged, err error) {
	err = s.write(ctx, func(t *Tx) {
		removed = social.Purged{}
		over := social.Stamp(t.now.Add(-social.TombstoneLives))
		for _, p := range purges {
			removed.Add(p.kind, int(t.exec(p.text, over, n)))
		}
		removed.Add("post_keys", int(t.exec(deleting(`author, key`, `post_keys x WHERE at <= $1 ORDER BY at LIMIT $2`), social.Stamp(t.now.Add(-social.KeyLives)), n)))
		removed.Add("post_circles", t.purgeAddresses(over, n))
		removed.Add("refusals", int(t.exec(deleting(`agent, owner, circle`, `refusals x WHERE at <= $1 ORDER BY at LIMIT $2`), social.Stamp(t.now.Add(-social.RefusalLives)), n)))
		removed.Add("likes_and_replies", t.purgeRevived(n))
		removed.Add("suggestions", t.purgeSuggestions(n))
		removed.Add("changes", t.purgeChanges(n))
		removed.Add("notifications", t.purgeNotifications(n))
		removed.Add("reports", t.purgeReports(n))
		// After the statements that wait for posts: the creation of a post again locks its row
		// before its promotions.
		ended := t.texts(overPromotions, t.now.Add(-social.PromotionLives).Unix(), n)
		if len(ended) > 0 {
			removed.Add("promotions", int(t.exec(purgePromotions, ended)))
		}
		removed.Add("posts", t.purgePosts(over, n))
	})
	if err != nil {
		return nil, s.failed(ctx, "purge", err)
	}
	return removed, nil
}

// purgePosts removes at most n tombstones of posts, with their rows in other tables.
func (t *Tx) purgePosts(over int64, n int) int {
	posts := t.texts(`SELECT id FROM posts p WHERE gone > 0 AND gone <= $1
		AND NOT EXISTS (SELECT 1 FROM revived v WHERE v.post = p.id OFFSET 0) ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED`, over, n)
	if len(posts) == 0 {
		return 0
	}
	for _, text := range postPurges {
		t.later(text, posts)
	}
	return len(posts)
}

// overAddresses are the posts x to groups that expired at $1. A plain circle stays as long as a post
// addresses it, as its owner is in the audience of the post.
const overAddresses = `post_circles x JOIN circles c ON c.id = x.circle WHERE c.gone > 0 AND c.gone <= $1 AND c.size = 0 AND c.kind <> 'circle' AND NOT x.own`

// purgeAddresses removes at most n expired addresses of posts. One that stands for them remains.
func (t *Tx) purgeAddresses(over int64, n int) (removed int) {
	posts := t.texts(`SELECT x.post FROM `+overAddresses+` LIMIT $2`, over, n)
	if len(posts) == 0 {
		return 0
	}
	t.lockRows("posts", posts...)
	t.close(posts...)
	return int(t.exec(`DELETE FROM post_circles WHERE post = ANY ($2) AND circle IN (SELECT x.circle FROM `+overAddresses+` AND x.post = ANY ($2))`, over, posts))
}

// purgeRevived removes at most n likes and replies that were made before their post was deleted, or
// created again. No count includes them.
func (t *Tx) purgeRevived(n int) (removed int) {
	posts := t.texts(`SELECT post FROM revived ORDER BY post LIMIT $1`, n)
	t.lockRows("posts", posts...)
	for _, post := range posts {
		left := n - removed
		some := t.exec(`DELETE FROM likes WHERE post = $1 AND agent IN (SELECT l.agent FROM posts p JOIN likes l ON l.post = p.id
			WHERE p.id = $1 AND p.gone = 0 AND l.incarnation <= p.deleted LIMIT $2)`, post, left)
		removed += int(some)
		if removed < n {
			removed += t.endReplies(post, n-removed)
		}
		if removed >= n {
			return removed
		}
		t.exec(`DELETE FROM revived WHERE post = $1`, post)
	}
	return removed
}
