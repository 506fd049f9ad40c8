package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

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
		results, err = t.setFollows(s.opts, list...)
		for _, agent := range slices.Sorted(maps.Keys(t.renew)) {
			t.mark(jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(jobs.Everybody, agent), Priority: jobs.PriorityLater})
		}
		return err
	}); err != nil {
		return 0, nil, failed(ctx, "follow", err)
	}
	changed, rejected = social.Imported(bad, index, results)
	return changed, rejected, nil
}

// Following implements [social.Follows].
func (s *Store) Following(ctx context.Context, agent, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT author FROM follows WHERE agent = $1 AND gone = 0 AND author > $2 ORDER BY author LIMIT $3`, agent, after, n)
}

// Followers implements [social.Follows].
func (s *Store) Followers(ctx context.Context, author, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT agent FROM follows WHERE author = $1 AND gone = 0 AND agent > $2 ORDER BY agent LIMIT $3`, author, after, n)
}

func (s *Store) page(ctx context.Context, text string, args ...any) (list []string, err error) {
	err = s.read(ctx, func(q querying) error {
		list, err = q.texts(text, args...)
		return err
	})
	return list, failed(ctx, "list", err)
}
