package sqlstore

import (
	"context"
	"maps"
	"slices"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Values of the column erasing.
const (
	erasingNothing = iota
	erasingAuthor
	erasingAgent
)

// erasure holds the stamps up to which an agent is erased.
type erasure struct {
	card int64 // card, posts and followers
	rest int64 // everything else they made
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

func (s *Store) erase(ctx context.Context, agent string, what int) error {
	if err := social.CheckAgent(agent); err != nil {
		return err
	}
	return s.failed(ctx, "erase", s.write(ctx, func(t *Tx) {
		t.erasing = agent
		if what == erasingAgent {
			by := t.actor
			t.actor = social.Actor{} // erasing again is allowed
			t.passOnAll(agent)
			t.checkEraser(by)
		} else {
			t.lockAgents(exclusive, agent)
		}
		var at, rest int64
		var image string
		t.all(reads(into(&at), eraseTime, agent, social.Stamp(t.now)), reads(into(&image), `SELECT image_url FROM authors WHERE id = $1`, agent))
		t.replaceAvatar(agent, image, "")
		if what == erasingAgent {
			rest = at
			for _, k := range kinds {
				for _, text := range k.now {
					t.later(text, agent)
				}
			}
		}
		t.later(eraseText, agent, at, rest, what)
		t.enqueue(jobs.Spec{Kind: jobs.Erase, Key: agent, Priority: jobs.PriorityRemoval})
	}))
}

// checkEraser fails if the actor's token is from before the last erasure of the agent, and somebody has used the
// id since. Otherwise the call may be the retry of one whose answer was lost.
func (t *Tx) checkEraser(by social.Actor) {
	if !by.Token {
		return
	}
	erased, used := t.lastErasure(by.Agent)
	if used && by.Before(erased) {
		t.fail(by.Check(social.Stamp(t.now), 0, "", erased))
		return
	}
}

// usedAgain reports whether the agent $1, with the row e, has made anything since it was erased. An erasure removes
// mutes at once, so that those that are there are younger.
const usedAgain = `(e.card_at > e.erased
	OR EXISTS (SELECT 1 FROM posts WHERE author = $1 AND gone = 0 AND created > e.erased_agent)
	OR EXISTS (SELECT 1 FROM follows WHERE agent = $1 AND gone = 0 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM likes WHERE agent = $1 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM members WHERE agent = $1 AND gone = 0 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM circles WHERE owner = $1 AND gone = 0 AND put > e.erased_agent)
	OR EXISTS (SELECT 1 FROM blocks WHERE agent = $1 AND at > e.erased_agent)
	OR EXISTS (SELECT 1 FROM mutes WHERE agent = $1)
	OR EXISTS (SELECT 1 FROM reports WHERE agent = $1 AND at > e.erased_agent))`

// LastErasure implements [social.Authors].
func (s *Store) LastErasure(ctx context.Context, agent string) (stamp int64, used bool, err error) {
	err = s.read(ctx, func(q *Query) { stamp, used = q.lastErasure(agent) })
	return stamp, used, s.failed(ctx, "read the last erasure", err)
}

func (q *Query) lastErasure(agent string) (stamp int64, used bool) {
	q.row(into(&stamp, &used), `SELECT e.erased_agent, e.erased_agent > 0 AND `+usedAgain+` FROM authors e WHERE e.id = $1`, agent)
	return stamp, used
}

// ErasedAgents implements [social.Authors].
func (s *Store) ErasedAgents(ctx context.Context, since int64, after string, n int) (list []social.ErasedAgent, err error) {
	err = s.read(ctx, func(q *Query) {
		list = rowsOf(q, func(a *social.ErasedAgent) []any { return into(&a.ID, &a.At) },
			`SELECT id, erased_agent FROM authors WHERE erased_agent > 0 AND (erased_agent, id) > ($1, $2) ORDER BY erased_agent, id LIMIT $3`, since, after, n)
	})
	return list, s.failed(ctx, "list erased agents", err)
}

// eraseTime returns a stamp that is at least $2 and later than everything the agent $1 has made.
const eraseTime = `SELECT greatest($2::bigint,
	coalesce((SELECT max(created) + 1 FROM posts WHERE author = $1 AND gone = 0), 0),
	coalesce((SELECT max(at) + 1 FROM follows WHERE author = $1 AND gone = 0), 0),
	coalesce((SELECT max(at) + 1 FROM follows WHERE agent = $1), 0),
	coalesce((SELECT greatest(card_at, erased) + 1 FROM authors WHERE id = $1), 0),
	coalesce((SELECT max(at) + 1 FROM members WHERE agent = $1 AND gone = 0), 0),
	coalesce((SELECT max(greatest(put, replaced)) + 1 FROM circles WHERE owner = $1 AND gone = 0), 0),
	coalesce((SELECT max(at) + 1 FROM invitations WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM refusals WHERE agent = $1 OR owner = $1), 0),
	coalesce((SELECT max(at) + 1 FROM likes WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM blocks WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM post_keys WHERE author = $1), 0),
	coalesce((SELECT max(at) + 1 FROM reports WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM reports WHERE kind = 'author' AND object = $1), 0),
	coalesce((SELECT max(at) + 1 FROM changes WHERE agent = $1), 0),
	coalesce((SELECT max(at) + 1 FROM changes WHERE other = $1 AND other <> ''), 0),
	coalesce((SELECT max(at) + 1 FROM notifications WHERE actor = $1), 0),
	coalesce((SELECT max(at) + 1 FROM notifications WHERE agent = $1), 0))`

// eraseText erases the card of the agent $1 as of $2. $3 is the stamp for everything else they
// made, $4 the value of erasing.
const eraseText = `INSERT INTO authors (id, card_at, erased, erased_agent, erasing) VALUES ($1, $2, $2, $3, $4)
	ON CONFLICT (id) DO UPDATE SET name = '', image_url = '', bio = '', card_at = excluded.card_at, has_card = false, suggest_from_follows = 0, not_recommended = false, erased = excluded.erased,
	erased_agent = greatest(authors.erased_agent, excluded.erased_agent), erasing = greatest(authors.erasing, excluded.erasing)`

// eraser removes the data of one agent.
type eraser struct {
	agent  string
	at     erasure
	budget int          // the number of things that this call may still remove
	leave  social.Leave // if nil, each list gets a job
	ends   []string     // the next followers to remove
	noJobs bool         // their lists need no jobs
}

// EraseSome implements [social.Authors]. Each kind of thing is removed in a separate transaction,
// so that each takes its locks in order.
func (s *Store) EraseSome(ctx context.Context, agent string, n int, leave social.Leave) (done bool, err error) {
	e := &eraser{agent: agent, budget: n, leave: leave}
	err = s.read(ctx, func(q *Query) {
		q.row(into(&e.at.card, &e.at.rest, &e.at.what), `SELECT erased, erased_agent, erasing FROM authors WHERE id = $1`, agent)
	})
	if err == nil {
		done, err = e.run(ctx, s)
	}
	return done && err == nil, s.failed(ctx, "erase", err)
}

func (e *eraser) run(ctx context.Context, s *Store) (done bool, err error) {
	if e.at.what == erasingNothing {
		return true, nil
	}
	for _, k := range kinds {
		if k.step == nil || e.at.what != erasingAgent && !k.author {
			continue
		}
		if k.leaves {
			if err := e.leaving(ctx, s); err != nil {
				return false, err
			}
		}
		var n int
		// No answer shows the entries left in lists, so their removal is not urgent.
		if err := s.write(ctx, func(t *Tx) {
			t.class, t.erasing = jobs.PriorityLeftover, e.agent
			n = k.step(e, t)
		}); err != nil {
			return false, err
		}
		e.budget -= n
		if e.budget <= 0 {
			return false, nil
		}
	}
	// Not if another erasure was requested in the meantime.
	err = s.alone(ctx, func(q *Query) {
		done = q.exec(`UPDATE authors SET erasing = 0 WHERE id = $1 AND erased = $2 AND erased_agent = $3 AND erasing = $4`,
			e.agent, e.at.card, e.at.rest, e.at.what) > 0
	})
	return done, err
}

// some reads the ids that a step removes, sorted.
func (e *eraser) some(t *Tx, text string, stamp int64) []string {
	ids := t.texts(text+` LIMIT $3`, e.agent, stamp, e.budget)
	slices.Sort(ids)
	return ids
}

// replies removes the replies under the erased posts.
func (e *eraser) replies(t *Tx) int {
	removed := 0
	for _, post := range e.some(t, `SELECT v.post FROM revived v WHERE v.author = $1 AND (SELECT p.deleted >= $2
		AND EXISTS (SELECT 1 FROM posts r WHERE r.root = v.post AND r.root <> '' AND r.gone = 0 AND r.root_life <= p.deleted) FROM posts p WHERE p.id = v.post)`, e.at.card) {
		if removed < e.budget {
			removed += t.endReplies(post, e.budget-removed)
		}
	}
	return removed
}

func (e *eraser) posts(t *Tx) int {
	return e.delete(t, `SELECT id FROM posts WHERE author = $1 AND gone = 0 AND created <= $2 AND reach <= 2`)
}

// comments removes replies separately from posts, because they are locked in order with their root
// posts.
func (e *eraser) comments(t *Tx) int {
	return e.delete(t, `SELECT id FROM posts WHERE author = $1 AND gone = 0 AND created <= $2 AND reach > 2`)
}

func (e *eraser) delete(t *Tx, text string) int {
	ids := e.some(t, text, e.at.card)
	if len(ids) > 0 {
		records := t.records(changing, ids)
		t.lockRoots(ids...)
		for _, r := range records {
			t.delete(r, max(e.at.card, r.Latest()))
		}
		t.forgetRemovals(slices.Collect(maps.Values(records))...)
		t.forgetReports(ids)
	}
	return len(ids)
}

// leaving selects the next followers to remove, and calls leave with them. For a pulled author it
// does not: their lists only have leftovers of the author, which no answer shows and newer posts
// displace.
func (e *eraser) leaving(ctx context.Context, s *Store) error {
	var delivery social.Delivery
	err := s.read(ctx, func(q *Query) {
		q.row(into(&delivery), `SELECT delivery FROM authors WHERE id = $1`, e.agent)
		e.ends = q.texts(`SELECT agent FROM follows WHERE author = $1 AND gone = 0 AND at <= $2 LIMIT $3`, e.agent, e.at.card, e.budget)
	})
	e.noJobs = delivery == social.Pull || e.leave != nil
	leaves := e.leave != nil && delivery != social.Pull
	if err != nil || len(e.ends) == 0 || !leaves {
		return err
	}
	return e.leave(ctx, e.ends)
}

// followers ends the follows by the agents that leaving selected.
func (e *eraser) followers(t *Tx) int {
	if len(e.ends) == 0 {
		return 0
	}
	t.lockAgents(changing, append(e.ends, e.agent)...)
	var again bool
	t.row(into(&again), `SELECT EXISTS (SELECT 1 FROM posts WHERE author = $1 AND gone = 0)`, e.agent)
	t.noPairs = e.noJobs && !again
	agents := t.texts(`SELECT agent FROM follows WHERE author = $1 AND gone = 0 AND at <= $2 AND agent = ANY ($3)`, e.agent, e.at.card, e.ends)
	endFollows(t, e.at.card, agents, []string{e.agent})
	return len(e.ends) // including those who unfollowed in the meantime: there may be more
}

// following ends the agent's follows. A caller with leave drops the agent's own list, too.
func (e *eraser) following(t *Tx) int {
	t.noPairs = e.leave != nil
	authors := e.some(t, `SELECT author FROM follows WHERE agent = $1 AND gone = 0 AND at <= $2`, e.at.rest)
	endFollows(t, e.at.rest, []string{e.agent}, authors)
	return len(authors)
}

// endFollows ends the follows of all agents by all authors as of a stamp.
func endFollows(t *Tx, at int64, agents, authors []string) {
	var list []social.FollowChange
	for _, agent := range agents {
		for _, author := range authors {
			list = append(list, social.FollowChange{Edge: social.Edge{Agent: agent, Author: author}, At: at})
		}
	}
	if len(list) > 0 {
		t.setFollows(list...)
	}
}

func (e *eraser) circles(t *Tx) int {
	ids := e.lockCircles(t, `SELECT id FROM circles WHERE owner = $1 AND gone = 0 AND put <= $2`)
	for _, id := range ids {
		t.endCircle(t.circle(changing, id))
	}
	return len(ids)
}

func (e *eraser) memberships(t *Tx) int {
	ids := e.lockCircles(t, `SELECT circle FROM members WHERE agent = $1 AND gone = 0 AND at <= $2`)
	for _, id := range ids {
		c := t.circle(changing, id)
		t.setMembers(c, membership{agents: []string{e.agent}, at: e.at.rest})
		t.saveCircle(c)
	}
	return len(ids)
}

// lockCircles locks the circles that a query finds, all of them before any agents.
func (e *eraser) lockCircles(t *Tx, text string) []string {
	ids := e.some(t, text, e.at.rest)
	t.lockRows("circles", ids...)
	return ids
}

func (e *eraser) invitations(t *Tx) int {
	return int(t.exec(`DELETE FROM invitations WHERE agent = $1 AND at <= $2`, e.agent, e.at.rest))
}

func (e *eraser) likes(t *Tx) int {
	ids := e.some(t, `SELECT post FROM likes WHERE agent = $1 AND at <= $2`, e.at.rest)
	if len(ids) == 0 {
		return 0
	}
	t.lockRows("posts", ids...)
	t.later(`UPDATE posts SET likes_here = likes_here - 1 WHERE id = ANY ($2)
		AND EXISTS (SELECT 1 FROM likes l WHERE l.post = posts.id AND l.agent = $1 AND (posts.gone > 0 OR l.incarnation > posts.deleted))`, e.agent, ids)
	t.later(`DELETE FROM likes WHERE agent = $1 AND post = ANY ($2)`, e.agent, ids)
	for _, id := range ids {
		t.counted(id)
	}
	return len(ids)
}

// mentions removes the agent from the mentions and grants of others' posts.
func (e *eraser) mentions(t *Tx) int {
	ids := e.some(t, `SELECT post FROM post_mentions WHERE agent = $1 AND life < $2
		UNION ALL SELECT reply FROM reply_mentions WHERE agent = $1 AND life < $2`, e.at.rest)
	if len(ids) == 0 {
		return 0
	}
	for _, r := range t.records(changing, ids) {
		had := len(r.Post.Grants) > 0
		r.Post.Mentions = some(slices.DeleteFunc(r.Post.Mentions, func(agent string) bool { return agent == e.agent }))
		r.Post.Grants = some(slices.DeleteFunc(r.Post.Grants, func(agent string) bool { return agent == e.agent }))
		r.grants = slices.DeleteFunc(r.grants, func(grant string) bool { return granted(grant) == e.agent })
		if had && len(r.Post.Grants) == 0 {
			t.close(r.Post.ID)
		}
		r.Post.Version++
		t.save(r)
	}
	t.later(`DELETE FROM post_mentions WHERE agent = $1 AND post = ANY ($2)`, e.agent, ids)
	t.later(`DELETE FROM reply_mentions WHERE agent = $1 AND reply = ANY ($2)`, e.agent, ids)
	return len(ids)
}

// suggestions removes a list that was computed before the erasure and stored after it.
func (e *eraser) suggestions(t *Tx) int {
	return int(t.exec(`DELETE FROM suggestions WHERE agent = $1`, e.agent))
}

func (e *eraser) keys(t *Tx) int {
	keys := e.some(t, `SELECT key FROM post_keys WHERE author = $1 AND at <= $2`, e.at.rest)
	if len(keys) > 0 {
		t.later(`DELETE FROM post_keys WHERE author = $1 AND key = ANY ($2)`, e.agent, keys)
	}
	return len(keys)
}
