package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// EditPost implements [social.Posts].
func (s *Store) EditPost(ctx context.Context, id, by string, e social.Edit, at time.Time) (post social.Written, err error) {
	if err := checkChange(id, by, at, s.opts.Clock()); err != nil {
		return social.Written{}, err
	}
	if err := e.Validate(); err != nil {
		return social.Written{}, err
	}
	err = s.write(ctx, func(t *Tx) {
		t.lowerIfOld(at)
		r, err := t.editable(id, by, at)
		if err != nil {
			t.fail(err)
			return
		}
		if r.Alive() {
			if err := checkEdit(&r.Post, e, by); err != nil {
				t.fail(err)
				return
			}
		}
		stamp := social.ChangeTime(at, t.now, r.Latest())
		// An event counts even if it repeats a value: the same events leave the same post in any order.
		repeats := at.IsZero() && e.Keeps(&r.Post)
		edited := !repeats && r.Edit(e, stamp)
		if edited {
			t.saveHere(r, at, stamp)
			if r.Alive() {
				t.change(social.Change{Type: social.PostEdited, Agent: r.Post.Author, Object: id})
				t.indexed(&r.Post, jobs.PriorityLater)
			}
		}
		post = social.Written{}
		if r.Alive() {
			post.Post = r.Post
		}
		if at.IsZero() {
			t.cardLater(&post.Card, by, &r.Post)
		}
	})
	if err != nil {
		return social.Written{}, s.failed(ctx, "edit post", err)
	}
	return post, nil
}

// checkChange checks the parameters that every change of a post has.
func checkChange(id, by string, at, now time.Time) error {
	if err := social.CheckPostID(id); err != nil {
		return err
	}
	if by != "" {
		if err := social.CheckAgent(by); err != nil {
			return err
		}
	}
	return social.CheckTime(at, now)
}

// checkEdit refuses an edit of a post that there is.
func checkEdit(p *social.Post, e social.Edit, by string) error {
	if err := checkNotEmpty(p, e); err != nil {
		return err
	}
	return checkReplyRight(p, e, by)
}

// checkNotEmpty refuses an edit that leaves a post empty.
func checkNotEmpty(p *social.Post, e social.Edit) error {
	if e.Alts != nil && len(*e.Alts) != len(p.Images) {
		return feed.Errorf(feed.ErrRule, "bad post: %d alt texts for %d images", len(*e.Alts), len(p.Images))
	}
	if e.Caption != nil && feed.Blank(*e.Caption) && len(p.Images) == 0 {
		return feed.Errorf(feed.ErrRule, "bad post: it would have neither caption nor image")
	}
	return nil
}

// checkReplyRight refuses an edit of who may reply: of a reply, and by its author, who may only narrow
// the right.
func checkReplyRight(p *social.Post, e social.Edit, by string) error {
	switch {
	case e.Reply == nil:
		return nil
	case p.IsReply():
		return feed.Errorf(feed.ErrRule, "bad post: a reply has the reply rights of the root post of its thread; leave reply out")
	case by != "" && !e.Reply.Narrows(p.Reply):
		return feed.Errorf(feed.ErrRule, "bad post: reply can only be narrowed, from %s to followers, audience or none", p.Reply)
	}
	return nil
}

// editable reads a post that by is about to change. With an event's time it need not exist.
func (t *Tx) editable(id, by string, at time.Time) (*record, error) {
	r := t.load(id)
	if !at.IsZero() && by == "" {
		return r, nil
	}
	f := t.facts(by, id)
	rootGone := by != "" && r.Post.IsReply() && !f.rel.RootExists // the reply is deleted soon
	switch {
	case !f.there, rootGone:
		return nil, fmt.Errorf("%s: %w", id, feed.ErrNotFound)
	case by == "" || by == r.Post.Author && !r.Post.Remote():
		return r, nil
	case f.decide().Visible:
		return nil, feed.Errorf(feed.ErrForbidden, "%s may not change %s: not allowed", by, id)
	}
	return nil, fmt.Errorf("%s: %w", id, feed.ErrNotFound)
}

// DeletePost implements [social.Posts].
func (s *Store) DeletePost(ctx context.Context, id, by string, at time.Time) error {
	if err := checkChange(id, by, at, s.opts.Clock()); err != nil {
		return err
	}
	return s.failed(ctx, "delete post", s.write(ctx, func(t *Tx) {
		t.lowerIfOld(at)
		r, err := t.editable(id, by, at)
		if err != nil {
			t.fail(err)
			return
		}
		if r.Post.IsReply() {
			t.lockRoots(id)
		}
		t.delete(r, social.ChangeTime(at, t.now, r.Latest()))
	}))
}

func (t *Tx) delete(r *record, at int64) {
	before := r.Post.Audience
	alive, images, answered := r.Alive(), len(r.Post.Images) > 0, t.answered(r)
	deleted := r.Delete(at)
	if !deleted {
		return
	}
	if r.Times.Counted == 0 {
		r.reported = social.Counts{}
	}
	if alive && r.Alive() { // it was created again before this deletion arrived
		t.row(into(&r.likesHere), `SELECT count(*) FROM likes WHERE post = $1 AND incarnation > $2`, r.Post.ID, at)
		t.row(into(&r.commentsHere, &r.repliers), `SELECT count(*), count(DISTINCT o.author) FROM posts o WHERE `+comments("$1", "$2"), r.Post.ID, at)
		t.revived(&r.Post)
	} else {
		r.commentsHere, r.repliers = 0, 0
	}
	t.save(r)
	if !alive || r.Alive() {
		return
	}
	t.change(social.Change{Type: social.PostEnded, Agent: r.Post.Author, Object: r.Post.ID})
	t.untellPost(&r.Post)
	if answered {
		t.ended(&r.Post)
	}
	if images {
		t.giveUpFiles(r.Post.ID)
	}
	if r.Post.IsReply() {
		t.uncomment(r)
		return
	}
	t.enqueue(jobs.Spec{Kind: jobs.Deliver, Key: r.Post.ID, Priority: jobs.PriorityRemoval})
	t.indexed(&social.Post{ID: r.Post.ID, Audience: before}, jobs.PriorityRemoval)
}

// answered reports whether a post has replies, including removed ones, which are not counted.
func (t *Tx) answered(r *record) bool {
	answered := r.commentsHere > 0
	if !answered && !r.Post.IsReply() {
		t.row(into(&answered), `SELECT EXISTS (SELECT 1 FROM posts WHERE root = $1 AND root <> '' AND gone = 0)`, r.Post.ID)
	}
	return answered
}

// SetCounts implements [social.Posts].
func (s *Store) SetCounts(ctx context.Context, id string, c social.Counts, at time.Time) error {
	if err := checkChange(id, "", at, s.opts.Clock()); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return err
	}
	return s.failed(ctx, "set counts", s.write(ctx, func(t *Tx) {
		r, err := t.editable(id, "", at)
		if err != nil {
			t.fail(err)
			return
		}
		stamp := social.ChangeTime(at, t.now, max(r.Times.Counted, r.Times.Deleted))
		if !r.Count(r.reported, c, stamp) {
			return
		}
		changed := r.reported != c
		r.reported = c
		t.saveHere(r, at, stamp)
		if changed && r.Alive() {
			t.counted(id)
		}
	}))
}

// saveHere saves a post after a change as of at; the zero time means that it was made here.
func (t *Tx) saveHere(r *record, at time.Time, stamp int64) {
	if at.IsZero() {
		r.Times.Here = stamp
	}
	t.save(r)
}

// revived records that a post was created again, which ends at once everything given to it before.
// [Store.Purge] removes its likes and replies.
func (t *Tx) revived(p *social.Post) {
	t.later(`DELETE FROM promotions WHERE item = $1`, p.ID)
	t.ended(p)
}

// ended records that a life of a post has ended whose likes or replies are still to be removed.
func (t *Tx) ended(p *social.Post) {
	t.later(`INSERT INTO revived (post, author) VALUES ($1, $2) ON CONFLICT (post) DO UPDATE SET author = excluded.author`, p.ID, p.Author)
}

// counted marks the counts of a post; the job runs after a delay to combine changes.
func (t *Tx) counted(id string) {
	t.enqueue(jobs.Spec{Kind: jobs.Count, Key: id, Priority: jobs.PriorityLater, After: jobs.CountDelay, Lazy: true})
}
