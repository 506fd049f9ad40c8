package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
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
	err := s.read(ctx, func(q *Query) {
		q.each(func(scan Scan) error {
			var author string
			var n int
			err := scan(&author, &n)
			liked[author] = n
			return err
		}, `SELECT author, count(*) FROM likes WHERE agent = $1 AND at >= $2 GROUP BY author ORDER BY count(*) DESC, author LIMIT $3`,
			agent, social.Stamp(since), social.MaxAffinities)
	})
	if err != nil {
		return nil, s.failed(ctx, "affinities", err)
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
	err = s.write(ctx, func(t *Tx) {
		t.lockAgents(doing, agent)
		t.lockRows("posts", post) // others who like it take turns from here on
		f := t.facts(agent, post)
		d := f.decide()
		switch {
		case on && !d.Visible:
			t.fail(fmt.Errorf("%s: %w", post, feed.ErrNotFound))
		case on && !d.CanReact:
			t.fail(feed.Errorf(feed.ErrForbidden, "%s may not react to %s: not allowed", agent, post))
		}
		if likes, changed = t.setLike(agent, post, f.post.Author, on); !d.Visible {
			likes = 0
		}
	})
	if err != nil {
		return 0, false, s.failed(ctx, "like", err)
	}
	return likes, changed, nil
}

// setLike changes a like and the count, and returns the count: 0 for a post that
// does not exist.
func (t *Tx) setLike(agent, post, author string, on bool) (likes int64, changed bool) {
	var n int64
	by := int64(1)
	if on {
		n = t.exec(`INSERT INTO likes (post, agent, author, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			post, agent, author, social.Stamp(t.now))
	} else {
		by = -1
		n = t.exec(`DELETE FROM likes WHERE post = $1 AND agent = $2`, post, agent)
	}
	if n == 0 {
		t.row(into(&likes), `SELECT likes_here + likes_reported FROM posts WHERE id = $1`, post)
		return likes, false
	}
	if t.row(into(&likes), `UPDATE posts SET likes_here = likes_here + $2 WHERE id = $1 RETURNING likes_here + likes_reported`, post, by) {
		t.counted(post)
	}
	return likes, true
}
