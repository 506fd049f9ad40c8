package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

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
	return failed(ctx, "put author", s.write(ctx, func(t *tx) error {
		kept, err := t.agent(changing, a.ID)
		if err != nil {
			return err
		}
		// Of two cards of one time the greater holds, whichever comes first.
		t.then(`UPDATE authors SET name = $2, image_url = $3, bio = $4, card_at = $5, has_card = true
			WHERE id = $1 AND $5 > erased AND ($5 > card_at OR $5 = card_at
			AND ($2 COLLATE "C", $3 COLLATE "C", $4 COLLATE "C") > (name, image_url, bio))`,
			a.ID, a.Name, a.ImageURL, a.Bio, social.ChangeTime(at, t.now, max(kept.cardAt, kept.Erased)))
		return nil
	}))
}

// Author implements [social.Authors].
func (s *Store) Author(ctx context.Context, reader, author string) (social.AuthorInfo, error) {
	info := social.AuthorInfo{Author: social.Author{ID: author}}
	err := s.snapshot(ctx, func(q querying) error {
		var card, blocked bool
		if err := q.row(`SELECT EXISTS (SELECT 1 FROM follows WHERE agent = $1 AND author = $2 AND gone = 0),
			EXISTS (SELECT 1 FROM blocks WHERE agent = $1 AND other = $2) OR EXISTS (SELECT 1 FROM blocks WHERE agent = $2 AND other = $1)`,
			reader, author).Scan(&info.IsFollowing, &blocked); err != nil {
			return err
		}
		_, err := found(q.row(`SELECT name, image_url, bio, has_card, followers, following FROM authors WHERE id = $1`, author),
			&info.Name, &info.ImageURL, &info.Bio, &card, &info.Followers, &info.Following)
		if err != nil {
			return err
		}
		if err := q.row(`SELECT count(*) FROM posts p LEFT JOIN authors a ON a.id = p.author
			WHERE p.author = $2 AND p.gone = 0 AND p.created > coalesce(a.erased, 0) AND `+visible, reader, author).Scan(&info.Posts); err != nil {
			return err
		}
		if blocked || !card && info.Posts+info.Followers+info.Following == 0 {
			return fmt.Errorf("author %s: %w", author, social.ErrNotFound)
		}
		return nil
	})
	if err != nil {
		return social.AuthorInfo{}, failed(ctx, "read author", err)
	}
	return info, nil
}

// visible says whether the reader $1 may see the posts p, all of one author $2,
// with whom there is no block. It answers what [social.Decide] answers.
const visible = `(p.reach = 2 OR $1 <> '' AND (
	p.author = $1 AND p.origin = ''
	OR p.reach = 1 AND EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = $2 AND f.gone = 0)
	OR p.origin = '' AND ` + memberOf + `
	OR EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1 OFFSET 0)))`

// unblocked says that there is no block between the reader $1 and the author $2.
const unblocked = `NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = $2)
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = $1)`

// Grid implements [social.Lists].
func (s *Store) Grid(ctx context.Context, reader, author string, below social.Position, n int) (list []social.Entry, err error) {
	at, id := bound(below)
	err = s.read(ctx, func(q querying) error {
		list, err = q.entries(`SELECT p.author, p.created_at, p.id FROM posts p
			WHERE p.author = $2 AND p.gone = 0 AND (p.created_at, p.id) < ($3, $4) AND `+visible+` AND `+unblocked+`
			ORDER BY p.created_at DESC, p.id DESC LIMIT $5`, reader, author, at, id, n)
		return err
	})
	return list, failed(ctx, "read grid", err)
}

// Celebrity implements [social.Authors].
func (s *Store) Celebrity(ctx context.Context, author string) (social.Celebrity, error) {
	c := social.Celebrity{Author: author, Delivery: social.Push}
	err := s.read(ctx, func(q querying) error {
		var since int64
		_, err := found(q.row(`SELECT delivery, delivery_at, followers FROM authors WHERE id = $1`, author), &c.Delivery, &since, &c.Followers)
		c.Since = instant(since)
		return err
	})
	return c, failed(ctx, "read author", err)
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
	err = s.write(ctx, func(t *tx) error {
		c := social.Celebrity{Author: author, Delivery: to}
		changed, err = found(t.row(`UPDATE authors SET delivery = $3, delivery_at = $4 WHERE id = $1 AND delivery = $2 RETURNING followers`,
			author, string(from), string(to), social.Stamp(t.now)), &c.Followers)
		if changed && to != social.Both && c.Wants(s.opts) != to {
			t.mark(jobs.Dirty{Kind: jobs.Author, Key: author, Priority: jobs.PriorityLater})
		}
		return err
	})
	return changed && err == nil, failed(ctx, "set delivery", err)
}

// Celebrities implements [social.Authors].
func (s *Store) Celebrities(ctx context.Context, reader string) (authors []string, server bool, err error) {
	err = s.read(ctx, func(q querying) error {
		return q.each(func(rows pgx.Rows) error {
			var author string
			err := rows.Scan(&author)
			if author == social.Server {
				server = true
			} else {
				authors = append(authors, author)
			}
			return err
		}, `SELECT author FROM follows WHERE agent = $1 AND author = '`+social.Server+`' AND gone = 0
			UNION ALL (SELECT f.author FROM authors a JOIN follows f ON f.author = a.id
				WHERE a.delivery <> 'push' AND f.agent = $1 AND f.gone = 0 ORDER BY f.author)`, reader)
	})
	return authors, server, failed(ctx, "read celebrities", err)
}

// CelebritiesOf implements [social.Authors].
func (s *Store) CelebritiesOf(ctx context.Context, readers []string) ([]social.Pulled, error) {
	found := map[string]social.Pulled{}
	err := s.read(ctx, func(q querying) error {
		return q.each(func(rows pgx.Rows) error {
			var reader, author string
			err := rows.Scan(&reader, &author)
			found[reader] = found[reader].With(author)
			return err
		}, `SELECT agent, author FROM follows WHERE agent = ANY($1) AND author = '`+social.Server+`' AND gone = 0
			UNION ALL (SELECT f.agent, f.author FROM authors a JOIN follows f ON f.author = a.id
				WHERE a.delivery <> 'push' AND f.agent = ANY($1) AND f.gone = 0 ORDER BY f.author)`, readers)
	})
	return social.PulledOf(readers, found), failed(ctx, "read celebrities", err)
}
