package sqlite

import (
	"context"
	"errors"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// What is being erased, in the column erasing.
const (
	erasingNothing = iota
	erasingAuthor
	erasingAgent
)

// erasure tells up to which stamps an agent is erased.
type erasure struct {
	card int64 // card, posts and followers
	rest int64 // what else they made
	what int
}

func (q querying) erased(agent string) (e erasure, err error) {
	_, err = found(q.row(`SELECT erased, erased_agent, erasing FROM authors WHERE id = ?`, agent), &e.card, &e.rest, &e.what)
	return e, err
}

// EraseAuthor implements [social.Authors].
func (s *Store) EraseAuthor(ctx context.Context, author string) error {
	return s.erase(ctx, author, erasingAuthor)
}

// EraseAgent implements [social.Authors].
func (s *Store) EraseAgent(ctx context.Context, agent string) error {
	return s.erase(ctx, agent, erasingAgent)
}

func (s *Store) erase(ctx context.Context, agent string, what int) error {
	if err := social.CheckAgent(agent); err != nil {
		return err
	}
	return failed(ctx, "erase", s.write(ctx, func(t *tx) error {
		// Later than anything they made, whatever the clock says.
		at := social.Stamp(t.now)
		if err := t.row(`SELECT max(?2,
			ifnull((SELECT max(created) + 1 FROM posts WHERE author = ?1 AND gone = 0), 0),
			ifnull((SELECT max(at) + 1 FROM follows WHERE author = ?1 AND gone = 0), 0),
			ifnull((SELECT max(at) + 1 FROM follows WHERE agent = ?1), 0),
			ifnull((SELECT max(max(card_at, erased)) + 1 FROM authors WHERE id = ?1), 0),
			ifnull((SELECT max(at) + 1 FROM members WHERE agent = ?1 AND gone = 0), 0),
			ifnull((SELECT max(max(put, replaced)) + 1 FROM circles WHERE owner = ?1 AND gone = 0), 0),
			ifnull((SELECT max(at) + 1 FROM likes WHERE agent = ?1), 0),
			ifnull((SELECT max(at) + 1 FROM blocks WHERE agent = ?1), 0),
			ifnull((SELECT max(at) + 1 FROM post_keys WHERE author = ?1), 0))`, agent, at).Scan(&at); err != nil {
			return err
		}
		rest := int64(0)
		if what == erasingAgent {
			rest = at
		}
		if _, err := t.exec(`INSERT INTO authors (id, card_at, erased, erased_agent, erasing) VALUES (?1, ?2, ?2, ?3, ?4)
			ON CONFLICT (id) DO UPDATE SET name = '', image_url = '', bio = '', card_at = ?2, has_card = 0,
			erased = ?2, erased_agent = max(erased_agent, ?3), erasing = max(erasing, ?4)`, agent, at, rest, what); err != nil {
			return err
		}
		return t.mark(jobs.Dirty{Kind: jobs.Erase, Key: agent, Priority: jobs.PriorityRemoval})
	}))
}

// errEnough ends a step of an erasure whose share is used up.
var errEnough = errors.New("enough for one step")

// erasing is one step of an erasure.
type erasing struct {
	*tx
	opts  social.Options
	agent string
	at    erasure
	left  int // things that may still be removed in this step
}

// EraseSome implements [social.Authors].
func (s *Store) EraseSome(ctx context.Context, agent string, n int) (done bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		at, err := t.erased(agent)
		if err != nil || at.what == erasingNothing {
			done = err == nil
			return err
		}
		e := &erasing{tx: t, opts: s.opts, agent: agent, at: at, left: n}
		if err := e.run(); err != nil {
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		}
		done = true
		_, err = t.exec(`UPDATE authors SET erasing = 0 WHERE id = ?`, agent)
		return err
	})
	return done && err == nil, failed(ctx, "erase", err)
}

func (e *erasing) run() error {
	steps := []func() error{e.posts, e.followers}
	if e.at.what == erasingAgent {
		steps = append(steps, e.following, e.circles, e.memberships, e.likes, e.blocks, e.keys)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// some calls do for as many of what a query finds as this step may remove.
func (e *erasing) some(text string, stamp int64, do func(string) error) error {
	ids, err := e.texts(text+` LIMIT +?`, e.agent, stamp, e.left)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := do(id); err != nil {
			return err
		}
	}
	if e.left -= len(ids); e.left <= 0 {
		return errEnough
	}
	return nil
}

func (e *erasing) posts() error {
	return e.some(`SELECT id FROM posts WHERE author = ? AND gone = 0 AND created <= ?`, e.at.card, func(id string) error {
		r, err := e.load(id)
		if err != nil {
			return err
		}
		return e.delete(r, max(e.at.card, r.Latest()))
	})
}

func (e *erasing) followers() error {
	return e.some(`SELECT agent FROM follows WHERE author = ? AND gone = 0 AND at <= ?`, e.at.card, func(agent string) error {
		return e.endFollow(agent, e.agent, e.at.card)
	})
}

func (e *erasing) following() error {
	return e.some(`SELECT author FROM follows WHERE agent = ? AND gone = 0 AND at <= ?`, e.at.rest, func(author string) error {
		return e.endFollow(e.agent, author, e.at.rest)
	})
}

func (e *erasing) endFollow(agent, author string, at int64) error {
	_, err := e.setFollows(e.opts, social.FollowChange{Edge: social.Edge{Agent: agent, Author: author}, At: at})
	return err
}

func (e *erasing) circles() error {
	return e.some(`SELECT id FROM circles WHERE owner = ? AND gone = 0 AND put <= ?`, e.at.rest, func(id string) error {
		c, err := e.circle(id)
		if err != nil {
			return err
		}
		c.Name = ""
		return e.dropCircle(c, e.at.rest)
	})
}

func (e *erasing) memberships() error {
	return e.some(`SELECT circle FROM members WHERE agent = ? AND gone = 0 AND at <= ?`, e.at.rest, func(id string) error {
		c, err := e.circle(id)
		if err == nil {
			_, err = e.setMember(c, e.agent, false, e.at.rest)
		}
		return err
	})
}

func (e *erasing) likes() error {
	return e.some(`SELECT post FROM likes WHERE agent = ? AND at <= ?`, e.at.rest, func(post string) error {
		_, _, err := e.setLike(e.agent, post, "", false)
		return err
	})
}

func (e *erasing) blocks() error {
	return e.some(`SELECT other FROM blocks WHERE agent = ? AND at <= ?`, e.at.rest, func(other string) error {
		if _, err := e.exec(`DELETE FROM blocks WHERE agent = ? AND other = ?`, e.agent, other); err != nil {
			return err
		}
		return e.pairs(e.agent, other, jobs.PrioritySoon)
	})
}

func (e *erasing) keys() error {
	return e.some(`SELECT key FROM post_keys WHERE author = ? AND at <= ?`, e.at.rest, func(key string) error {
		_, err := e.exec(`DELETE FROM post_keys WHERE author = ? AND key = ?`, e.agent, key)
		return err
	})
}
