package sqlstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Like implements [social.Likes].
func (s *Store) Like(ctx context.Context, agent, post string) (social.Card, bool, error) {
	return s.like(ctx, agent, post, true)
}

// Unlike implements [social.Likes].
func (s *Store) Unlike(ctx context.Context, agent, post string) (social.Card, bool, error) {
	return s.like(ctx, agent, post, false)
}

// Liked implements [social.Likes].
func (s *Store) Liked(ctx context.Context, agent string, below social.Position, n int) (list []social.Entry, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	if below.Zero() {
		below.At = math.MaxInt64
	}
	err = s.read(ctx, func(q *Query) {
		q.each(func(scan Scan) error {
			var e social.Entry
			err := scan(&e.ID, &e.At, &e.Author)
			list = append(list, e)
			return err
		}, `SELECT post, at, author FROM likes WHERE agent = $1 AND (at, post) < ($2, $3) AND at > `+erasedAgent("$1")+`
			ORDER BY at DESC, post DESC LIMIT $4`, agent, below.At, below.ID, n)
	})
	return list, s.failed(ctx, "list likes", err)
}

// Affinities implements [social.Likes].
func (s *Store) Affinities(ctx context.Context, agent string, since time.Time) (map[string]int, error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	found := map[string]int{}
	err := s.read(ctx, func(q *Query) {
		mapOf(q, found, affinitiesText, agent, social.Stamp(since), social.MaxAffinities, since.Unix(), int(social.UnderPublic), int(social.UnderOther))
	})
	if err != nil {
		return nil, s.failed(ctx, "affinities", err)
	}
	return found, nil
}

// affinitiesText counts likes by author, and replies by the author of their root post, without those
// of the agent's own posts. A reply
// counts until its root post is deleted. What was liked or replied to must not be from before the
// erasure of its author, and the act not from before that of the agent.
var affinitiesText = `SELECT n.author, count(*) FROM (
		SELECT l.author AS author, l.at AS at, l.incarnation AS life FROM likes l WHERE l.agent = $1 AND l.at >= $2 AND l.author <> $1
		UNION ALL SELECT x.author, r.created, r.root_life FROM posts r JOIN posts x ON x.id = r.root AND x.deleted < r.root_life
			WHERE r.author = $1 AND r.reach IN ($5, $6) AND r.created_at >= $4 AND r.gone = 0 AND x.author <> $1
	) n LEFT JOIN authors a ON a.id = n.author
	WHERE n.at > ` + erasedAgent("$1") + ` AND n.life > coalesce(a.erased, 0)
	GROUP BY n.author ORDER BY count(*) DESC, n.author LIMIT $3`

func (s *Store) like(ctx context.Context, agent, post string, on bool) (card social.Card, changed bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return social.Card{}, false, err
	}
	if err := social.CheckPostID(post); err != nil {
		return social.Card{}, false, err
	}
	err = s.write(ctx, func(t *Tx) {
		t.lockAgents(doing, agent)
		t.lockRows("posts", post) // concurrent likes of the post run one after another from here
		f := t.card(agent, post)
		d := f.decide()
		switch {
		case on && !d.Visible:
			t.fail(fmt.Errorf("%s: %w", post, feed.ErrNotFound))
			return
		case on && !d.CanReact:
			t.fail(feed.Errorf(feed.ErrForbidden, "%s may not react to %s: not allowed", agent, post))
			return
		}
		more, set := t.setLike(agent, post, f.post.Author, on)
		if set {
			t.change(social.Change{Type: likeType(on), Agent: agent, Other: f.post.Author, Object: post})
			switch {
			case !on:
				t.untell(f.post.Author)
			case !f.post.Remote():
				t.tell(notice{f.post.Author, social.NotifyLike, post, agent, ""})
			}
		}
		f.card.Likes, f.card.HasLiked, changed = f.card.Likes+more, on, set
		if agent != f.post.Author {
			f.card.Likers += more
		}
		card = f.resolve()
	})
	if err != nil {
		return social.Card{}, false, s.failed(ctx, "like", err)
	}
	return card, changed, nil
}

func likeType(on bool) social.ChangeType {
	if on {
		return social.LikeMade
	}
	return social.LikeEnded
}

// likeOf is the stored like of a post by an agent.
type likeOf struct {
	created, deleted int64 // stamps of the post
	gone, reply      bool
	erased           int64 // stamp of the agent's erasure
	at, incarnation  int64 // of the like; 0 if there is none
}

// counted reports whether the like is in the post's count: it is not from before the post was
// created again. One from before the agent's erasure counts until it is removed.
func (l *likeOf) counted() bool { return l.at > 0 && (l.gone || l.incarnation > l.deleted) }

func (t *Tx) likeOf(agent, post string) *likeOf {
	l := &likeOf{gone: true}
	t.row(into(&l.created, &l.deleted, &l.gone, &l.reply, &l.at, &l.incarnation, &l.erased),
		`SELECT p.created, p.deleted, p.gone > 0, p.root <> '', coalesce(l.at, 0), coalesce(l.incarnation, 0), `+erasedAgent("$2")+`
		FROM posts p LEFT JOIN likes l ON l.post = p.id AND l.agent = $2 WHERE p.id = $1`, post, agent)
	return l
}

// setLike changes a like of a post by an author, and returns by how much that changes the count.
func (t *Tx) setLike(agent, post, author string, on bool) (by int64, changed bool) {
	l := t.likeOf(agent, post)
	liked := l.counted() && l.at > l.erased
	if on && !liked {
		t.later(`INSERT INTO likes (post, agent, author, at, incarnation) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (post, agent) DO UPDATE SET author = excluded.author, at = excluded.at, incarnation = excluded.incarnation`,
			post, agent, author, max(social.Stamp(t.now), l.erased+1), l.created)
	}
	if !on && l.at > 0 {
		t.later(`DELETE FROM likes WHERE post = $1 AND agent = $2`, post, agent)
	}
	switch {
	case on && !l.counted():
		by = 1
	case !on && l.counted():
		by = -1
	}
	if by != 0 {
		t.later(`UPDATE posts SET likes_here = likes_here + $2 WHERE id = $1`, post, by)
	}
	if by != 0 && !l.reply {
		t.counted(post)
	}
	return by, liked != on
}
