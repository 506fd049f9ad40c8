// Package redis stores the counts of events in Redis, for any number of servers at once: a hash of
// counts and two HyperLogLogs for each variant and day. It requires Redis 6.2 or newer.
package redis

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/events"
)

const (
	keep = events.KeepDays * 24 * time.Hour
	once = events.OnceDays * 24 * time.Hour
)

// Store implements [events.Store]. It is safe for concurrent use, by any number
// of servers at once.
type Store struct {
	client redis.Cmdable
	keys   rediskeys.Keys
}

var _ events.Store = (*Store)(nil)

// New returns a store that uses client; keyPrefix is prepended to every key. It does not contact
// the server.
func New(client redis.Cmdable, keyPrefix string) *Store {
	return &Store{client: client, keys: rediskeys.For(client, keyPrefix)}
}

// addScript adds a batch atomically, unless it has been added before.
//
//	KEYS[1]   counts
//	KEYS[2]   agents
//	KEYS[3]   authors
//	KEYS[4]   once
//	KEYS[5]   senders
//	KEYS[6…]  cells, a key for each of the columns
//	KEYS[12…] once, of the previous days
//	ARGV[1]   sender
//	ARGV[2]   number of the batch
//	ARGV[3]   TTL of all keys but once and senders, seconds
//	ARGV[4]   TTL of those, seconds
//	ARGV[5…]  lists, each preceded by its length: fields and increments, alternating; agents;
//	          authors; column, bucket and increment of cells, alternating; events that require another:
//	          the hash of the other, their own hash and the field, alternating. Then, for each three
//	          fields (all may be empty), the fields and a list of the hash, column and bucket of the
//	          events counted in them; a column of -1 means none
//	reply     1, or 0 if the batch was added before
//
// Events that require another come last in effect. Lists are passed to Redis in parts: unpack takes at
// most about 8,000 values.
var addScript = redis.NewScript(`
local last = redis.call('HGET', KEYS[5], ARGV[1])
if last and tonumber(last) >= tonumber(ARGV[2]) then
  return 0
end
local at = 5
local function list(step, f)
  local n = tonumber(ARGV[at])
  at = at + 1
  for i = at, at + n - 1, step do
    f(i, math.min(i + step, at + n) - 1)
  end
  at = at + n
end
local touched = {}
local function cell(column, bucket, n)
  local key = KEYS[6 + column]
  touched[key] = true
  redis.call('BITFIELD', key, 'OVERFLOW', 'SAT', 'INCRBY', 'u32', '#' .. bucket, n)
end
list(2, function(i) redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end)
list(1000, function(i, j) redis.call('PFADD', KEYS[2], unpack(ARGV, i, j)) end)
list(1000, function(i, j) redis.call('PFADD', KEYS[3], unpack(ARGV, i, j)) end)
list(3, function(i) cell(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end)
local function add(field, n)
  if n > 0 and field ~= '' then
    redis.call('HINCRBY', KEYS[1], field, n)
  end
end
local after = {}
list(3, function(i) after[#after + 1] = i end)
while at <= #ARGV do
  local fields, new = at, 0
  at = at + 3
  list(3, function(i)
    if redis.call('SADD', KEYS[4], ARGV[i]) == 1 then
      new = new + 1
      if ARGV[i + 1] ~= '-1' then
        cell(ARGV[i + 1], ARGV[i + 2], 1)
      end
    end
  end)
  for i = fields, fields + 2 do
    add(ARGV[i], new)
  end
end
local function counted(hash)
  if redis.call('SISMEMBER', KEYS[4], hash) == 1 then
    return true
  end
  for i = 12, #KEYS do
    if redis.call('SISMEMBER', KEYS[i], hash) == 1 then
      return true
    end
  end
  return false
end
for _, i in ipairs(after) do
  if counted(ARGV[i]) then
    add(ARGV[i + 2], redis.call('SADD', KEYS[4], ARGV[i + 1]))
  end
end
redis.call('HSET', KEYS[5], ARGV[1], ARGV[2])
for i = 1, 3 do
  redis.call('EXPIRE', KEYS[i], ARGV[3])
end
for key in pairs(touched) do
  redis.call('EXPIRE', key, ARGV[3])
end
redis.call('EXPIRE', KEYS[4], ARGV[4])
redis.call('EXPIRE', KEYS[5], ARGV[4])
return 1
`)

// Add implements [events.Store].
func (s *Store) Add(ctx context.Context, b *events.Batch) error {
	// Update the list of variants first, so that no counts are stored that cannot be found. Its key is
	// in another slot.
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		key, score := s.keys.EventVariants(), float64(b.Day)
		p.ZAddArgs(ctx, key, redis.ZAddArgs{GT: true, Members: []redis.Z{{Score: score, Member: b.Variant}}})
		p.ZRemRangeByScore(ctx, key, "-inf", strconv.Itoa(int(b.Day)-2*events.KeepDays))
		p.Expire(ctx, key, keep)
		s.sample(ctx, p, b)
		return nil
	})
	if err != nil {
		return contractError("count events", err)
	}
	var keys []string
	for _, what := range []rediskeys.EventKey{
		rediskeys.EventCounts, rediskeys.EventAgents, rediskeys.EventAuthors, rediskeys.EventOnce, rediskeys.EventSenders,
	} {
		keys = append(keys, s.keys.Event(what, b.Variant, b.Day))
	}
	for column := range events.Columns {
		keys = append(keys, s.cells(b.Variant, b.Day, column))
	}
	for back := feed.Day(1); back < events.OnceDays; back++ {
		keys = append(keys, s.keys.Event(rediskeys.EventOnce, b.Variant, b.Day-back))
	}
	return contractError("count events", addScript.Run(ctx, s.client, keys, arguments(b)...).Err())
}

func arguments(b *events.Batch) []any {
	args := make([]any, 0, 16+len(b.Agents)+len(b.Authors)+3*len(b.Cells)+3*len(b.Events))
	args = append(args, b.Sender, b.Seq, int64(keep/time.Second), int64(once/time.Second))
	list := func(values []any) { args = append(append(args, len(values)), values...) }
	var counts, after []any
	for field, n := range b.Counts() {
		counts = append(counts, field, n)
	}
	list(counts)
	for _, members := range [][]uint64{b.Agents, b.Authors} {
		args = append(args, len(members))
		for _, m := range members {
			args = append(args, bytes(m))
		}
	}
	var cells []any
	for cell, n := range b.Cells {
		cells = append(cells, int(cell.Column()), cell.Bucket(), n)
	}
	list(cells)
	byFields := map[[3]string][]any{}
	for _, e := range b.Events {
		fields := [3]string{e.Field, e.Also, e.Place}
		if e.After != 0 {
			after = append(after, bytes(e.After), bytes(e.Hash), e.Field)
			continue
		}
		column, bucket := -1, 0
		if e.Cell != 0 {
			column, bucket = int(e.Cell.Column()), e.Cell.Bucket()
		}
		byFields[fields] = append(byFields[fields], bytes(e.Hash), column, bucket)
	}
	list(after)
	for fields, list3 := range byFields {
		args = append(args, fields[0], fields[1], fields[2])
		list(list3)
	}
	return args
}

func contractError(step string, err error) error {
	if rediskeys.Foreign(err) { // a retry does not help
		return fmt.Errorf("%s: %w", step, err)
	}
	return rediskeys.Failed(events.ErrUnavailable, step, err)
}

func bytes(hash uint64) []byte { return binary.BigEndian.AppendUint64(nil, hash) }

// Read implements [events.Store].
func (s *Store) Read(ctx context.Context, from, to feed.Day) ([]events.Totals, error) {
	if to < from {
		return nil, ctx.Err()
	}
	variants, err := s.client.ZRangeByScore(ctx, s.keys.EventVariants(), &redis.ZRangeBy{Min: strconv.Itoa(int(from)), Max: "+inf"}).Result()
	if err != nil {
		return nil, contractError("read events", err)
	}
	pipe := s.client.Pipeline()
	reads := convert.Each(variants, func(v string) reading { return s.queue(ctx, pipe, v, from, to) })
	if pipe.Len() > 0 {
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, contractError("read events", err)
		}
	}
	var all []events.Totals
	for i := range reads {
		t, counted, err := reads[i].totals()
		if err != nil {
			return nil, contractError("read events", err)
		}
		if counted {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b events.Totals) int { return cmp.Compare(a.Variant, b.Variant) })
	return all, nil
}

// reading holds the pending reads of one variant.
type reading struct {
	variant         string
	counts          []*redis.MapStringStringCmd // one per day
	agents, authors *redis.IntCmd
}

func (s *Store) queue(ctx context.Context, pipe redis.Pipeliner, variant string, from, to feed.Day) reading {
	r := reading{variant: variant}
	var agents, authors []string
	for day := from; day <= to; day++ {
		r.counts = append(r.counts, pipe.HGetAll(ctx, s.keys.Event(rediskeys.EventCounts, variant, day)))
		agents = append(agents, s.keys.Event(rediskeys.EventAgents, variant, day))
		authors = append(authors, s.keys.Event(rediskeys.EventAuthors, variant, day))
	}
	r.agents, r.authors = pipe.PFCount(ctx, agents...), pipe.PFCount(ctx, authors...)
	return r
}

func (r *reading) totals() (t events.Totals, counted bool, err error) {
	t = events.Totals{Variant: r.variant, Agents: r.agents.Val(), Authors: r.authors.Val()}
	for _, day := range r.counts {
		for field, text := range day.Val() {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return t, false, fmt.Errorf("field %s of the counts of %s: %w", field, r.variant, err)
			}
			counted = true
			t.Add(field, n)
		}
	}
	return t, counted, nil
}
