package redisbloom

import (
	"context"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/rediskeys"
)

// chunk is the most members one command is given.
const chunk = 1000

// addresses makes arguments of groups. The client writes a *string as the string; a
// string would be allocated anew.
func addresses(groups []string) []any {
	args := make([]any, len(groups))
	for i := range groups {
		args[i] = &groups[i]
	}
	return args
}

// Forget implements [dedup.Store].
func (s *Store) Forget(ctx context.Context, agent string) error {
	return contractError("forget", s.client.Unlink(ctx, s.keys.Pending(agent)).Err())
}

// Settle implements [dedup.Writer]: one pipeline with a ZREM per agent.
func (s *Store) Settle(ctx context.Context, batch []dedup.Impression) error {
	byAgent := make(map[string][]string)
	for _, imp := range batch {
		byAgent[imp.Agent] = append(byAgent[imp.Agent], imp.Group)
	}
	return s.drop(ctx, "settle", byAgent)
}

// drop takes groups out of the agents' pending sets.
func (s *Store) drop(ctx context.Context, step string, byAgent map[string][]string) error {
	pipe := s.client.Pipeline()
	for agent, groups := range byAgent {
		key := s.keys.Pending(agent)
		for from := 0; from < len(groups); from += chunk {
			pipe.ZRem(ctx, key, addresses(groups[from:min(from+chunk, len(groups))])...)
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	cmds, err := pipe.Exec(ctx)
	if !rediskeys.Foreign(err) {
		return contractError(step, err)
	}
	for _, cmd := range cmds { // in a set that is somebody else's nothing is pending
		if err := cmd.Err(); err != nil && !rediskeys.Foreign(err) {
			return contractError(step, err)
		}
	}
	return nil
}
