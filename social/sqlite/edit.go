package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// EditPost implements [social.Posts].
func (s *Store) EditPost(ctx context.Context, id, by string, e social.Edit, at time.Time) (social.Post, error) {
	if err := checkChange(id, by, at, s.opts.Clock()); err != nil {
		return social.Post{}, err
	}
	if err := e.Validate(); err != nil {
		return social.Post{}, err
	}
	var post social.Post
	err := s.write(ctx, func(t *tx) error {
		r, err := t.editable(id, by, at)
		if err != nil {
			return err
		}
		if r.Alive() {
			if err := remains(&r.Post, e); err != nil {
				return err
			}
		}
		if r.Edit(e, social.ChangeTime(at, t.now, r.Latest())) {
			if err := t.save(r); err != nil {
				return err
			}
			if r.Alive() {
				err = t.indexed(&r.Post, jobs.PriorityLater)
			}
		}
		if r.Alive() {
			post = r.Post
		}
		return err
	})
	if err != nil {
		return social.Post{}, failed(ctx, "edit post", err)
	}
	return post, nil
}

// checkChange checks what names a change of a post.
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

// remains refuses an edit that leaves nothing of a post.
func remains(p *social.Post, e social.Edit) error {
	if e.Alts != nil && len(*e.Alts) != len(p.Images) {
		return fmt.Errorf("%w: %d alt texts for %d images", social.ErrBadPost, len(*e.Alts), len(p.Images))
	}
	if e.Caption != nil && feed.Blank(*e.Caption) && len(p.Images) == 0 {
		return fmt.Errorf("%w: it would have neither caption nor image", social.ErrBadPost)
	}
	return nil
}

// editable reads a post that is to be changed by somebody. With an event's time
// it need not be there.
func (t *tx) editable(id, by string, at time.Time) (*record, error) {
	r, err := t.load(id)
	if err != nil {
		return nil, err
	}
	if !at.IsZero() && by == "" {
		return r, nil
	}
	facts, err := t.facts(by, id)
	if err != nil {
		return nil, err
	}
	switch {
	case !facts.there:
		return nil, fmt.Errorf("%s: %w", id, social.ErrNotFound)
	case by == "" || by == r.Post.Author && !r.Post.Remote():
		return r, nil
	case facts.decide().Visible:
		return nil, fmt.Errorf("%s is not %s's: %w", id, by, social.ErrNotAllowed)
	}
	return nil, fmt.Errorf("%s: %w", id, social.ErrNotFound)
}

// DeletePost implements [social.Posts].
func (s *Store) DeletePost(ctx context.Context, id, by string, at time.Time) error {
	if err := checkChange(id, by, at, s.opts.Clock()); err != nil {
		return err
	}
	return failed(ctx, "delete post", s.write(ctx, func(t *tx) error {
		r, err := t.editable(id, by, at)
		if err != nil {
			return err
		}
		return t.delete(r, social.ChangeTime(at, t.now, r.Latest()))
	}))
}

func (t *tx) delete(r *record, at int64) error {
	before := r.Post.Audience
	alive, images := r.Alive(), len(r.Post.Images) > 0
	if !r.Delete(at) {
		return nil
	}
	if err := t.save(r); err != nil || !alive || r.Alive() {
		return err
	}
	if images {
		if err := t.giveUpFiles(r.Post.ID); err != nil {
			return err
		}
	}
	if err := t.mark(jobs.Dirty{Kind: jobs.Deliver, Key: r.Post.ID, Priority: jobs.PriorityRemoval}); err != nil {
		return err
	}
	return t.indexed(&social.Post{ID: r.Post.ID, Audience: before}, jobs.PriorityRemoval)
}

// SetCounts implements [social.Posts].
func (s *Store) SetCounts(ctx context.Context, id string, c social.Counts, at time.Time) error {
	if err := checkChange(id, "", at, s.opts.Clock()); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return err
	}
	return failed(ctx, "set counts", s.write(ctx, func(t *tx) error {
		r, err := t.editable(id, "", at)
		if err != nil {
			return err
		}
		if !r.Count(r.reported, c, social.ChangeTime(at, t.now, r.Times.Counted)) {
			return nil
		}
		changed := r.reported != c
		r.reported = c
		if err := t.save(r); err != nil || !changed || !r.Alive() {
			return err
		}
		return t.counted(id)
	}))
}

// counted marks the counts of a post; they are gathered for a while.
func (t *tx) counted(id string) error {
	return t.mark(jobs.Dirty{Kind: jobs.Count, Key: id, Priority: jobs.PriorityLater, After: jobs.CountDelay, Lazy: true})
}
