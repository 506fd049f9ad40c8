package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/freshet/freshet/social"
)

// Like implements [social.Likes].
func (s *Store) Like(ctx context.Context, agent, post string) (int64, bool, error) {
	return s.like(ctx, agent, post, true)
}

// Unlike implements [social.Likes].
func (s *Store) Unlike(ctx context.Context, agent, post string) (int64, bool, error) {
	return s.like(ctx, agent, post, false)
}

// Affinities implements [social.Likes].
func (s *Store) Affinities(ctx context.Context, agent string, since time.Time) (map[string]int, error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	liked := map[string]int{}
	err := s.readers.read(ctx, func(q *reading) error {
		return q.each(func(rows *sql.Rows) error {
			var author string
			var n int
			err := rows.Scan(&author, &n)
			liked[author] = n
			return err
		}, `SELECT author, count(*) FROM likes WHERE agent = ? AND at >= ? GROUP BY author ORDER BY count(*) DESC, author LIMIT +?`,
			agent, social.Stamp(since), social.MaxAffinities)
	})
	if err != nil {
		return nil, failed(ctx, "affinities", err)
	}
	return liked, nil
}

func (s *Store) like(ctx context.Context, agent, post string, on bool) (likes int64, changed bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return 0, false, err
	}
	if err := social.CheckPostID(post); err != nil {
		return 0, false, err
	}
	err = s.write(ctx, func(t *tx) error {
		f, err := t.facts(agent, post)
		if err != nil {
			return err
		}
		d := f.decide()
		switch {
		case on && !d.Visible:
			return fmt.Errorf("%s: %w", post, social.ErrNotFound)
		case on && !d.CanReact:
			return fmt.Errorf("%s may not react to %s: %w", agent, post, social.ErrNotAllowed)
		}
		likes, changed, err = t.setLike(agent, post, f.post.Author, on)
		if !d.Visible {
			likes = 0
		}
		return err
	})
	if err != nil {
		return 0, false, failed(ctx, "like", err)
	}
	return likes, changed, nil
}

// setLike changes a like and the count, and returns the count: 0 for a post that
// does not exist.
func (t *tx) setLike(agent, post, author string, on bool) (likes int64, changed bool, err error) {
	var n int64
	by := int64(1)
	if on {
		n, err = t.exec(`INSERT INTO likes (post, agent, author, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			post, agent, author, social.Stamp(t.now))
	} else {
		by = -1
		n, err = t.exec(`DELETE FROM likes WHERE post = ? AND agent = ?`, post, agent)
	}
	if err != nil {
		return 0, false, err
	}
	there, err := found(t.row(`UPDATE posts SET likes_here = likes_here + ? WHERE id = ? RETURNING likes_here + likes_reported`, by*n, post), &likes)
	if err != nil || n == 0 || !there {
		return likes, n > 0 && err == nil, err
	}
	return likes, true, t.counted(post)
}
