package redisbloom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/safego"
)

// writers is the number of filters of one batch that are written concurrently, so that their round
// trips overlap.
const writers = 8

// part is the portion of a batch for one filter.
type part struct {
	key   string
	batch []dedup.Impression
}

// Record implements [dedup.Writer]. It needs one round trip to set the day's shard count, then
// another per filter, several filters concurrently.
func (s *Store) Record(ctx context.Context, batch []dedup.Impression, now time.Time) ([]dedup.Impression, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	ttl := s.filterTTL(now)
	shards, err := s.fixShards(ctx, now, ttl)
	if err != nil {
		return batch, contractError("record", err)
	}
	var (
		mu          sync.Mutex
		unconfirmed []dedup.Impression
		errs        []error
		group       errgroup.Group
	)
	group.SetLimit(writers)
	for _, p := range s.split(batch, feed.DayOf(now), shards) {
		group.Go(safego.Func(func() error {
			if err := s.write(ctx, p, feed.DayOf(now), shards, ttl); err != nil {
				mu.Lock()
				defer mu.Unlock()
				unconfirmed, errs = append(unconfirmed, p.batch...), append(errs, err)
			}
			return nil
		}))
	}
	if err := group.Wait(); err != nil { // a panic: it is unknown which parts were written
		return batch, fmt.Errorf("record: %w", err)
	}
	s.noteRefusal(errors.Join(errs...))
	if len(errs) > 0 {
		return unconfirmed, contractError("record", errors.Join(errs...))
	}
	s.observe(ctx, now)
	return nil, nil
}

// filterTTL returns the time until the day of now has left the window by every server's clock, in
// whole seconds rounded up. It is relative, because now may differ from Redis's clock.
func (s *Store) filterTTL(now time.Time) time.Duration {
	end := (feed.DayOf(now) + feed.Day(s.cfg.WindowDays)).Start().Add(clockSkew)
	return (end.Sub(now) + time.Second - 1).Truncate(time.Second)
}

func (s *Store) split(batch []dedup.Impression, day feed.Day, shards int) []part {
	if shards == 1 {
		return []part{{key: s.keys.Filter(day, 0, 1), batch: batch}}
	}
	place := make(map[int]int)
	var parts []part
	for _, imp := range batch {
		shard := ShardOf(imp.Agent, shards)
		at, ok := place[shard]
		if !ok {
			at = len(parts)
			place[shard] = at
			parts = append(parts, part{key: s.keys.Filter(day, shard, shards)})
		}
		parts[at].batch = append(parts[at].batch, imp)
	}
	return parts
}

// write adds a part to its filter with BF.INSERT, which creates a missing filter (new or vanished)
// with the right size: BF.MADD would create a tiny one that grows layer by layer.
func (s *Store) write(ctx context.Context, p part, day feed.Day, shards int, ttl time.Duration) error {
	members := make([]string, len(p.batch))
	args := make([]any, 0, 9+len(members))
	args = append(args, "bf.insert", p.key, "capacity", s.cfg.ShardCapacity(shards), "error", s.rate, "expansion", 2, "items")
	for i, imp := range p.batch {
		members[i] = imp.Member()
		args = append(args, &members[i])
	}
	there, add := redis.NewIntCmd(ctx, "exists", p.key), redis.NewCmd(ctx, args...)
	expire := redis.NewCmd(ctx, "expire", p.key, int64(ttl/time.Second))
	if err := s.together(ctx, p.key, there, add, expire); err != nil {
		return err
	}
	added, err := add.Slice()
	for _, member := range added {
		if failed, ok := member.(error); ok {
			err = failed
		}
	}
	if err == nil && len(added) != len(members) {
		err = fmt.Errorf("%w: %d values for %d members", errAnswer, len(added), len(members))
	}
	if err = cmp.Or(err, expire.Err()); err != nil { // without a TTL the filter would never expire; a retry sets it
		return fmt.Errorf("add to %s: %w", p.key, err)
	}
	if there.Err() == nil && there.Val() == 0 { // new today, or vanished
		s.noteVanished(ctx, p.key)
	}
	s.fill.noteFilter(p.key, day, nil)
	return nil
}

// together sends commands on one key in one round trip and waits for the required number of
// replicas. Each command has its own error; the returned error means that none of them can be
// relied on.
func (s *Store) together(ctx context.Context, key string, cmds ...redis.Cmder) error {
	for _, cmd := range cmds {
		cmd.SetFirstKeyPos(1)
	}
	if s.copies.N > 0 {
		return s.copies.Exec(ctx, s.client, key, cmds...)
	}
	pipe := s.client.Pipeline()
	for _, cmd := range cmds {
		_ = pipe.Process(ctx, cmd)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return err
	}
	return nil
}

// chunk is the maximum number of members of a ZREM.
const chunk = 1000

// addresses converts groups to arguments. The client writes a *string as the string; passing a
// string would allocate.
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

// PendingOf lists the agent's pending set.
func (s *Store) PendingOf(ctx context.Context, agent string) ([]string, error) {
	groups, err := s.client.ZRange(ctx, s.keys.Pending(agent), 0, -1).Result()
	return groups, contractError("list what is pending", err)
}

// ClearPending implements [dedup.Writer]: one pipeline with a ZREM per agent.
func (s *Store) ClearPending(ctx context.Context, batch []dedup.Impression) error {
	if len(batch) == 0 {
		return nil
	}
	byAgent := make(map[string][]string)
	for _, imp := range batch {
		byAgent[imp.Agent] = append(byAgent[imp.Agent], imp.Group)
	}
	pipe := s.client.Pipeline()
	for agent, groups := range byAgent {
		for part := range slices.Chunk(groups, chunk) {
			pipe.ZRem(ctx, s.keys.Pending(agent), addresses(part)...)
		}
	}
	cmds, err := pipe.Exec(ctx)
	if !rediskeys.Foreign(err) {
		return contractError("settle", err)
	}
	for _, cmd := range cmds { // another application's key holds no pending groups
		if err := cmd.Err(); err != nil && !rediskeys.Foreign(err) {
			return contractError("settle", err)
		}
	}
	return nil
}
