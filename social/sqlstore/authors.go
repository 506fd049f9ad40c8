package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// PutAuthor implements [social.Authors].
func (s *Store) PutAuthor(ctx context.Context, a social.Author, at time.Time) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if err := social.CheckTime(at, s.opts.Clock()); err != nil {
		return err
	}
	return s.failed(ctx, "put author", s.write(ctx, func(t *Tx) {
		kept := t.agent(changing, a.ID)
		t.later(t.d.SaveAuthor, a.ID, a.Name, a.ImageURL, a.Bio, social.ChangeTime(at, t.now, max(kept.cardAt, kept.Erased)))
	}))
}

// Author implements [social.Authors].
func (s *Store) Author(ctx context.Context, reader, author string) (social.AuthorInfo, error) {
	info := social.AuthorInfo{Author: social.Author{ID: author}}
	err := s.snapshot(ctx, func(q *Query) {
		var card, blocked bool
		q.row(into(&info.IsFollowing, &blocked), `SELECT EXISTS (SELECT 1 FROM follows WHERE agent = $1 AND author = $2 AND gone = 0),
			EXISTS (SELECT 1 FROM blocks WHERE agent = $1 AND other = $2) OR EXISTS (SELECT 1 FROM blocks WHERE agent = $2 AND other = $1)`,
			reader, author)
		q.row(into(&info.Name, &info.ImageURL, &info.Bio, &card, &info.Followers, &info.Following),
			`SELECT name, image_url, bio, has_card, followers, following FROM authors WHERE id = $1`, author)
		q.row(into(&info.Posts), `SELECT count(*) FROM posts p LEFT JOIN authors a ON a.id = p.author
			WHERE p.author = $2 AND p.gone = 0 AND p.created > coalesce(a.erased, 0) AND `+q.d.Visible, reader, author)
		if blocked || !card && info.Posts+info.Followers+info.Following == 0 {
			q.fail(fmt.Errorf("author %s: %w", author, feed.ErrNotFound))
		}
	})
	if err != nil {
		return social.AuthorInfo{}, s.failed(ctx, "read author", err)
	}
	return info, nil
}

// Grid implements [social.Lists].
func (s *Store) Grid(ctx context.Context, reader, author string, below social.Position, n int) (list []social.Entry, err error) {
	at, id := bound(below)
	err = s.read(ctx, func(q *Query) {
		list = q.entries(`SELECT p.author, p.created_at, p.id FROM posts p
			WHERE p.author = $2 AND p.gone = 0 AND (p.created_at, p.id) < ($3, $4) AND `+q.d.Visible+`
			AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = $2)
			AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = $1)
			ORDER BY p.created_at DESC, p.id DESC LIMIT $5`, reader, author, at, id, n)
	})
	return list, s.failed(ctx, "read grid", err)
}

// Celebrity implements [social.Authors].
func (s *Store) Celebrity(ctx context.Context, author string) (social.Celebrity, error) {
	c := social.Celebrity{Author: author, Delivery: social.Push}
	err := s.read(ctx, func(q *Query) {
		var since int64
		q.row(into(&c.Delivery, &since, &c.Followers), `SELECT delivery, delivery_at, followers FROM authors WHERE id = $1`, author)
		c.Since = instant(since)
	})
	return c, s.failed(ctx, "read author", err)
}

// instant is the time of a stamp; zero of 0.
func instant(stamp int64) time.Time {
	if stamp == 0 {
		return time.Time{}
	}
	return time.UnixMicro(stamp).UTC()
}

// SetDelivery implements [social.Authors].
func (s *Store) SetDelivery(ctx context.Context, author string, from, to social.Delivery) (changed bool, err error) {
	err = s.write(ctx, func(t *Tx) {
		c := social.Celebrity{Author: author, Delivery: to}
		changed = t.row(into(&c.Followers), `UPDATE authors SET delivery = $3, delivery_at = $4 WHERE id = $1 AND delivery = $2 RETURNING followers`,
			author, string(from), string(to), social.Stamp(t.now))
		if changed && to != social.Both && c.Wants(s.opts) != to {
			t.mark(jobs.Dirty{Kind: jobs.Author, Key: author, Priority: jobs.PriorityLater})
		}
	})
	return changed && err == nil, s.failed(ctx, "set delivery", err)
}

// Celebrities implements [social.Authors].
func (s *Store) Celebrities(ctx context.Context, reader string) (authors []string, server bool, err error) {
	list, err := s.CelebritiesOf(ctx, []string{reader})
	return list[0].Authors, list[0].Server, err
}

// CelebritiesOf implements [social.Authors].
func (s *Store) CelebritiesOf(ctx context.Context, readers []string) ([]social.Pulled, error) {
	found := map[string]social.Pulled{}
	err := s.read(ctx, func(q *Query) {
		q.each(func(scan Scan) error {
			var reader, author string
			err := scan(&reader, &author)
			found[reader] = found[reader].With(author)
			return err
		}, q.d.Celebrities, readers)
	})
	return social.PulledOf(readers, found), s.failed(ctx, "read celebrities", err)
}
