// Package redis stores live popularity in Redis, for any number of servers at once: the counts of
// items, the agents who have acted on them, and the items that an index does not have yet. It
// requires Redis 6.2 or newer.
package redis

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/popularity"
)

// keep is how long counts and acts are stored after the last act. By then the counts of a million
// readers have decayed far below a visible value.
const keep = popularity.RememberDays * 24 * time.Hour

// countsWithin is longer than counting one batch takes: a server that takes an item after it finds
// the new counts.
const countsWithin = 10 * time.Second

// atOnce is the number of items per round trip.
const atOnce = 1000

// Store implements [popularity.Counter] and [popularity.Queue]. It is safe for
// concurrent use, by any number of servers at once.
type Store struct {
	client redis.Cmdable
	keys   rediskeys.Keys
	keep   feed.HalfLives
	script string // keep as countScript takes it
}

var (
	_ popularity.Counter = (*Store)(nil)
	_ popularity.Queue   = (*Store)(nil)
)

// New returns a store that uses client; keyPrefix is prepended to every key. It keeps the sums of these
// half-lives beside the two of all [feed.Counts]; those of others are dropped as items are counted. It
// does not contact the server.
func New(client redis.Cmdable, keyPrefix string, keep feed.HalfLives) *Store {
	var script []string
	for h := range keep.All() {
		script = append(script, fmt.Sprintf("%s:%d", h.Name, int64(h.Duration/time.Second)))
	}
	return &Store{client: client, keys: rediskeys.For(client, keyPrefix), keep: keep, script: strings.Join(script, " ")}
}

// Count implements [popularity.Counter]. It first records the items that each agent has acted on,
// so that everything that is stored can be erased; then it counts the acts on each item atomically.
// Items are marked as changed afterwards, and also before with a delay, in case the server is
// killed in between.
func (s *Store) Count(ctx context.Context, acts []popularity.Act) error {
	if len(acts) == 0 {
		return nil
	}
	byItem := map[string][]any{}
	for _, a := range acts {
		byItem[a.Item] = append(byItem[a.Item], member(a.Agent), a.At, 1<<a.Kind)
	}
	if err := s.noteActs(ctx, acts); err != nil {
		return contractError("count", err)
	}
	for items := range slices.Chunk(slices.Sorted(maps.Keys(byItem)), atOnce) {
		if err := s.changed(ctx, items, countsWithin); err != nil {
			return err
		}
		changed, err := s.countItems(ctx, items, byItem)
		if err != nil {
			return contractError("count", err)
		}
		if err := s.changed(ctx, changed, 0); err != nil {
			return err
		}
	}
	return nil
}

func member(agent uint64) string { return string(binary.BigEndian.AppendUint64(nil, agent)) }

// noteActs records the items that each agent has acted on.
func (s *Store) noteActs(ctx context.Context, acts []popularity.Act) error {
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, a := range acts {
			key, day := s.keys.PopularityActs(a.Agent), int(feed.DayOf(time.Unix(a.At, 0)))
			p.ZAdd(ctx, key, redis.Z{Score: float64(day), Member: a.Item})
			p.ZRemRangeByScore(ctx, key, "-inf", strconv.Itoa(day-popularity.RememberDays))
			p.Expire(ctx, key, keep)
		}
		return nil
	})
	return err
}

// countItems counts the acts on some items, and returns the items with changed counts.
func (s *Store) countItems(ctx context.Context, items []string, acts map[string][]any) (changed []string, err error) {
	replies := make([]*redis.Cmd, len(items))
	_ = rediskeys.RunEach(countScript, replies, func(run rediskeys.Run, which []int) error {
		pipe := s.client.Pipeline()
		for _, at := range which {
			item := items[at]
			args := append([]any{
				popularity.RememberDays, int64(feed.ShortHalfLife / time.Second), int64(feed.LongHalfLife / time.Second), feed.EpochHalfLives,
				int64(feed.LatestAct / time.Second), s.script,
			}, acts[item]...)
			replies[at] = run(ctx, pipe, []string{s.keys.PopularityCounts(item), s.keys.PopularityAgents(item)}, args...)
		}
		_, err := pipe.Exec(ctx)
		return err
	})
	for i, reply := range replies {
		if n, err := reply.Int(); err != nil {
			return nil, err
		} else if n > 0 {
			changed = append(changed, items[i])
		}
	}
	return changed, nil
}

// each sends a command for each item, atOnce items per round trip.
func (s *Store) each(ctx context.Context, step string, items []string, send func(p redis.Pipeliner, item string)) error {
	for part := range slices.Chunk(items, atOnce) {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, item := range part {
				send(p, item)
			}
			return nil
		})
		if err != nil {
			return contractError(step, err)
		}
	}
	return nil
}

// Forget implements [popularity.Counter].
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	const step = "forget an agent's acts"
	key := s.keys.PopularityActs(agent)
	items, err := s.client.ZRange(ctx, key, 0, -1).Result()
	if err != nil {
		return contractError(step, err)
	}
	if err := s.each(ctx, step, items, func(p redis.Pipeliner, item string) { p.ZRem(ctx, s.keys.PopularityAgents(item), member(agent)) }); err != nil {
		return err
	}
	return contractError(step, s.client.Del(ctx, key).Err())
}

// ActsOf implements [popularity.ActList].
func (s *Store) ActsOf(ctx context.Context, agent uint64) (map[string]feed.Day, error) {
	items, err := s.client.ZRangeWithScores(ctx, s.keys.PopularityActs(agent), 0, -1).Result()
	days := map[string]feed.Day{}
	for _, z := range items {
		item, _ := z.Member.(string)
		days[item] = feed.Day(z.Score)
	}
	return days, contractError("list an agent's acts", err)
}

// Readers implements [popularity.Readers].
func (s *Store) Readers(ctx context.Context, item string) (int64, error) {
	n, err := s.client.ZCard(ctx, s.keys.PopularityAgents(item)).Result()
	return n, contractError("count the readers of an item", err)
}

// Drop implements [popularity.Queue].
func (s *Store) Drop(ctx context.Context, items []string) error {
	return s.each(ctx, "drop items", items, func(p redis.Pipeliner, item string) {
		p.Del(ctx, s.keys.PopularityCounts(item), s.keys.PopularityAgents(item))
	})
}

// Counts returns the counts of those of the items that have some.
func (s *Store) Counts(ctx context.Context, items []string) (map[string]feed.Counts, error) {
	replies := make([]*redis.SliceCmd, 0, len(items))
	err := s.each(ctx, "read counts", items, func(p redis.Pipeliner, item string) {
		replies = append(replies, p.HMGet(ctx, s.keys.PopularityCounts(item), s.fields()...))
	})
	if err != nil {
		return nil, err
	}
	counts := map[string]feed.Counts{}
	for i, reply := range replies {
		var fields struct {
			Last  int64   `redis:"last"`
			Short float64 `redis:"sum_2h"`
			Long  float64 `redis:"sum_2d"`
			More  string  `redis:"more"`
		}
		if err := reply.Scan(&fields); err != nil {
			return nil, fmt.Errorf("live popularity of %s in Redis: %w", items[i], err)
		}
		if fields.Last > 0 {
			counts[items[i]] = feed.Counts{
				Last: fields.Last, Short: fields.Short, Long: fields.Long, More: popularity.ParseSums(s.keep, fields.More),
			}
		}
	}
	return counts, nil
}

// fields returns the fields of an item's counts.
func (s *Store) fields() []string {
	if s.keep == 0 {
		return []string{"last", "sum_2h", "sum_2d"}
	}
	return []string{"last", "sum_2h", "sum_2d", "more"}
}

// Changed implements [popularity.Queue].
func (s *Store) Changed(ctx context.Context, items []string) error { return s.changed(ctx, items, 0) }

// changed marks items as changed, to be taken after a delay.
func (s *Store) changed(ctx context.Context, items []string, after time.Duration) error {
	return s.run(ctx, changedScript, "mark changed items", items, int64(keep/time.Second), after.Milliseconds())
}

// run runs a script on the changed items, atOnce items per call, with args before the items.
func (s *Store) run(ctx context.Context, script *redis.Script, step string, items []string, args ...any) error {
	for part := range slices.Chunk(items, atOnce) {
		all := slices.Clone(args)
		for _, item := range part {
			all = append(all, item)
		}
		if err := script.Run(ctx, s.client, []string{s.keys.PopularityChanged()}, all...).Err(); err != nil {
			return contractError(step, err)
		}
	}
	return nil
}

// Take implements [popularity.Queue].
func (s *Store) Take(ctx context.Context, n int, lease, turn time.Duration) (popularity.Taken, error) {
	var taken popularity.Taken
	reply, err := takeScript.Run(ctx, s.client, []string{s.keys.PopularityChanged(), s.keys.PopularityTurn()},
		n, lease.Milliseconds(), turn.Milliseconds()).Slice()
	if err != nil {
		return taken, contractError("take changed items", err)
	}
	taken.Waiting, _ = reply[0].(int64)
	taken.Until, _ = reply[1].(string)
	items, _ := reply[2].([]any)
	for _, item := range items {
		id, _ := item.(string)
		taken.Items = append(taken.Items, id)
	}
	taken.Counts, err = s.Counts(ctx, taken.Items)
	return taken, err
}

// Done implements [popularity.Queue].
func (s *Store) Done(ctx context.Context, until string, items []string) error {
	return s.run(ctx, doneScript, "unmark changed items", items, until)
}

func contractError(step string, err error) error {
	return rediskeys.Failed(popularity.ErrUnavailable, step, err)
}
