package rediscache

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// afterWrite bounds what must follow a write although its caller is gone.
const afterWrite = 2 * time.Second

// buryAtOnce is how many tombstones go into one round trip.
const buryAtOnce = 1000

// bury puts a tombstone in the place of each item.
func (c *Cache) bury(ctx context.Context, ids []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterWrite)
	defer cancel()
	for from := 0; from < len(ids); from += buryAtOnce {
		pipe := c.client.Pipeline()
		for _, id := range ids[from:min(from+buryAtOnce, len(ids))] {
			pipe.Set(ctx, c.keys.Item(id), "", c.cfg.Tombstone)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return contractError("write", err)
		}
	}
	return nil
}

// MuteItems implements [catalog.Profiles].
// Where the catalog cannot be asked, the items are muted in the cached profile all
// the same, for as long as contents are cached: the agent's feed goes on, without
// the items, whether they were stored or not.
func (c *Cache) MuteItems(ctx context.Context, agent string, groups []string) error {
	return c.changeProfile(ctx, agent,
		func() error { return c.next.MuteItems(ctx, agent, groups) },
		func(p *feed.Profile) { p.Hide(groups) })
}

// settleScript puts the new profile in the place of the writer's own mark. If
// anything else is there, another writer is or was at work at the same time
// and only the catalog knows which came last: then a mark stays until the
// readers who may have read too early are gone.
//
//	KEYS[1]  the agent's profile
//	ARGV[1]  the writer's mark
//	ARGV[2]  the new value
//	ARGV[3]  its TTL, ms
//	ARGV[4]  a mark that no writer owns
//	ARGV[5]  its TTL, ms
//	reply    1 if the new value is cached, else 0
var settleScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return 1
end
redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5])
return 0
`)

// changeProfile leaves a mark, writes to the catalog, and caches the new value.
// The mark goes first: from then on no reader can cache the old one. Only the catalog
// knows the new value: a part of the stored one may stay. change, where there is one, makes
// of the old profile one that is right for readers whether it was written or not.
func (c *Cache) changeProfile(ctx context.Context, agent string, write func() error, change func(*feed.Profile)) error {
	key := c.keys.Profile(agent)
	mine := mark + strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
	before := c.client.SetArgs(ctx, key, mine, redis.SetArgs{TTL: c.cfg.Tombstone, Get: true})
	if err := before.Err(); err != nil && !errors.Is(err, redis.Nil) {
		return contractError("profile", err)
	}
	written, ttl := write(), profileTTL
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterWrite)
	defer cancel()
	var to *knownProfile
	if written == nil || feed.Refused(written) || errors.Is(written, feed.ErrChanged) {
		var err error
		if to, err = c.fetchProfile(ctx, agent); err != nil {
			c.log(ctx, "profile", err)
			return written // it is written, and while the mark is there it is read from the catalog
		}
	} else {
		// Whatever the catalog holds now, it is read anew once the mark is gone.
		if to = c.meanwhile(ctx, agent, change, before, written); to == nil {
			return written
		}
		ttl = itemTTL
	}
	text, err := to.text()
	if err != nil {
		return errors.Join(written, err)
	}
	err = settleScript.Run(ctx, c.client, []string{key}, mine, text, ttl.Milliseconds(),
		mark, c.cfg.Tombstone.Milliseconds()).Err()
	return errors.Join(written, contractError("profile", err))
}

// meanwhile is the profile that readers use after a change that the catalog may not have
// stored; nil where that is unknown.
func (c *Cache) meanwhile(ctx context.Context, agent string, change func(*feed.Profile), before *redis.StatusCmd, written error) *knownProfile {
	if change == nil || !errors.Is(written, catalog.ErrUnavailable) {
		return nil
	}
	known := c.parseProfile(ctx, agent, before.Val())
	if known != nil {
		known.absent = false
		change(&known.profile)
	}
	return known
}
