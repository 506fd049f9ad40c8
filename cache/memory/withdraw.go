package memory

import (
	"context"
	"time"
)

// Withdraw implements [cache.Withdrawer]. The pending set comes first, so that
// a failure leaves the session to be withdrawn from again.
func (s *Sessions) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	a := s.agents.lock(agent, s.clock())
	defer s.agents.unlock(agent, a)
	if err := s.claimer.Hold(ctx, agent, groups, at); err != nil {
		return contractError(err)
	}
	a.forYou.strike(groups)
	a.home.strike(groups)
	return nil
}
