// Package redis keeps the lists of co-readers in Redis, for any number of servers at once. It requires
// Redis 6.2 or newer.
package redis

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/coread"
)

const (
	window = int64(coread.Window / time.Second)
	half   = int64(coread.HalfLife / time.Second)
)

// Store implements [coread.Store]. It is safe for concurrent use, by any number of servers at once.
type Store struct {
	client redis.Cmdable
	keys   rediskeys.Keys
	sender string // identifies this store to [raiseScript]

	writing sync.Mutex // held by Add: batches are written in the order of their numbers
	batch   int64      // number of the last one
	least   int64      // [coread.LeastLists]; tests lower it
}

var _ coread.Store = (*Store)(nil)

// New returns a store that uses client; keyPrefix is prepended to every key. It does not contact the
// server.
func New(client redis.Cmdable, keyPrefix string) *Store {
	return &Store{client: client, keys: rediskeys.For(client, keyPrefix), sender: strconv.FormatUint(uint64(rand.Uint32()), 36), least: coread.LeastLists}
}

// Remote implements [coread.Store].
func (*Store) Remote() bool { return true }

// Add implements [coread.Store] with two pipelines: the first finds out which acts are new, and what
// their readers have read before, the second adds them. An act that the second one has not added is
// lost, because the first one has noted it.
func (s *Store) Add(ctx context.Context, acts []coread.Act) error {
	if len(acts) == 0 {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	found, err := s.look(ctx, acts)
	if err != nil && found == nil {
		return contractError("look for acts", err)
	}
	c := found.changes(acts)
	added := s.write(ctx, c)
	if added != nil {
		return rediskeys.Failed(errLost, "add acts", added) // again, it would not be new
	}
	return contractError("look for acts", err)
}

// found holds what the first pipeline finds.
type found struct {
	fresh []bool // by act: it is on a young item, and new
	reads map[uint64]*reads
}

// reads are the last reads of a reader, the newest first.
type reads struct {
	before int
	items  []string
	pushed int // how many of the first are new
}

// member returns the member of a reader in the set of an item.
func member(a *coread.Act) string {
	raw := binary.BigEndian.AppendUint64(nil, a.Agent)
	return string(binary.BigEndian.AppendUint64(nil, xxhash.Sum64(append(raw, a.Item...))))
}

// look is the first pipeline. After an error it returns nil, or what servers of a cluster have answered.
func (s *Store) look(ctx context.Context, acts []coread.Act) (*found, error) {
	f := &found{fresh: make([]bool, len(acts)), reads: map[uint64]*reads{}}
	items, byItem := groupYoung(acts)
	asked := map[uint64]*redis.ZSliceCmd{}
	replies := make([]*redis.Cmd, len(items))
	_ = rediskeys.RunEach(actedScript, replies, func(run rediskeys.Run, which []int) error {
		pipe := s.client.Pipeline()
		for _, a := range acts {
			if asked[a.Agent] == nil {
				asked[a.Agent] = pipe.ZRevRangeWithScores(ctx, s.keys.CoReadReads(a.Agent), 0, coread.ReadsKept-1)
			}
		}
		for _, at := range which {
			replies[at] = s.acted(ctx, run, pipe, acts, byItem[items[at]])
		}
		_, err := pipe.Exec(ctx)
		return err
	})
	for agent, cmd := range asked {
		list, failed := cmd.Result()
		if failed != nil {
			return nil, failed
		}
		r := &reads{}
		for i, z := range list {
			id, _ := z.Member.(string)
			r.items = append(r.items, id)
			if i == 0 {
				r.before = int(z.Score)
			}
		}
		f.reads[agent] = r
	}
	var err error // each command has its own
	for i, reply := range replies {
		fresh, failed := reply.Int64Slice()
		if failed != nil {
			err = failed
			continue
		}
		for k, at := range byItem[items[i]] {
			f.fresh[at] = fresh[k] == 1
		}
	}
	return f, err
}

// groupYoung returns the young items of acts, and the indices of the acts on each.
func groupYoung(acts []coread.Act) (items []string, byItem map[string][]int) {
	byItem = map[string][]int{}
	for i := range acts {
		if acts[i].Young() {
			if byItem[acts[i].Item] == nil {
				items = append(items, acts[i].Item)
			}
			byItem[acts[i].Item] = append(byItem[acts[i].Item], i)
		}
	}
	return items, byItem
}

// acted notes the acts on one item.
func (s *Store) acted(ctx context.Context, run rediskeys.Run, pipe redis.Pipeliner, acts []coread.Act, which []int) *redis.Cmd {
	args := []any{int64(0)}
	left := int64(1)
	for _, at := range which {
		a := &acts[at]
		left = max(left, a.Dated+window-a.At)
		args = append(args, member(a))
	}
	args[0] = left
	return run(ctx, pipe, []string{s.keys.CoReadActed(acts[which[0]].Item)}, args...)
}

// Reads implements [coread.Store].
func (s *Store) Reads(ctx context.Context, agent uint64, into []string) ([]string, error) {
	ids, err := s.client.ZRevRange(ctx, s.keys.CoReadReads(agent), 0, coread.ReadsAsked-1).Result()
	return append(into, ids...), contractError("read last reads", err)
}

// ReadsOf implements [coread.Store].
func (s *Store) ReadsOf(ctx context.Context, agent uint64) ([]string, error) {
	ids, err := s.client.ZRevRange(ctx, s.keys.CoReadReads(agent), 0, -1).Result()
	return ids, contractError("list last reads", err)
}

// Forget implements [coread.Store].
func (s *Store) Forget(ctx context.Context, agent uint64) error {
	const step = "forget an agent's reads"
	key := s.keys.CoReadReads(agent)
	items, err := s.client.ZRange(ctx, key, 0, -1).Result()
	if err != nil {
		return contractError(step, err)
	}
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, item := range items {
			p.SRem(ctx, s.keys.CoReadActed(item), member(&coread.Act{Agent: agent, Item: item}))
		}
		return nil
	})
	if err != nil {
		return contractError(step, err)
	}
	return contractError(step, s.client.Del(ctx, key).Err())
}

func contractError(step string, err error) error {
	return rediskeys.Failed(coread.ErrUnavailable, step, err)
}
