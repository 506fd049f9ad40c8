package redisbloom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
)

// absentFor is how long a past day is taken to have no shard count once the
// server had none: nothing is written to past days, but a count that was set
// just before midnight may not have been seen here.
const absentFor = time.Minute

// shardCounts remembers how many shards a day has, so that a check asks for it
// only once a day.
type shardCounts struct {
	mu   sync.RWMutex
	days map[feed.Day]shardCount
}

type shardCount struct {
	shards      int       // 0: the server had none
	from, until time.Time // when an absence counts; before and after it is looked up again
}

// get returns a day's count; known is false where the server must be asked.
// The count of a known absence is 0.
func (c *shardCounts) get(day feed.Day, now time.Time) (shards int, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n, ok := c.days[day]
	return n.shards, ok && (n.shards > 0 || !now.Before(n.from) && now.Before(n.until))
}

// set remembers a day's count and forgets the days before oldest.
func (c *shardCounts) set(day, oldest feed.Day, n shardCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.days == nil {
		c.days = make(map[feed.Day]shardCount)
	}
	for d := range c.days {
		if d < oldest {
			delete(c.days, d)
		}
	}
	c.days[day] = n
}

// learn stores and returns what the server answered for a day's count; 0 where
// it has none. Today's absence is not remembered, because any server may
// set a count of its own any moment.
func (s *Store) learn(reply *redis.StringCmd, day feed.Day, now time.Time) (int, error) {
	today := feed.DayOf(now)
	oldest := min(day, today-feed.Day(s.cfg.WindowDays))
	text, err := reply.Result()
	if errors.Is(err, redis.Nil) {
		if day < today {
			s.shards.set(day, oldest, shardCount{from: now, until: now.Add(absentFor)})
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	shards, err := ParseShards(s.keys.Shards(day), text)
	if err == nil {
		s.shards.set(day, oldest, shardCount{shards: shards})
	}
	return shards, err
}

// ParseShards reads the shard count that Redis keeps under key.
func ParseShards(key, text string) (int, error) {
	shards, err := strconv.Atoi(text)
	if err != nil || shards < 1 {
		return 0, fmt.Errorf("%w: %s holds %q, not a number of shards; delete it", errAnswer, key, text)
	}
	return shards, nil
}

// fixShards makes sure that today's shard count stands in Redis and returns
// it. It does so with every batch, so that a count that vanished comes back as
// it was.
func (s *Store) fixShards(ctx context.Context, now time.Time, ttl time.Duration) (int, error) {
	day := feed.DayOf(now)
	want, _ := s.shards.get(day, now)
	want = cmp.Or(want, s.cfg.Shards)
	key := s.keys.Shards(day)
	pipe := s.client.Pipeline()
	// A refused SET NX answers nil, which is no error here; a real one shows
	// in the GET too or leaves the key unset.
	pipe.SetArgs(ctx, key, want, redis.SetArgs{Mode: "NX", TTL: ttl})
	get := pipe.Get(ctx, key)
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return 0, err
	}
	shards, err := s.learn(get, day, now)
	if err == nil && shards == 0 {
		err = fmt.Errorf("%w: %s could not be set", errAnswer, key)
	}
	return shards, err
}

// ShardOf is the shard an agent's impressions go to.
func ShardOf(agent string, shards int) int {
	if shards <= 1 {
		return 0
	}
	return int(xxhash.Sum64String(agent) % uint64(shards))
}

func (s *Store) filter(agent string, day feed.Day, shards int) string {
	return s.keys.Filter(day, ShardOf(agent, shards), shards)
}
