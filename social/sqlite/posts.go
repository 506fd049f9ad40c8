package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// CreatePost implements [social.Posts].
func (s *Store) CreatePost(ctx context.Context, p social.Post, c social.Creation) (social.Post, bool, error) {
	now := s.opts.Clock()
	if err := complete(&p, c, now); err != nil {
		return social.Post{}, false, err
	}
	var post social.Post
	var created bool
	err := s.write(ctx, func(t *tx) error {
		var err error
		if post, created, err = t.create(p, c); err == nil && created {
			err = t.useFiles(post.ID, c.Files)
		}
		return err
	})
	if err != nil {
		return social.Post{}, false, failed(ctx, "create post", err)
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
	}
	p.Normalize()
	return p.Validate(now)
}

func (t *tx) create(p social.Post, c social.Creation) (social.Post, bool, error) {
	if c.Key != "" {
		post, used, err := t.useKey(p, c.Key)
		if err != nil || used {
			return post, false, err
		}
	}
	r, err := t.load(p.ID)
	if err != nil {
		return social.Post{}, false, err
	}
	if r.Post.Author != "" && r.Post.Author != p.Author {
		return social.Post{}, false, fmt.Errorf("%s is another author's: %w", p.ID, social.ErrNotAllowed)
	}
	erased, err := t.erased(p.Author)
	if err != nil {
		return social.Post{}, false, err
	}
	at := social.ChangeTime(c.At, t.now, max(r.Latest(), erased.card))
	if c.At.IsZero() {
		if r.Alive() {
			return r.Post, false, nil
		}
		if err := t.checkCircles(&p); err != nil {
			return social.Post{}, false, err
		}
	}
	if at <= erased.card || !r.Create(p, at) {
		if r.Alive() && r.Times.Created > erased.card {
			return r.Post, false, nil
		}
		return social.Post{}, false, fmt.Errorf("%s was deleted: %w", p.ID, social.ErrNotFound)
	}
	if err := t.save(r); err != nil {
		return social.Post{}, false, err
	}
	if err := t.address(&r.Post); err != nil {
		return social.Post{}, false, err
	}
	return r.Post, true, t.published(&r.Post)
}

// useKey answers what was created with the key before, or notes it.
func (t *tx) useKey(p social.Post, key string) (post social.Post, used bool, err error) {
	asked := social.Fingerprint(p)
	since := social.Stamp(t.now.Add(-social.KeyLives))
	var id, earlier string
	used, err = found(t.row(`SELECT post, print FROM post_keys WHERE author = ? AND key = ? AND at > ?`, p.Author, key, since), &id, &earlier)
	switch {
	case err != nil:
		return social.Post{}, false, err
	case !used:
		_, err = t.exec(`INSERT INTO post_keys (author, key, post, print, at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (author, key) DO UPDATE SET post = excluded.post, print = excluded.print, at = excluded.at`,
			p.Author, key, p.ID, asked, social.Stamp(t.now))
		return social.Post{}, false, err
	case earlier != asked:
		return social.Post{}, false, social.ErrKeyUsed
	}
	r, err := t.load(id)
	if err == nil && !r.Alive() {
		err = fmt.Errorf("%s was deleted: %w", id, social.ErrNotFound)
	}
	return r.Post, true, err
}

// checkCircles refuses circles that are not the author's.
func (t *tx) checkCircles(p *social.Post) error {
	if len(p.Audience.Circles) == 0 {
		return nil
	}
	strange, err := t.texts(`SELECT j.value FROM json_each(?) j
		WHERE NOT EXISTS (SELECT 1 FROM circles c WHERE c.id = j.value AND c.owner = ? AND c.gone = 0)`,
		array(p.Audience.Circles), p.Author)
	if err == nil && len(strange) > 0 {
		err = fmt.Errorf("%w: %s has no circle %s", social.ErrBadPost, p.Author, strings.Join(strange, ", "))
	}
	return err
}

// published marks what follows from a post that is there now.
func (t *tx) published(p *social.Post) error {
	var followers, members int64
	if p.Audience.Reach() >= social.ToFollowers {
		if _, err := found(t.row(`SELECT followers FROM authors WHERE id = ?`, p.Author), &followers); err != nil {
			return err
		}
	}
	if len(p.Audience.Circles) > 0 {
		if err := t.row(`SELECT ifnull(sum(size), 0) FROM circles WHERE id IN (SELECT value FROM json_each(?))`,
			array(p.Audience.Circles)).Scan(&members); err != nil {
			return err
		}
	}
	priority := jobs.PriorityFor(followers + members + int64(len(p.Mentions)))
	if err := t.mark(jobs.Dirty{Kind: jobs.Deliver, Key: p.ID, Priority: priority}); err != nil {
		return err
	}
	return t.indexed(p, jobs.PriorityLater)
}

// indexed marks the item of a post that has one.
func (t *tx) indexed(p *social.Post, priority int) error {
	if !p.Audience.Public {
		return nil
	}
	return t.mark(jobs.Dirty{Kind: jobs.Index, Key: p.ID, Priority: priority})
}

// PostsByID implements [social.Posts].
func (s *Store) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	posts := make([]social.Post, len(ids))
	err := s.readers.snapshot(ctx, func(q *reading) error {
		for i, id := range ids {
			r, err := q.load(id)
			if err != nil {
				return err
			}
			if r.Post.Author != "" {
				posts[i] = r.Post
			}
		}
		return nil
	})
	return posts, failed(ctx, "read posts", err)
}
