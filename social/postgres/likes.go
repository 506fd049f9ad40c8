package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

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
	err := s.read(ctx, func(q querying) error {
		return q.each(func(rows pgx.Rows) error {
			var author string
			var n int
			err := rows.Scan(&author, &n)
			liked[author] = n
			return err
		}, `SELECT author, count(*) FROM likes WHERE agent = $1 AND at >= $2 GROUP BY author ORDER BY count(*) DESC, author LIMIT $3`,
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
		if _, err := t.agent(doing, agent); err != nil {
			return err
		}
		// Others who like it take turns from here on.
		if _, err := t.exec(`SELECT 1 FROM posts WHERE id = $1`+string(changing), post); err != nil {
			return err
		}
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
		n, err = t.exec(`INSERT INTO likes (post, agent, author, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			post, agent, author, social.Stamp(t.now))
	} else {
		by = -1
		n, err = t.exec(`DELETE FROM likes WHERE post = $1 AND agent = $2`, post, agent)
	}
	if err != nil {
		return 0, false, err
	}
	if n == 0 {
		_, err = found(t.row(`SELECT likes_here + likes_reported FROM posts WHERE id = $1`, post), &likes)
		return likes, false, err
	}
	there, err := found(t.row(`UPDATE posts SET likes_here = likes_here + $2 WHERE id = $1 RETURNING likes_here + likes_reported`, post, by), &likes)
	if there {
		t.counted(post)
	}
	return likes, err == nil, err
}
