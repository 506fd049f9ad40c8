package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
)

// writers is how many filters of one batch are written at once, so that their
// round trips overlap.
const writers = 8

// part is the portion of a batch that one filter gets.
type part struct {
	key   string
	batch []dedup.Impression
}

// Record implements [dedup.Writer]: one round trip that fixes the day's shard
// count, then one MULTI per filter, several filters at once.
func (s *Store) Record(ctx context.Context, batch []dedup.Impression, now time.Time) ([]dedup.Impression, error) {
	if len(batch) == 0 {
		return nil, nil
	}
	day := feed.DayOf(now)
	ttl := s.filterTTL(now)
	shards, err := s.fixShards(ctx, now, ttl)
	if err != nil {
		return batch, contractError("record", err)
	}
	parts := s.split(batch, day, shards)
	var (
		mu          sync.Mutex
		unconfirmed []dedup.Impression
		errs        []error
		group       errgroup.Group
	)
	group.SetLimit(writers)
	for _, p := range parts {
		group.Go(guard.Func(func() error {
			missing, err := s.write(ctx, p, day, shards, ttl)
			mu.Lock()
			defer mu.Unlock()
			unconfirmed = append(unconfirmed, missing...)
			if err != nil {
				errs = append(errs, err)
			}
			return nil
		}))
	}
	if err := group.Wait(); err != nil { // a panic: it is not known what was written
		return batch, fmt.Errorf("record: %w", err)
	}
	if len(errs) > 0 {
		return unconfirmed, contractError("record", errors.Join(errs...))
	}
	s.observe(ctx, now)
	return nil, nil
}

// filterTTL is the time until the day of now has left the window by every
// server's clock, in whole seconds rounded up. It is relative, because now need
// not be Redis's.
func (s *Store) filterTTL(now time.Time) time.Duration {
	end := (feed.DayOf(now) + feed.Day(s.cfg.WindowDays)).Start().Add(clockSkew)
	return (end.Sub(now) + time.Second - 1).Truncate(time.Second)
}

// split sorts a batch by the filter it goes to.
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

// write adds a part to its filter in one MULTI that begins with BF.RESERVE:
// a filter that vanished meanwhile is created again with its size and TTL, never
// by BF.MADD alone, which would make a tiny one that grows layer on layer. It
// returns what is not confirmed.
func (s *Store) write(ctx context.Context, p part, day feed.Day, shards int, ttl time.Duration) ([]dedup.Impression, error) {
	reserve := redis.NewCmd(ctx, "bf.reserve", p.key, s.rate, s.cfg.ShardCapacity(shards), "expansion", expansion)
	expire := redis.NewCmd(ctx, "expire", p.key, int64(ttl/time.Second))
	cmds := []*redis.Cmd{reserve, expire}
	for from := 0; from < len(p.batch); from += chunk {
		cmds = append(cmds, madd(ctx, p.key, p.batch[from:min(from+chunk, len(p.batch))]))
	}
	if err := s.transact(ctx, p.key, cmds); err != nil {
		return p.batch, err
	}
	adds := cmds[2:]
	if err := reserve.Err(); err != nil && !strings.Contains(err.Error(), "exists") {
		return p.batch, fmt.Errorf("BF.RESERVE %s: %w", p.key, err)
	}
	if reserve.Err() == nil { // it was not there: new today, or vanished
		s.gone(ctx, p.key)
	}
	s.fill.there(p.key, day, nil)
	var unconfirmed []dedup.Impression
	var failed error
	for i, add := range adds {
		asked := p.batch[i*chunk : min((i+1)*chunk, len(p.batch))]
		missing, err := notAdded(add, asked)
		if err != nil {
			unconfirmed, failed = append(unconfirmed, missing...), fmt.Errorf("BF.MADD %s: %w", p.key, err)
		}
	}
	if failed == nil && expire.Err() != nil {
		// Without a TTL the filter would never expire; writing again sets it.
		return p.batch, fmt.Errorf("EXPIRE %s: %w", p.key, expire.Err())
	}
	return unconfirmed, failed
}

// transact runs commands on one key in one MULTI, which counts once the
// replicas have it. Each command has its own reply; the error says that the
// replies cannot be relied on.
func (s *Store) transact(ctx context.Context, key string, cmds []*redis.Cmd) error {
	if s.copies.N == 0 {
		pipe := s.client.TxPipeline()
		for _, cmd := range cmds {
			cmd.SetFirstKeyPos(1)
			_ = pipe.Process(ctx, cmd)
		}
		if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
			return err
		}
		return nil
	}
	// The client has no transaction that a WAIT may follow on its connection.
	exec := redis.NewSliceCmd(ctx, "exec")
	all := []redis.Cmder{redis.NewStatusCmd(ctx, "multi")}
	for _, cmd := range cmds {
		all = append(all, cmd)
	}
	if err := s.copies.Exec(ctx, s.client, key, append(all, exec)...); err != nil {
		return err
	}
	replies, err := exec.Result()
	if err != nil {
		for _, cmd := range cmds { // why it was refused is a better answer than that it was
			if cmd.Err() != nil {
				return cmd.Err()
			}
		}
		return err
	}
	if len(replies) != len(cmds) {
		return fmt.Errorf("%w: %d replies of EXEC for %d commands", errAnswer, len(replies), len(cmds))
	}
	for i, reply := range replies {
		cmds[i].SetVal(reply)
		if err, ok := reply.(error); ok {
			cmds[i].SetErr(err)
		}
	}
	return nil
}

// madd builds a BF.MADD whose reply keeps an error of a single member apart.
func madd(ctx context.Context, key string, batch []dedup.Impression) *redis.Cmd {
	list := make([]string, len(batch))
	args := make([]any, 2, 2+len(batch))
	args[0], args[1] = "bf.madd", key
	for i, imp := range batch {
		list[i] = imp.Member()
		args = append(args, &list[i])
	}
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(1)
	return cmd
}

// notAdded reads a BF.MADD reply: one value per member, which says whether it
// is new, or an error. A reply that ends early confirms only what it holds.
func notAdded(add *redis.Cmd, asked []dedup.Impression) ([]dedup.Impression, error) {
	reply, err := add.Slice()
	if err != nil {
		return asked, err
	}
	var missing []dedup.Impression
	for i, imp := range asked {
		if i >= len(reply) {
			missing = append(missing, asked[i:]...)
			if err == nil {
				err = fmt.Errorf("%w: %d values for %d members", errAnswer, len(reply), len(asked))
			}
			break
		}
		switch v := reply[i].(type) {
		case bool, int64:
		case error:
			missing, err = append(missing, imp), v
		default:
			missing, err = append(missing, imp), fmt.Errorf("%w: %v for a member", errAnswer, v)
		}
	}
	return missing, err
}
