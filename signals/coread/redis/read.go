package redis

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/coread"
)

// Beside adds to a pipeline what a context asks for ([coread.Ahead]), and returns a function to call when
// the pipeline was sent; nil if there is nothing to add.
func (s *Store) Beside(ctx context.Context, pipe redis.Pipeliner) (sent func()) {
	ahead := coread.AheadOf(ctx)
	if ahead == nil {
		return nil
	}
	cmd := pipe.ZRevRange(ctx, s.keys.CoReadReads(ahead.Agent()), 0, coread.ReadsAsked-1)
	return func() {
		if reads, err := cmd.Result(); err == nil {
			ahead.Answer(reads)
		}
	}
}

// Near implements [coread.Store] with one pipeline: a GET for each read, and an HMGET for each part of
// the numbers of readers.
func (s *Store) Near(ctx context.Context, reads, candidates []string, now int64, into []coread.Nearness) ([]coread.Nearness, error) {
	if len(reads) == 0 || len(candidates) == 0 {
		return into, nil
	}
	pipe := s.client.Pipeline()
	lists := make([]*redis.StringCmd, len(reads))
	for i, id := range reads {
		lists[i] = pipe.Get(ctx, s.keys.CoReadList(id))
	}
	asked := s.askReaders(ctx, pipe, reads, candidates)
	_, err := pipe.Exec(ctx)
	if err != nil && !errors.Is(err, redis.Nil) { // of a read without a list
		return into, contractError("read lists", err)
	}
	readers, err := asked.answers()
	if err != nil {
		return into, contractError("read lists", err)
	}
	of := coread.Sums[string]{}
	for i, id := range reads {
		for e := range entries(lists[i].Val(), now) {
			of.Add(e.Item, e.Sum, e.People, readers[id], readers[e.Item])
		}
	}
	begin, some := len(into), false
	for _, id := range candidates {
		near := of.Of(id, readers[id])
		some = some || near.X > 0
		into = append(into, near)
	}
	if !some {
		return into[:begin], nil
	}
	return into, nil
}

// askedReaders are the questions for the numbers of readers of items, by part.
type askedReaders struct {
	items [rediskeys.CoReadParts][]any // pointers to the items
	cmds  [rediskeys.CoReadParts]*redis.StringSliceCmd
}

// askReaders adds the questions to a pipeline. As in the dedup store, the arguments are pointers, which
// do not need to be boxed.
func (s *Store) askReaders(ctx context.Context, pipe redis.Pipeliner, lists ...[]string) *askedReaders {
	var counts [rediskeys.CoReadParts]int
	for _, list := range lists {
		for i := range list {
			counts[rediskeys.CoReadPart(list[i])]++
		}
	}
	a := &askedReaders{}
	for part, n := range counts {
		if n > 0 {
			a.items[part] = append(make([]any, 0, n+2), "hmget", s.keys.CoReadReaders(part))
		}
	}
	for _, list := range lists {
		for i := range list {
			part := rediskeys.CoReadPart(list[i])
			a.items[part] = append(a.items[part], &list[i])
		}
	}
	for part, args := range a.items {
		if args != nil {
			a.cmds[part] = redis.NewStringSliceCmd(ctx, args...)
			_ = pipe.Process(ctx, a.cmds[part])
		}
	}
	return a
}

// answers returns the number of readers of each item that has some.
func (a *askedReaders) answers() (map[string]int, error) {
	readers := map[string]int{}
	for part, cmd := range a.cmds {
		if cmd == nil {
			continue
		}
		values, err := cmd.Result()
		if err != nil {
			return nil, err
		}
		for i, text := range values {
			if text != "" {
				id, _ := a.items[part][i+2].(*string)
				readers[*id], _ = strconv.Atoi(text)
			}
		}
	}
	return readers, nil
}

// entries yields the entries of a list, as [raiseScript] writes it, that have not ended.
func entries(list string, now int64) func(yield func(coread.Entry) bool) {
	return func(yield func(coread.Entry) bool) {
		for line := range strings.SplitSeq(list, "\n") {
			fields := strings.SplitN(line, "\t", 4)
			if len(fields) < 4 {
				continue
			}
			e := coread.Entry{Item: fields[0]}
			e.Sum, _ = strconv.ParseFloat(fields[1], 64)
			e.People, _ = strconv.Atoi(fields[2])
			e.Dated, _ = strconv.ParseInt(fields[3], 10, 64)
			if now < e.Dated+window && !yield(e) {
				return
			}
		}
	}
}

// Related implements [coread.Store].
func (s *Store) Related(ctx context.Context, item string, now int64) ([]coread.Entry, error) {
	list, err := s.client.Get(ctx, s.keys.CoReadList(item)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, contractError("read a list", err)
	}
	var all []coread.Entry
	for e := range entries(list, now) {
		all = append(all, e)
	}
	coread.SortEntries(all)
	return all, nil
}
