package sqlstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// CreatePost implements [social.Posts].
func (s *Store) CreatePost(ctx context.Context, p social.Post, c social.Creation) (post social.Post, created bool, err error) {
	fresh := p.ID == "" // an id that is made here is not known elsewhere
	if err := complete(&p, c, s.opts.Clock()); err != nil {
		return social.Post{}, false, err
	}
	err = s.write(ctx, func(t *Tx) {
		t.toldOf(c.At)
		if post, created = t.create(p, c, fresh); created {
			t.useFiles(post.ID, c.Files)
		}
	})
	if err != nil {
		return social.Post{}, false, s.failed(ctx, "create post", err)
	}
	return post, created, nil
}

// complete fills in and checks what is asked for.
func complete(p *social.Post, c social.Creation, now time.Time) error {
	if c.Key != "" {
		if err := social.CheckKey(c.Key); err != nil {
			return err
		}
	}
	if err := social.CheckTime(c.At, now); err != nil {
		return err
	}
	if c.At.IsZero() {
		if p.ID == "" {
			id, err := social.NewPostID(now, rand.Reader)
			if err != nil {
				return err
			}
			p.ID = id
		}
		if p.CreatedAt == 0 {
			p.CreatedAt = now.Unix()
		}
	} else if p.CreatedAt > now.Unix() {
		if err := social.CheckTime(time.Unix(p.CreatedAt, 0), now); err != nil {
			return feed.Errorf(feed.ErrRule, "bad post: created_at: %w", err)
		}
		p.CreatedAt = now.Unix() // or a sender's clock would put it above newer posts
	}
	p.Normalize()
	return p.Validate(now)
}

func (t *Tx) create(p social.Post, c social.Creation, fresh bool) (post social.Post, created bool) {
	author := t.agent(doing, p.Author)
	if c.Key != "" {
		if post, used := t.useKey(p, c.Key); used {
			return post, false
		}
	}
	r := &record{}
	if !fresh {
		r = t.load(p.ID)
	}
	if r.Post.Author != "" && r.Post.Author != p.Author {
		t.fail(feed.Errorf(feed.ErrForbidden, "%s is another author's: not allowed", p.ID))
	}
	erased := author.Erased
	at := social.ChangeTime(c.At, t.now, max(r.Latest(), erased))
	if c.At.IsZero() {
		if r.Alive() {
			return r.Post, false
		}
		t.checkCircles(&p)
	}
	before := r.found
	if at <= erased || !r.Create(p, at) {
		if r.Alive() && r.Times.Created > erased {
			return r.Post, false
		}
		t.fail(fmt.Errorf("%s was deleted: %w", p.ID, feed.ErrNotFound))
		return social.Post{}, false
	}
	t.save(r)
	t.address(&r.Post, before)
	t.published(&r.Post, author.Followers)
	return r.Post, true
}

// useKey answers what was created with the key before, or notes it. Of two who use it at
// once the second waits.
func (t *Tx) useKey(p social.Post, key string) (post social.Post, used bool) {
	asked := social.Fingerprint(p)
	if t.exec(`INSERT INTO post_keys AS k (author, key, post, print, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (author, key) DO UPDATE SET post = excluded.post, print = excluded.print, at = excluded.at WHERE k.at <= $6`,
		p.Author, key, p.ID, asked, social.Stamp(t.now), social.Stamp(t.now.Add(-social.KeyLives))) > 0 {
		return social.Post{}, false
	}
	var id, earlier string
	switch used = t.row(into(&id, &earlier), `SELECT post, print FROM post_keys WHERE author = $1 AND key = $2`, p.Author, key); {
	case !used:
		t.fail(fmt.Errorf("%w: the key was purged", ErrRaced))
	case earlier != asked:
		t.fail(feed.Errorf(feed.ErrConflict, "the Idempotency-Key was used for another post within a day; use a new one"))
	}
	r := t.records(free, []string{id})[id]
	if r == nil || !r.Alive() {
		t.fail(fmt.Errorf("%s was deleted: %w", id, feed.ErrNotFound))
		return social.Post{}, true
	}
	return r.Post, true
}

// checkCircles refuses circles that are not the author's.
func (t *Tx) checkCircles(p *social.Post) {
	if len(p.Audience.Circles) == 0 {
		return
	}
	strange := t.texts(`SELECT j.value FROM unnest($1::text[]) j (value)
		WHERE NOT EXISTS (SELECT 1 FROM circles c WHERE c.id = j.value AND c.owner = $2 AND c.gone = 0)`,
		p.Audience.Circles, p.Author)
	if len(strange) > 0 {
		t.fail(feed.Errorf(feed.ErrRule, "bad post: %s has no circle %s", p.Author, strings.Join(strange, ", ")))
	}
}

// published marks what follows from a post that is there now.
func (t *Tx) published(p *social.Post, followers int64) {
	receivers := int64(len(p.Mentions))
	if p.Audience.Reach() >= social.ToFollowers {
		receivers += followers
	}
	if len(p.Audience.Circles) > 0 {
		var members int64
		t.row(into(&members), `SELECT coalesce(sum(size), 0) FROM circles WHERE id = ANY ($1)`, p.Audience.Circles)
		receivers += members
	}
	t.mark(jobs.Dirty{Kind: jobs.Deliver, Key: p.ID, Priority: jobs.PriorityFor(receivers)})
	t.indexed(p, jobs.PriorityLater)
}

// indexed marks the item of a post that has one.
func (t *Tx) indexed(p *social.Post, priority int) {
	if p.Audience.Public {
		t.mark(jobs.Dirty{Kind: jobs.Index, Key: p.ID, Priority: priority})
	}
}

// PostsByID implements [social.Posts].
func (s *Store) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	posts := make([]social.Post, len(ids))
	err := s.read(ctx, func(q *Query) {
		list := q.records(free, ids)
		for i, id := range ids {
			if r := list[id]; r != nil && r.Post.Author != "" {
				posts[i] = r.Post
			}
		}
	})
	if err != nil {
		return nil, s.failed(ctx, "read posts", err)
	}
	return posts, nil
}
