package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Replies implements [social.Lists].
func (s *Store) Replies(ctx context.Context, r social.RepliesQuery) (list []social.Entry, err error) {
	whose := notBlocked(`$1`, `q.author`)
	if r.Own {
		whose = ` AND q.author = $1`
	}
	at, id := bound(r.After)
	text := repliesText(whose, `<`, `DESC`)
	if r.Oldest {
		at, id, text = r.After.At, r.After.ID, repliesText(whose, `>`, `ASC`)
	}
	err = s.read(ctx, func(q *Query) {
		list = rowsOf(q, func(e *social.Entry) []any { return into(&e.Author, &e.At, &e.ID) }, text, r.Reader, r.Post, at, id, r.N)
	})
	return list, s.failed(ctx, "read replies", err)
}

func repliesText(whose, beyond, order string) string {
	return `SELECT q.author, q.created_at, q.id FROM posts q
		WHERE q.root = $2 AND q.root <> '' AND q.gone = 0 AND (q.removed < 2 OR q.author = $1) AND q.root_life > (SELECT p.deleted FROM posts p WHERE p.id = $2)
		AND (q.created_at, q.id) ` + beyond + ` ($3, $4)` + whose + `
		ORDER BY q.created_at ` + order + `, q.id ` + order + ` LIMIT $5`
}

// whoReplies says who has each right.
var whoReplies = map[social.Right]string{
	social.RightPublic:    "only its present audience may",
	social.RightFollowers: "only followers of its author who are in its present audience may",
	social.RightAudience:  "only the audience that its author chose may",
	social.RightNone:      "nobody may",
}

// resolveRoot checks whether a post may be a reply, and finds and locks its root post: concurrent
// replies to one run one after another.
func (t *Tx) resolveRoot(p *social.Post, r *record) error {
	root := p.ReplyTo
	var reach social.Reach
	t.row(into(&root, &r.rootLife, &reach, &p.Reply), `SELECT id, created, reach, reply FROM posts
		WHERE id = (SELECT CASE WHEN o.root = '' THEN o.id ELSE o.root END FROM posts o WHERE o.id = $1)`+locks[changing], p.ReplyTo)
	f := t.facts(p.Author, p.ReplyTo)
	d := f.decide()
	switch {
	case !d.Visible:
		return fmt.Errorf("%s: %w", p.ReplyTo, feed.ErrNotFound)
	case !d.CanReply:
		return feed.Errorf(feed.ErrForbidden, "%s may not reply to %s: %s", p.Author, root, whoReplies[p.Reply])
	}
	p.Root, r.under, r.answered = root, social.UnderOther, f.post.Author
	if reach == social.ToAll {
		r.under = social.UnderPublic
	}
	return nil
}

// resolveReported is resolveRoot for a reply that an event reports as of a stamp. A post that exists
// stays where it is, and a reply from before the deletion of its root post is not one to a post that
// was made with its id since.
func (t *Tx) resolveReported(p *social.Post, r *record, at int64) error {
	if r.Alive() && r.Post.ReplyTo != p.ReplyTo {
		return feed.Errorf(feed.ErrRule, "bad post: %s exists, and its reply_to cannot be changed; delete it first", p.ID)
	}
	err := t.resolveRoot(p, r)
	if err != nil && !errors.Is(err, feed.ErrNotFound) {
		return err
	}
	var deleted int64
	t.row(into(&deleted), `SELECT coalesce(max(deleted), 0) FROM posts WHERE id IN ($1, $2)`, p.ReplyTo, p.Root)
	if err != nil || at <= deleted { // not found would mean that the reply itself was deleted
		return feed.Errorf(feed.ErrRule, "bad post: reply_to: there is no post %s that %s may see; report it before its replies", p.ReplyTo, p.Author)
	}
	r.Times.Reply = 0 // an edit that came before the reply: its rights are those of the root post
	return nil
}

// comment and uncomment change the counts of a reply's root post, unless that was deleted since. It
// is locked after its replies; see lockOrder.
func (t *Tx) comment(r *record)   { t.addComment(r, 1) }
func (t *Tx) uncomment(r *record) { t.addComment(r, -1) }

func (t *Tx) addComment(r *record, by int) {
	p := &r.Post
	if !p.IsReply() || r.removed == removedEverywhere { // the removal has ended its count
		return
	}
	if by < 0 { // replies under a deleted post are not counted
		var stands bool
		t.row(into(&stands), `SELECT gone = 0 AND deleted < $2 FROM posts WHERE id = $1`, p.Root, r.rootLife)
		if !stands {
			return
		}
	}
	t.later(`UPDATE posts SET comments_here = comments_here + $2, repliers = repliers + CASE WHEN EXISTS (SELECT 1 FROM posts o
			WHERE `+comments("$1", "posts.deleted")+` AND o.author = $3 AND o.id <> $4) THEN 0 ELSE $2 END
		WHERE id = $1 AND gone = 0 AND deleted < $5`, p.Root, by, p.Author, p.ID, r.rootLife)
	t.counted(p.Root)
}

// comments is true for the replies o to a post that count, with the stamp of its last deletion.
func comments(post, deleted string) string {
	return `o.root = ` + post + ` AND o.root <> '' AND o.gone = 0 AND o.removed < 2 AND o.root_life > ` + deleted
}

// lockRoots locks the root posts of replies, after the replies and before the counts of their
// authors. A reply takes its locks in the same order.
func (t *Tx) lockRoots(replies ...string) {
	if !t.d.OneWriter {
		t.exec(`SELECT 1 FROM posts p WHERE p.id = ANY (SELECT r.root FROM posts r WHERE r.id `+ofList+` AND r.root <> '') AND p.gone = 0
			AND EXISTS (SELECT 1 FROM posts r WHERE r.id `+ofList+` AND r.root = p.id AND r.root_life > p.deleted) ORDER BY p.id`+locks[changing], replies)
	}
}

// overReplies selects replies from before a post's last deletion.
const overReplies = `SELECT r.id FROM posts r WHERE r.root = $1 AND r.root <> '' AND r.gone = 0
	AND r.root_life <= coalesce((SELECT p.deleted FROM posts p WHERE p.id = $1), r.root_life) LIMIT $2`

// endReplies removes at most n replies from before a post's last deletion.
func (t *Tx) endReplies(post string, n int) int {
	ids := t.texts(overReplies, post, n)
	if len(ids) > 0 {
		for _, r := range t.records(changing, ids) {
			t.delete(r, max(social.Stamp(t.now), r.Latest()))
		}
	}
	return len(ids)
}
