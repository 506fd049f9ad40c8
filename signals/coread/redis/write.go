package redis

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/coread"
)

// errLost means that some acts could not be added and are not added any more.
var errLost = errors.New("acts on read items are lost")

// changes holds all that a batch of acts changes.
type changes struct {
	now     int64
	lists   map[string][]any // by item: its share, as for [raiseScript]
	readers map[string]int64 // by item
	items   map[string]int64 // until when their readers are counted at least
	reads   map[uint64]*reads
}

// changes returns what the acts change.
func (f *found) changes(acts []coread.Act) *changes {
	c := &changes{lists: map[string][]any{}, readers: map[string]int64{}, items: map[string]int64{}, reads: f.reads}
	for i := range acts {
		a, r := &acts[i], f.reads[acts[i].Agent]
		c.now = max(c.now, a.At)
		if f.fresh[i] {
			share := coread.Share(r.before)
			for _, read := range r.items {
				if read != a.Item {
					c.lists[read] = append(c.lists[read], a.Item, share, a.Dated)
				}
			}
		}
		isRead := slices.Contains(r.items, a.Item)
		if f.fresh[i] || !a.Young() && !isRead {
			c.readers[a.Item]++
			c.items[a.Item] = max(a.Dated, a.At) + window
			if !isRead {
				r.push(a.Item)
			}
		}
	}
	return c
}

func (r *reads) push(item string) {
	r.items = slices.Insert(r.items, 0, item)
	r.items = r.items[:min(len(r.items), coread.ReadsKept)]
	r.pushed = min(r.pushed+1, coread.ReadsKept)
	r.before++
}

// write is the second pipeline.
func (s *Store) write(ctx context.Context, c *changes) error {
	owners := slices.Sorted(maps.Keys(c.lists))
	replies := make([]*redis.Cmd, len(owners))
	s.batch++
	others := false
	err := rediskeys.RunEach(raiseScript, replies, func(run rediskeys.Run, which []int) error {
		pipe := s.client.Pipeline()
		for _, at := range which {
			args := append([]any{c.now, window, half, coread.MostEntries, s.sender, s.batch}, c.lists[owners[at]]...)
			replies[at] = run(ctx, pipe, []string{s.keys.CoReadList(owners[at])}, args...)
		}
		if !others {
			others = true
			s.writeCounts(ctx, pipe, c, owners)
			s.writeReads(ctx, pipe, c)
		}
		_, err := pipe.Exec(ctx)
		return err
	})
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // the second time they may have run
		err = nil
	}
	for _, reply := range replies {
		if reply.Err() != nil {
			err = reply.Err()
		}
	}
	if err != nil {
		return err
	}
	return s.count(ctx, c)
}

// count counts the readers of items.
func (s *Store) count(ctx context.Context, c *changes) error {
	args := map[int][]any{} // by part
	for item, n := range c.readers {
		part := rediskeys.CoReadPart(item)
		if args[part] == nil {
			args[part] = []any{s.sender, s.batch}
		}
		args[part] = append(args[part], item, n)
	}
	parts := slices.Sorted(maps.Keys(args))
	replies := make([]*redis.Cmd, len(parts))
	err := rediskeys.RunEach(countScript, replies, func(run rediskeys.Run, which []int) error {
		pipe := s.client.Pipeline()
		for _, at := range which {
			part := parts[at]
			replies[at] = run(ctx, pipe, []string{s.keys.CoReadReaders(part), s.keys.CoReadBatches(part)}, args[part]...)
		}
		_, err := pipe.Exec(ctx)
		return err
	})
	for _, reply := range replies {
		if reply.Err() != nil {
			return err
		}
	}
	return nil
}

func (s *Store) writeCounts(ctx context.Context, pipe redis.Pipeliner, c *changes, owners []string) {
	var items, lists []redis.Z
	for item, at := range c.items {
		items = append(items, redis.Z{Score: float64(at), Member: item})
	}
	for _, item := range owners {
		lists = append(lists, redis.Z{Score: float64(c.now), Member: item})
	}
	if len(items) > 0 {
		pipe.ZAddGT(ctx, s.keys.CoReadItems(), items...)
	}
	if len(lists) > 0 {
		pipe.ZAdd(ctx, s.keys.CoReadLists(), lists...)
	}
}

func (s *Store) writeReads(ctx context.Context, pipe redis.Pipeliner, c *changes) {
	for agent, r := range c.reads {
		if r.pushed == 0 {
			continue
		}
		key := s.keys.CoReadReads(agent)
		var all []redis.Z
		for i := range r.pushed {
			all = append(all, redis.Z{Score: float64(r.before - i), Member: r.items[i]})
		}
		pipe.ZAdd(ctx, key, all...)
		pipe.ZRemRangeByRank(ctx, key, 0, -coread.ReadsKept-1)
		pipe.Expire(ctx, key, coread.Idle)
	}
}
