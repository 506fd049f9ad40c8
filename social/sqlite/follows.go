package sqlite

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// register reads a row of (at, gone); what is not stored is off at 0.
func register(row scanner) (social.Register, error) {
	var at, gone int64
	ok, err := found(row, &at, &gone)
	return social.Register{On: ok && gone == 0, At: at}, err
}

// gone returns the value of a register's column gone.
func (t *tx) gone(on bool) int64 {
	if on {
		return 0
	}
	return social.Stamp(t.now)
}

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
	err = s.write(ctx, func(t *tx) error {
		edge := social.Edge{Agent: agent, Author: author}
		results, err := t.setFollows(s.opts, social.FollowChange{Edge: edge, On: on, At: social.Stamp(at)})
		if err != nil {
			return err
		}
		changed = results[0].Changed
		return results[0].Refused
	})
	return changed, failed(ctx, "follow", err)
}

// FollowAll implements [social.Follows].
func (s *Store) FollowAll(ctx context.Context, edges []social.Edge, at time.Time) (changed int, rejected []social.Rejected, err error) {
	bad, err := social.CheckEdges(edges, at, s.opts.Clock())
	if err != nil {
		return 0, nil, err
	}
	list, index := social.Changes(edges, bad, at)
	var results []social.FollowResult
	if err := s.write(ctx, func(t *tx) (err error) {
		t.renew = map[string]bool{}
		if results, err = t.setFollows(s.opts, list...); err != nil {
			return err
		}
		return t.markRenewed()
	}); err != nil {
		return 0, nil, failed(ctx, "follow", err)
	}
	changed, rejected = social.Imported(bad, index, results)
	return changed, rejected, nil
}

// markRenewed marks the agents whose lists are rebuilt.
func (t *tx) markRenewed() error {
	for _, agent := range slices.Sorted(maps.Keys(t.renew)) {
		if err := t.mark(jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(jobs.Everybody, agent), Priority: jobs.PriorityLater}); err != nil {
			return err
		}
	}
	return nil
}

// Following implements [social.Follows].
func (s *Store) Following(ctx context.Context, agent, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT author FROM follows WHERE agent = ? AND gone = 0 AND author > ? ORDER BY author LIMIT +?`, agent, after, n)
}

// Followers implements [social.Follows].
func (s *Store) Followers(ctx context.Context, author, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT agent FROM follows WHERE author = ? AND gone = 0 AND agent > ? ORDER BY agent LIMIT +?`, author, after, n)
}

func (s *Store) page(ctx context.Context, text string, args ...any) (list []string, err error) {
	err = s.readers.read(ctx, func(q *reading) error {
		list, err = q.texts(text, args...)
		return err
	})
	return list, failed(ctx, "list", err)
}

// Block implements [social.Follows].
func (s *Store) Block(ctx context.Context, agent, other string) (changed bool, err error) {
	if err := social.CheckPair(agent, other); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *tx) error {
		n, err := t.exec(`INSERT INTO blocks (agent, other, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, agent, other, social.Stamp(t.now))
		if changed = n > 0; err != nil || !changed {
			return err
		}
		if _, err := t.setFollows(s.opts, ended(agent, other), ended(other, agent)); err != nil {
			return err
		}
		return t.pairs(agent, other, jobs.PriorityRemoval)
	})
	return changed, failed(ctx, "block", err)
}

// ended ends a follow, and notes that none of before holds.
func ended(agent, author string) social.FollowChange {
	return social.FollowChange{Edge: social.Edge{Agent: agent, Author: author}, Noted: true}
}

// pairs marks the posts of either in the list of the other.
func (t *tx) pairs(one, other string, priority int) error {
	return t.mark(
		jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(one, other), Priority: priority},
		jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(other, one), Priority: priority})
}

// Unblock implements [social.Follows].
func (s *Store) Unblock(ctx context.Context, agent, other string) (changed bool, err error) {
	if err := social.CheckPair(agent, other); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *tx) error {
		n, err := t.exec(`DELETE FROM blocks WHERE agent = ? AND other = ?`, agent, other)
		if changed = n > 0; err != nil || !changed {
			return err
		}
		return t.pairs(agent, other, jobs.PrioritySoon)
	})
	return changed, failed(ctx, "unblock", err)
}
