package postgres

import (
	"context"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Block implements [social.Follows].
func (s *Store) Block(ctx context.Context, agent, other string) (changed bool, err error) {
	if err := social.CheckPair(agent, other); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *tx) error {
		if _, err := t.agents(changing, agent, other); err != nil {
			return err
		}
		n, err := t.exec(`INSERT INTO blocks (agent, other, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, agent, other, social.Stamp(t.now))
		if changed = n > 0; err != nil || !changed {
			return err
		}
		if _, err := t.setFollows(s.opts, ended(agent, other), ended(other, agent)); err != nil {
			return err
		}
		t.pairs(agent, other, jobs.PriorityRemoval)
		return nil
	})
	return changed, failed(ctx, "block", err)
}

// ended ends a follow, and notes that none of before holds.
func ended(agent, author string) social.FollowChange {
	return social.FollowChange{Edge: social.Edge{Agent: agent, Author: author}, Noted: true}
}

// pairs marks the posts of either in the list of the other.
func (t *tx) pairs(one, other string, priority int) {
	t.mark(
		jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(one, other), Priority: priority},
		jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(other, one), Priority: priority})
}

// Unblock implements [social.Follows].
func (s *Store) Unblock(ctx context.Context, agent, other string) (changed bool, err error) {
	if err := social.CheckPair(agent, other); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *tx) error {
		if _, err := t.agents(changing, agent, other); err != nil {
			return err
		}
		n, err := t.exec(`DELETE FROM blocks WHERE agent = $1 AND other = $2`, agent, other)
		if changed = n > 0; err == nil && changed {
			t.pairs(agent, other, jobs.PrioritySoon)
		}
		return err
	})
	return changed, failed(ctx, "unblock", err)
}
