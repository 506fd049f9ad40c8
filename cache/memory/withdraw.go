package memory

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Withdraw implements [cache.Withdrawer]. The pending set comes first, so that
// a failure leaves the session to be withdrawn from again.
func (s *Sessions) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	if _, err := s.claimer.Claim(ctx, agent, groups, len(groups), at); err != nil {
		return contractError(err)
	}
	out := make(map[string]struct{}, len(groups))
	for _, g := range groups {
		out[g] = struct{}{}
	}
	for _, session := range []*session{&a.forYou, &a.home} {
		// A page that was handed out may share the session's memory.
		session.refs = slices.DeleteFunc(slices.Clone(session.refs), func(ref feed.Ref) bool {
			_, group := out[ref.Group]
			_, id := out[ref.ID]
			return group || id
		})
	}
	return nil
}
