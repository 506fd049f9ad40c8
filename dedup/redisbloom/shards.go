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

// absentFor is how long a missing shard count of a past day is cached. Nothing is written to past
// days, but a count that was set just before midnight may not be visible yet.
const absentFor = time.Minute

// shardCounts caches the number of shards of each day, so that checks read it only once a day.
type shardCounts struct {
	mu   sync.RWMutex
	days map[feed.Day]shardCount
}

type shardCount struct {
	shards      int       // 0 if the server had none
	from, until time.Time // validity of an absence; outside it the count is read again
}

// get returns a day's count; known is false if the server must be queried. The count of a cached
// absence is 0.
func (c *shardCounts) get(day feed.Day, now time.Time) (shards int, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n, ok := c.days[day]
	return n.shards, ok && n.valid(now)
}

// valid reports whether a cached count still holds.
func (n shardCount) valid(now time.Time) bool {
	return n.shards > 0 || !now.Before(n.from) && now.Before(n.until)
}

// set stores a day's count and drops the days before oldest.
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

// learn stores and returns a day's count from the server's reply; 0 if it has none. The absence of
// today's count is not cached, because any server may set one at any moment.
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

// ParseShards parses the shard count that Redis stores under key.
func ParseShards(key, text string) (int, error) {
	shards, err := strconv.Atoi(text)
	if err != nil || shards < 1 {
		return 0, fmt.Errorf("%w: %s holds %q, not a number of shards; delete it", errAnswer, key, text)
	}
	return shards, nil
}

// fixShards ensures that today's shard count is set in Redis and returns it. It does so with every
// batch, so that a lost count is restored to its previous value.
func (s *Store) fixShards(ctx context.Context, now time.Time, ttl time.Duration) (int, error) {
	day := feed.DayOf(now)
	want, _ := s.shards.get(day, now)
	want = cmp.Or(want, s.cfg.Shards)
	key := s.keys.Shards(day)
	pipe := s.client.Pipeline()
	// A refused SET NX returns nil, which is not an error here; a real error also shows in the GET or
	// leaves the key unset.
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

// ShardOf returns the shard of an agent's impressions.
func ShardOf(agent string, shards int) int {
	if shards <= 1 {
		return 0
	}
	return int(xxhash.Sum64String(agent) % uint64(shards))
}

func (s *Store) filter(agent string, day feed.Day, shards int) string {
	return s.keys.Filter(day, ShardOf(agent, shards), shards)
}

// InUse reports whether impressions of today or yesterday have been recorded.
func (s *Store) InUse(ctx context.Context, now time.Time) (bool, error) {
	for _, day := range []feed.Day{feed.DayOf(now), feed.DayOf(now) - 1} {
		err := s.client.Get(ctx, s.keys.Shards(day)).Err()
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, redis.Nil) {
			return false, contractError("read whether there are filters", err)
		}
	}
	return false, nil
}
