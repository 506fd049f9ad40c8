package postgres

import (
	"context"
	"slices"

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

// EraseAuthor implements [social.Authors].
func (s *Store) EraseAuthor(ctx context.Context, author string) error {
	return s.erase(ctx, author, erasingAuthor)
}

// EraseAgent implements [social.Authors].
func (s *Store) EraseAgent(ctx context.Context, agent string) error {
	return s.erase(ctx, agent, erasingAgent)
}

// eraseTime is later than anything they made, whatever the clock says.
const eraseTime = `SELECT greatest($2::bigint,
	(SELECT max(created) + 1 FROM posts WHERE author = $1 AND gone = 0),
	(SELECT max(at) + 1 FROM follows WHERE author = $1 AND gone = 0),
	(SELECT max(at) + 1 FROM follows WHERE agent = $1),
	(SELECT greatest(card_at, erased) + 1 FROM authors WHERE id = $1),
	(SELECT max(at) + 1 FROM members WHERE agent = $1 AND gone = 0),
	(SELECT max(greatest(put, replaced)) + 1 FROM circles WHERE owner = $1 AND gone = 0),
	(SELECT max(at) + 1 FROM likes WHERE agent = $1),
	(SELECT max(at) + 1 FROM blocks WHERE agent = $1),
	(SELECT max(at) + 1 FROM post_keys WHERE author = $1))`

func (s *Store) erase(ctx context.Context, agent string, what int) error {
	if err := social.CheckAgent(agent); err != nil {
		return err
	}
	return failed(ctx, "erase", s.write(ctx, func(t *tx) error {
		// It waits for all that they are doing; what they do later finds the stamps.
		if _, err := t.agent(erasing, agent); err != nil {
			return err
		}
		var at, rest int64
		if err := t.row(eraseTime, agent, social.Stamp(t.now)).Scan(&at); err != nil {
			return err
		}
		if what == erasingAgent {
			rest = at
		}
		t.then(`UPDATE authors SET name = '', image_url = '', bio = '', card_at = $2, has_card = false,
			erased = $2, erased_agent = greatest(erased_agent, $3), erasing = greatest(erasing, $4) WHERE id = $1`, agent, at, rest, what)
		t.mark(jobs.Dirty{Kind: jobs.Erase, Key: agent, Priority: jobs.PriorityRemoval})
		return nil
	}))
}

// eraser removes what one agent has made.
type eraser struct {
	s     *Store
	agent string
	at    erasure
	left  int // things that may still be removed in this call
}

// EraseSome implements [social.Authors]. Each kind of thing is a transaction of
// its own, so that each takes its locks in order.
func (s *Store) EraseSome(ctx context.Context, agent string, n int) (done bool, err error) {
	e := &eraser{s: s, agent: agent, left: n}
	err = s.read(ctx, func(q querying) error {
		_, err := found(q.row(`SELECT erased, erased_agent, erasing FROM authors WHERE id = $1`, agent), &e.at.card, &e.at.rest, &e.at.what)
		return err
	})
	if err == nil {
		done, err = e.run(ctx)
	}
	return done && err == nil, failed(ctx, "erase", err)
}

func (e *eraser) run(ctx context.Context) (done bool, err error) {
	if e.at.what == erasingNothing {
		return true, nil
	}
	steps := []func(*tx) (int, error){e.posts, e.followers}
	if e.at.what == erasingAgent {
		steps = append(steps, e.following, e.circles, e.memberships, e.likes, e.blocks, e.keys)
	}
	for _, step := range steps {
		var n int
		if err := e.s.write(ctx, func(t *tx) (err error) {
			n, err = step(t)
			return err
		}); err != nil {
			return false, err
		}
		if e.left -= n; e.left <= 0 {
			return false, nil
		}
	}
	// Not if somebody has asked for it again meanwhile.
	err = e.s.read(ctx, func(q querying) error {
		n, err := q.exec(`UPDATE authors SET erasing = 0 WHERE id = $1 AND erased = $2 AND erased_agent = $3 AND erasing = $4`,
			e.agent, e.at.card, e.at.rest, e.at.what)
		done = n > 0
		return err
	})
	return done, err
}

// lockCircles locks all before the agents of any.
func (t *tx) lockCircles(ids []string) error {
	_, err := t.exec(`SELECT 1 FROM circles WHERE id = ANY ($1) ORDER BY id`+string(changing), every(ids))
	return err
}

// some reads the ids of what a step removes, in order.
func (e *eraser) some(t *tx, text string, stamp int64) ([]string, error) {
	ids, err := t.texts(text+` LIMIT $3`, e.agent, stamp, e.left)
	slices.Sort(ids)
	return ids, err
}

func (e *eraser) posts(t *tx) (int, error) {
	ids, err := e.some(t, `SELECT id FROM posts WHERE author = $1 AND gone = 0 AND created <= $2`, e.at.card)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	list, err := t.records(changing, ids)
	for _, r := range list {
		t.delete(r, max(e.at.card, r.Latest()))
	}
	return len(ids), err
}

func (e *eraser) followers(t *tx) (int, error) {
	agents, err := e.some(t, `SELECT agent FROM follows WHERE author = $1 AND gone = 0 AND at <= $2`, e.at.card)
	list := make([]social.FollowChange, len(agents))
	for i, agent := range agents {
		list[i] = social.FollowChange{Edge: social.Edge{Agent: agent, Author: e.agent}, At: e.at.card}
	}
	return e.endFollows(t, list, err)
}

func (e *eraser) following(t *tx) (int, error) {
	authors, err := e.some(t, `SELECT author FROM follows WHERE agent = $1 AND gone = 0 AND at <= $2`, e.at.rest)
	list := make([]social.FollowChange, len(authors))
	for i, author := range authors {
		list[i] = social.FollowChange{Edge: social.Edge{Agent: e.agent, Author: author}, At: e.at.rest}
	}
	return e.endFollows(t, list, err)
}

func (e *eraser) endFollows(t *tx, list []social.FollowChange, err error) (int, error) {
	if err != nil || len(list) == 0 {
		return 0, err
	}
	_, err = t.setFollows(e.s.opts, list...)
	return len(list), err
}

func (e *eraser) circles(t *tx) (int, error) {
	ids, err := e.some(t, `SELECT id FROM circles WHERE owner = $1 AND gone = 0 AND put <= $2`, e.at.rest)
	if err == nil {
		err = t.lockCircles(ids)
	}
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		c, err := t.circle(changing, id)
		if err != nil {
			return 0, err
		}
		c.Name = ""
		if err := t.dropCircle(c, e.at.rest); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

func (e *eraser) memberships(t *tx) (int, error) {
	ids, err := e.some(t, `SELECT circle FROM members WHERE agent = $1 AND gone = 0 AND at <= $2`, e.at.rest)
	if err == nil {
		err = t.lockCircles(ids)
	}
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		c, err := t.circle(changing, id)
		if err != nil {
			return 0, err
		}
		if _, err := t.setMembers(c, membership{agents: []string{e.agent}, at: e.at.rest}); err != nil {
			return 0, err
		}
		if err := t.saveCircle(c); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

func (e *eraser) likes(t *tx) (int, error) {
	ids, err := e.some(t, `SELECT post FROM likes WHERE agent = $1 AND at <= $2`, e.at.rest)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := t.exec(`SELECT 1 FROM posts WHERE id = ANY ($1) ORDER BY id`+string(changing), ids); err != nil {
		return 0, err
	}
	t.then(`WITH gone AS (DELETE FROM likes WHERE agent = $1 AND post = ANY ($2) RETURNING post)
		UPDATE posts p SET likes_here = likes_here - 1 FROM gone WHERE p.id = gone.post`, e.agent, ids)
	for _, id := range ids {
		t.counted(id)
	}
	return len(ids), nil
}

func (e *eraser) blocks(t *tx) (int, error) {
	others, err := e.some(t, `SELECT other FROM blocks WHERE agent = $1 AND at <= $2`, e.at.rest)
	if err != nil || len(others) == 0 {
		return 0, err
	}
	if _, err := t.agents(changing, append(others, e.agent)...); err != nil {
		return 0, err
	}
	t.then(`DELETE FROM blocks WHERE agent = $1 AND other = ANY ($2)`, e.agent, others)
	for _, other := range others {
		t.pairs(e.agent, other, jobs.PrioritySoon)
	}
	return len(others), nil
}

func (e *eraser) keys(t *tx) (int, error) {
	keys, err := e.some(t, `SELECT key FROM post_keys WHERE author = $1 AND at <= $2`, e.at.rest)
	if err == nil && len(keys) > 0 {
		t.then(`DELETE FROM post_keys WHERE author = $1 AND key = ANY ($2)`, e.agent, keys)
	}
	return len(keys), err
}
