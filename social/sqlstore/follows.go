package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Follow implements [social.Follows].
func (s *Store) Follow(ctx context.Context, agent, author string, at time.Time) (bool, error) {
	return s.follow(ctx, agent, author, true, at)
}

// Unfollow implements [social.Follows].
func (s *Store) Unfollow(ctx context.Context, agent, author string, at time.Time) (bool, error) {
	return s.follow(ctx, agent, author, false, at)
}

func (s *Store) follow(ctx context.Context, agent, author string, on bool, at time.Time) (changed bool, err error) {
	if err := social.CheckFollow(agent, author); err != nil {
		return false, err
	}
	if err := social.CheckTime(at, s.opts.Clock()); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *Tx) {
		t.lowerIfOld(at)
		edge := social.Edge{Agent: agent, Author: author}
		r := t.setFollows(social.FollowChange{Edge: edge, On: on, At: social.Stamp(at)})[0]
		changed = r.Changed
		if r.Refused != nil {
			t.fail(r.Refused)
			return
		}
	})
	return changed && err == nil, s.failed(ctx, "follow", err)
}

// FollowAll implements [social.Follows].
func (s *Store) FollowAll(ctx context.Context, edges []social.Edge, at time.Time) (changed int, rejected []social.Rejected, err error) {
	list, rejected, err := social.Changes(edges, at, s.opts.Clock())
	if err != nil {
		return 0, nil, err
	}
	var results []social.FollowResult
	if err := s.write(ctx, func(t *Tx) {
		t.lowerIfOld(at)
		t.renew = map[string]bool{}
		results = t.setFollows(list...)
		for _, agent := range slices.Sorted(maps.Keys(t.renew)) {
			t.enqueue(jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey(jobs.Everybody, agent), Priority: jobs.PriorityUpkeep})
		}
	}); err != nil {
		return 0, nil, s.failed(ctx, "follow", err)
	}
	for i, r := range results {
		if r.Changed {
			changed++
		}
		if r.Refused != nil {
			rejected = append(rejected, social.Rejected{Index: list[i].Index, Err: r.Refused})
		}
	}
	slices.SortFunc(rejected, func(a, b social.Rejected) int { return a.Index - b.Index })
	return changed, rejected, nil
}

// Following implements [social.Follows].
func (s *Store) Following(ctx context.Context, agent, reader, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author
		WHERE f.agent = $1 AND `+followsNow+` AND f.author > $2`+notBlocked(`$4`, `f.author`)+` ORDER BY f.author LIMIT $3`, agent, after, n, reader)
}

// Followers implements [social.Follows].
func (s *Store) Followers(ctx context.Context, author, reader, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT f.agent FROM follows f LEFT JOIN authors a ON a.id = f.agent
		WHERE f.author = $1 AND `+followedNow+` AND f.agent > $2`+notBlocked(`$4`, `f.agent`)+` ORDER BY f.agent LIMIT $3`, author, after, n, reader)
}

// Blocked implements [social.Follows].
func (s *Store) Blocked(ctx context.Context, agent, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT other FROM blocks WHERE agent = $1 AND other > $2 ORDER BY other LIMIT $3`, agent, after, n)
}

func (s *Store) page(ctx context.Context, text string, args ...any) (list []string, err error) {
	err = s.read(ctx, func(q *Query) { list = q.texts(text, args...) })
	return list, s.failed(ctx, "list", err)
}

// Block implements [social.Follows].
func (s *Store) Block(ctx context.Context, agent, other string) (changed bool, err error) {
	if err := social.CheckPair(agent, other); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *Tx) { changed = t.block(agent, other) })
	return changed && err == nil, s.failed(ctx, "block", err)
}

// Unblock implements [social.Follows].
func (s *Store) Unblock(ctx context.Context, agent, other string) (changed bool, err error) {
	if err := social.CheckPair(agent, other); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *Tx) { changed = t.unblock(agent, other) })
	return changed && err == nil, s.failed(ctx, "unblock", err)
}

func (t *Tx) block(agent, other string) (changed bool) {
	circles := t.circlesOfBoth(agent, other)
	t.lockAgents(changing, agent, other)
	added := t.exec(`INSERT INTO blocks (agent, other, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, agent, other, social.Stamp(t.now))
	if added == 0 {
		return false
	}
	if len(circles) != len(t.circlesWithEither(agent, other)) {
		return t.fail(fmt.Errorf("%w: one was added to a circle of the other", ErrRaced))
	}
	for _, pair := range [][2]string{{agent, other}, {other, agent}} {
		t.exec(`DELETE FROM invitations WHERE agent = $1
			AND circle IN (SELECT i.circle FROM invitations i JOIN circles c ON c.id = i.circle AND c.owner = $2 WHERE i.agent = $1)`, pair[0], pair[1])
	}
	for _, c := range circles {
		member := other
		if c.Owner == other {
			member = agent
		}
		left := t.setMembers(c, membership{agents: []string{member}})
		if left > 0 {
			t.saveCircle(c)
		}
	}
	t.setFollows(ended(agent, other), ended(other, agent))
	t.change(social.Change{Type: social.BlockMade, Agent: agent, Other: other})
	t.untell(agent, other)
	t.pairs(agent, other, jobs.PriorityRemoval)
	return true
}

func (t *Tx) unblock(agent, other string) (changed bool) {
	t.lockAgents(changing, agent, other)
	removed := t.exec(`DELETE FROM blocks WHERE agent = $1 AND other = $2`, agent, other)
	if removed == 0 {
		return false
	}
	t.change(social.Change{Type: social.BlockEnded, Agent: agent, Other: other})
	t.untell(agent, other)
	t.pairs(agent, other, jobs.PrioritySoon)
	return true
}

// circlesOfBoth locks and returns the circles of each of two agents that have the other as a
// member.
func (t *Tx) circlesOfBoth(one, other string) (list []*circle) {
	ids := t.circlesWithEither(one, other)
	t.lockRows("circles", ids...)
	for _, id := range ids {
		list = append(list, t.circle(changing, id))
	}
	return list
}

// circlesWithEither returns the ids of those circles, sorted.
func (t *Tx) circlesWithEither(one, other string) []string {
	const circlesWith = `SELECT c.id FROM circles c JOIN members m ON m.circle = c.id AND m.agent = $1 AND m.gone = 0
		WHERE c.owner = $2 AND c.gone = 0`
	return slices.Sorted(slices.Values(append(t.texts(circlesWith, one, other), t.texts(circlesWith, other, one)...)))
}

// ended ends a follow, and stores the end so that no earlier event takes effect.
func ended(agent, author string) social.FollowChange {
	return social.FollowChange{Edge: social.Edge{Agent: agent, Author: author}, Noted: true}
}

// pairs marks the posts of each in the list of the other.
func (t *Tx) pairs(one, other string, priority int) {
	t.enqueue(
		jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey(one, other), Priority: priority},
		jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey(other, one), Priority: priority})
}
