package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// Filter is a day's filter of a shard, for a copy.
type Filter struct {
	Day    string    `json:"day"` // as in its key
	Shard  int       `json:"shard"`
	Shards int       `json:"shards"` // of the day
	Ends   time.Time `json:"ends"`   // when it expires
}

// Chunk is a part of a filter, as BF.SCANDUMP returns it and BF.LOADCHUNK takes it.
type Chunk struct {
	Iter int64
	Data string
}

// Pending is an agent's pending set, for a copy.
type Pending struct {
	Agent  string             `json:"agent"`
	Groups map[string]float64 `json:"groups"` // with their scores
	Ends   time.Time          `json:"ends"`   // when it expires
}

// Copier copies impressions from Redis and back. Its names are those of agents and days, so a copy of one server can
// be restored on a cluster, and with another prefix.
type Copier struct {
	client redis.Cmdable
	keys   rediskeys.Keys
	now    func() time.Time
}

// NewCopier returns a copier for the keys with a prefix.
func NewCopier(client redis.Cmdable, prefix string, now func() time.Time) *Copier {
	return &Copier{client, rediskeys.For(client, prefix), now}
}

// endless is the expiry of a key that has none.
const endless = 8 * 24 * time.Hour

// ends returns when a key expires, and false if there is no such key.
func (c *Copier) ends(ctx context.Context, key string) (time.Time, bool, error) {
	left, err := c.client.PTTL(ctx, key).Result()
	switch {
	case err != nil:
		return time.Time{}, false, err
	case left == -2:
		return time.Time{}, false, nil
	case left < 0:
		left = endless
	}
	return c.now().Add(left).UTC(), true, nil
}

// Filters returns the filters of the days of a window, and of the next day, which a server whose clock is ahead may write.
func (c *Copier) Filters(ctx context.Context, windowDays int) (list []Filter, err error) {
	today := feed.DayOf(c.now())
	for day := today - feed.Day(windowDays); day <= today+1; day++ {
		text, err := c.client.Get(ctx, c.keys.Shards(day)).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, contractError("read shards", err)
		}
		shards, err := ParseShards(c.keys.Shards(day), text)
		if err != nil {
			return nil, err
		}
		for shard := range shards {
			ends, there, err := c.ends(ctx, c.keys.Filter(day, shard, shards))
			if err != nil {
				return nil, contractError("read filter", err)
			}
			if there {
				list = append(list, Filter{Day: day.String(), Shard: shard, Shards: shards, Ends: ends})
			}
		}
	}
	return list, nil
}

// errGrew means that a filter got another layer while it was copied.
var errGrew = errors.New("the filter grew while it was copied")

// growTries is the maximum number of attempts to copy a filter that grows meanwhile. A day's filter grows a
// few times at most.
const growTries = 5

// CopyFilter calls do with the chunks of a filter. What was recorded before the call is in them. begin is called
// before the first chunk of each attempt: a filter that grows meanwhile is read again.
func (c *Copier) CopyFilter(ctx context.Context, f Filter, begin func() error, do func(Chunk) error) error {
	day, err := feed.ParseDay(f.Day)
	if err != nil {
		return err
	}
	key := c.keys.Filter(day, f.Shard, f.Shards)
	for range growTries {
		if err = begin(); err != nil {
			return err
		}
		if err = c.dump(ctx, key, do); !errors.Is(err, errGrew) {
			return contractError("copy "+key, err)
		}
	}
	return fmt.Errorf("copy %s: %w; raise dedup.daily_capacity", key, err)
}

func (c *Copier) dump(ctx context.Context, key string, do func(Chunk) error) error {
	before, err := c.client.BFInfo(ctx, key).Result()
	if err != nil {
		return err
	}
	for iter := int64(0); ; {
		part, err := c.client.BFScanDump(ctx, key, iter).Result()
		if err != nil {
			return err
		}
		if part.Iter == 0 {
			break
		}
		if err := do(Chunk{part.Iter, part.Data}); err != nil {
			return err
		}
		iter = part.Iter
	}
	after, err := c.client.BFInfo(ctx, key).Result()
	if err == nil && after.Filters != before.Filters {
		err = errGrew
	}
	return err
}

// LoadFilter replaces a filter by the chunks that next returns, until it returns false. A filter that would have
// expired is left out.
func (c *Copier) LoadFilter(ctx context.Context, f Filter, next func() (Chunk, bool, error)) error {
	if !f.Ends.After(c.now()) {
		return nil
	}
	day, err := feed.ParseDay(f.Day)
	if err != nil {
		return err
	}
	key := c.keys.Filter(day, f.Shard, f.Shards)
	if err := c.client.Unlink(ctx, key).Err(); err != nil {
		return contractError("restore "+key, err)
	}
	for {
		part, more, err := next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := c.client.BFLoadChunk(ctx, key, part.Iter, part.Data).Err(); err != nil {
			return contractError("restore "+key, err)
		}
	}
	err = c.client.PExpireAt(ctx, key, f.Ends).Err()
	if err == nil {
		err = c.client.Set(ctx, c.keys.Shards(day), f.Shards, f.Ends.Sub(c.now())).Err()
	}
	return contractError("restore "+key, err)
}

// pendingPrefix begins the keys of pending sets; on a cluster the agent follows in braces.
func (c *Copier) pendingPrefix() string {
	key := c.keys.Pending("")
	return strings.TrimSuffix(key, "{}")
}

// EachPending calls do with the pending set of each agent on one master, which may be the client itself. Sets
// that change meanwhile are in the copy as they are when their turn comes.
func (c *Copier) EachPending(ctx context.Context, master redis.Cmdable, do func(Pending) error) error {
	prefix := c.pendingPrefix()
	var cursor uint64
	for {
		keys, next, err := master.Scan(ctx, cursor, escapePattern(prefix)+"*", scanCount).Result()
		if err != nil {
			return contractError("list pending sets", err)
		}
		for _, key := range keys {
			agent := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(key, prefix), "{"), "}")
			if c.keys.Pending(agent) != key {
				continue
			}
			if err := c.pending(ctx, agent, do); err != nil {
				return err
			}
		}
		cursor = next
		if cursor == 0 {
			return nil
		}
	}
}

// scanCount is the number of keys that Redis looks at in one step of a scan.
const scanCount = 1000

var escapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

func escapePattern(text string) string { return escapes.Replace(text) }

func (c *Copier) pending(ctx context.Context, agent string, do func(Pending) error) error {
	key := c.keys.Pending(agent)
	members, err := c.client.ZRangeWithScores(ctx, key, 0, -1).Result()
	if rediskeys.Foreign(err) {
		return nil // another application's key
	}
	if err != nil {
		return contractError("copy "+key, err)
	}
	ends, there, err := c.ends(ctx, key)
	if err != nil || !there || len(members) == 0 {
		return contractError("copy "+key, err)
	}
	p := Pending{Agent: agent, Groups: make(map[string]float64, len(members)), Ends: ends}
	for _, m := range members {
		group, ok := m.Member.(string)
		if ok {
			p.Groups[group] = m.Score
		}
	}
	return do(p)
}

// LoadPending replaces a pending set. One that would have expired is left out.
func (c *Copier) LoadPending(ctx context.Context, p Pending) error {
	if !p.Ends.After(c.now()) || len(p.Groups) == 0 {
		return nil
	}
	key := c.keys.Pending(p.Agent)
	members := make([]redis.Z, 0, len(p.Groups))
	for group, score := range p.Groups {
		members = append(members, redis.Z{Score: score, Member: group})
	}
	pipe := c.client.Pipeline()
	pipe.Unlink(ctx, key)
	pipe.ZAdd(ctx, key, members...)
	pipe.PExpireAt(ctx, key, p.Ends)
	_, err := pipe.Exec(ctx)
	return contractError("restore "+key, err)
}
