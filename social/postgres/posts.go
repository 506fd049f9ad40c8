package postgres

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
func (s *Store) CreatePost(ctx context.Context, p social.Post, c social.Creation) (post social.Post, created bool, err error) {
	fresh := p.ID == "" // an id that is made here is not known elsewhere
	if err := complete(&p, c, s.opts.Clock()); err != nil {
		return social.Post{}, false, err
	}
	err = s.write(ctx, func(t *tx) (err error) {
		if post, created, err = t.create(p, c, fresh); err == nil && created {
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

func (t *tx) create(p social.Post, c social.Creation, fresh bool) (social.Post, bool, error) {
	author, err := t.agent(doing, p.Author)
	if err != nil {
		return social.Post{}, false, err
	}
	if c.Key != "" {
		post, used, err := t.useKey(p, c.Key)
		if err != nil || used {
			return post, false, err
		}
	}
	r := &record{}
	if !fresh {
		if r, err = t.load(p.ID); err != nil {
			return social.Post{}, false, err
		}
	}
	if r.Post.Author != "" && r.Post.Author != p.Author {
		return social.Post{}, false, fmt.Errorf("%s is another author's: %w", p.ID, social.ErrNotAllowed)
	}
	erased := author.Erased
	at := social.ChangeTime(c.At, t.now, max(r.Latest(), erased))
	if c.At.IsZero() {
		if r.Alive() {
			return r.Post, false, nil
		}
		if err := t.checkCircles(&p); err != nil {
			return social.Post{}, false, err
		}
	}
	before := r.found
	if at <= erased || !r.Create(p, at) {
		if r.Alive() && r.Times.Created > erased {
			return r.Post, false, nil
		}
		return social.Post{}, false, fmt.Errorf("%s was deleted: %w", p.ID, social.ErrNotFound)
	}
	t.save(r)
	t.address(&r.Post, before)
	return r.Post, true, t.published(&r.Post, author.Followers)
}

// useKey answers what was created with the key before, or notes it. Of two who
// use it at once the second waits.
func (t *tx) useKey(p social.Post, key string) (post social.Post, used bool, err error) {
	asked := social.Fingerprint(p)
	n, err := t.exec(`INSERT INTO post_keys AS k (author, key, post, print, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (author, key) DO UPDATE SET post = excluded.post, print = excluded.print, at = excluded.at WHERE k.at <= $6`,
		p.Author, key, p.ID, asked, social.Stamp(t.now), social.Stamp(t.now.Add(-social.KeyLives)))
	if err != nil || n > 0 {
		return social.Post{}, false, err
	}
	var id, earlier string
	used, err = found(t.row(`SELECT post, print FROM post_keys WHERE author = $1 AND key = $2`, p.Author, key), &id, &earlier)
	switch {
	case err != nil:
		return social.Post{}, false, err
	case !used:
		return social.Post{}, false, fmt.Errorf("%w: the key was purged", errRaced)
	case earlier != asked:
		return social.Post{}, false, social.ErrKeyUsed
	}
	list, err := t.records("", []string{id})
	if err != nil {
		return social.Post{}, false, err
	}
	r := list[id]
	if r == nil || !r.Alive() {
		return social.Post{}, false, fmt.Errorf("%s was deleted: %w", id, social.ErrNotFound)
	}
	return r.Post, true, nil
}

// checkCircles refuses circles that are not the author's.
func (t *tx) checkCircles(p *social.Post) error {
	if len(p.Audience.Circles) == 0 {
		return nil
	}
	strange, err := t.texts(`SELECT j.id FROM unnest($1::text[]) j (id)
		WHERE NOT EXISTS (SELECT 1 FROM circles c WHERE c.id = j.id AND c.owner = $2 AND c.gone = 0)`,
		p.Audience.Circles, p.Author)
	if err == nil && len(strange) > 0 {
		err = fmt.Errorf("%w: %s has no circle %s", social.ErrBadPost, p.Author, strings.Join(strange, ", "))
	}
	return err
}

// published marks what follows from a post that is there now.
func (t *tx) published(p *social.Post, followers int64) error {
	receivers := int64(len(p.Mentions))
	if p.Audience.Reach() >= social.ToFollowers {
		receivers += followers
	}
	if len(p.Audience.Circles) > 0 {
		var members int64
		if err := t.row(`SELECT coalesce(sum(size), 0) FROM circles WHERE id = ANY ($1)`, p.Audience.Circles).Scan(&members); err != nil {
			return err
		}
		receivers += members
	}
	t.mark(jobs.Dirty{Kind: jobs.Deliver, Key: p.ID, Priority: jobs.PriorityFor(receivers)})
	t.indexed(p, jobs.PriorityLater)
	return nil
}

// indexed marks the item of a post that has one.
func (t *tx) indexed(p *social.Post, priority int) {
	if p.Audience.Public {
		t.mark(jobs.Dirty{Kind: jobs.Index, Key: p.ID, Priority: priority})
	}
}

// PostsByID implements [social.Posts].
func (s *Store) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	posts := make([]social.Post, len(ids))
	err := s.read(ctx, func(q querying) error {
		list, err := q.records("", ids)
		for i, id := range ids {
			if r := list[id]; r != nil && r.Post.Author != "" {
				posts[i] = r.Post
			}
		}
		return err
	})
	if err != nil {
		return nil, failed(ctx, "read posts", err)
	}
	return posts, nil
}
