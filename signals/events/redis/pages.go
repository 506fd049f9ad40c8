package redis

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/events"
)

// cells is the key of a column of cells.
func (s *Store) cells(run string, day feed.Day, column int) string {
	return s.keys.Event(rediskeys.EventCells+rediskeys.EventKey(strconv.Itoa(column)), run, day)
}

// Cells implements [events.Store].
func (s *Store) Cells(ctx context.Context, runs []string, columns []events.Column, from, to feed.Day) ([]events.DayCells, error) {
	if runs == nil {
		counted, err := s.client.ZRangeByScore(ctx, s.keys.EventVariants(), &redis.ZRangeBy{Min: strconv.Itoa(int(from)), Max: "+inf"}).Result()
		if err != nil {
			return nil, contractError("read events", err)
		}
		runs = counted
	}
	runs = slices.Sorted(slices.Values(runs))
	var all []events.DayCells
	for day := from; day <= to; day++ {
		for _, run := range runs {
			all = append(all, events.DayCells{Run: run, Day: day, Cells: events.Cells{}})
		}
	}
	pipe := s.client.Pipeline()
	reads := make([]*redis.StringCmd, 0, len(all)*len(columns))
	for _, c := range all {
		for _, column := range columns {
			reads = append(reads, pipe.Get(ctx, s.cells(c.Run, c.Day, int(column))))
		}
	}
	if pipe.Len() > 0 {
		if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
			return nil, contractError("read events", err)
		}
	}
	some := all[:0]
	for i, c := range all {
		for j, column := range columns {
			data, err := reads[i*len(columns)+j].Bytes()
			if err != nil && !errors.Is(err, redis.Nil) {
				return nil, contractError("read events", err)
			}
			for bucket := 0; 4*bucket+4 <= len(data); bucket++ {
				n := binary.BigEndian.Uint32(data[4*bucket:])
				if n > 0 {
					c.Cells.Add(bucket, column, int64(n))
				}
			}
		}
		if len(c.Cells) > 0 {
			some = append(some, c)
		}
	}
	return some, nil
}

// score is the part of a hash that a score represents exactly.
func score(hash uint64) float64 { return float64(hash >> 11) }

// sample adds the agents of a batch to the sample of its run. Repeating it changes nothing.
func (s *Store) sample(ctx context.Context, p redis.Pipeliner, b *events.Batch) {
	if !b.Sampled || len(b.Agents) == 0 {
		return
	}
	members := make([]redis.Z, len(b.Agents))
	for i, a := range b.Agents {
		members[i] = redis.Z{Score: score(a), Member: bytes(a)}
	}
	key := s.keys.EventReaders(b.Variant)
	p.ZAdd(ctx, key, members...)
	p.ZRemRangeByRank(ctx, key, events.SampleSize, -1)
	p.Expire(ctx, key, keep)
}

// Readers implements [events.Store].
func (s *Store) Readers(ctx context.Context, runs []string) (n []int64, part float64, err error) {
	last := make([]*redis.ZSliceCmd, len(runs))
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, run := range runs {
			last[i] = p.ZRangeWithScores(ctx, s.keys.EventReaders(run), events.SampleSize-1, events.SampleSize-1)
		}
		return nil
	})
	if err != nil {
		return nil, 0, contractError("read events", err)
	}
	highest := float64(1 << 53)
	for _, cmd := range last {
		for _, z := range cmd.Val() {
			highest = math.Min(highest, z.Score)
		}
	}
	counts := make([]*redis.IntCmd, len(runs))
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, run := range runs {
			counts[i] = p.ZCount(ctx, s.keys.EventReaders(run), "-inf", strconv.FormatFloat(highest, 'f', 0, 64))
		}
		return nil
	})
	if err != nil {
		return nil, 0, contractError("read events", err)
	}
	n = make([]int64, len(runs))
	for i, cmd := range counts {
		n[i] = cmd.Val()
	}
	return n, highest / (1 << 53), nil
}

// Remember implements [events.Store].
func (s *Store) Remember(ctx context.Context, pages []events.PageOf) error {
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range pages {
			key := s.keys.EventPages(pages[i].Agent)
			p.RPush(ctx, key, pages[i].Page.Encode())
			p.LTrim(ctx, key, -events.PagesMost, -1)
			p.Expire(ctx, key, events.PagesFor)
		}
		return nil
	})
	return contractError("remember pages", err)
}

// PagesOf implements [events.Store].
func (s *Store) PagesOf(ctx context.Context, agents []uint64) ([][]events.Page, error) {
	lists := map[uint64]*redis.StringSliceCmd{}
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, a := range agents {
			if lists[a] == nil {
				lists[a] = p.LRange(ctx, s.keys.EventPages(a), 0, -1)
			}
		}
		return nil
	})
	if err != nil {
		return nil, contractError("read pages", err)
	}
	all := make([][]events.Page, len(agents))
	for i, a := range agents {
		for _, data := range lists[a].Val() {
			page, err := events.DecodePage([]byte(data))
			if err == nil { // a newer server may write other records
				all[i] = append(all[i], page)
			}
		}
	}
	return all, nil
}

// Forget implements [events.Store].
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	return contractError("forget an agent's pages", s.client.Del(ctx, s.keys.EventPages(agent)).Err())
}
