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

// afterWrite is the timeout of the steps that must follow a write even if its caller has gone.
const afterWrite = 2 * time.Second

// buryAtOnce is the number of tombstones per round trip.
const buryAtOnce = 1000

// bury replaces the cached value of each item with a tombstone.
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

// MuteItems implements [catalog.Profiles]. If the catalog is unavailable, the items are still
// muted in the cached profile, for the TTL of cached items: the agent's feed continues without
// the items, whether they were stored or not.
func (c *Cache) MuteItems(ctx context.Context, agent string, groups []string) error {
	return c.changeProfile(ctx, agent, groups, func() error { return c.next.MuteItems(ctx, agent, groups) })
}

// settleScript replaces the writer's own mark with the new profile. If the key has another
// value, another writer is or was active at the same time, and only the catalog knows which
// write came last: then the script leaves a mark until readers that may have read an old
// profile have finished.
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

// changeProfile sets a mark, writes to the catalog, and caches the new value. The mark is set
// first: from then on no reader can cache the old value. The new value is read from the
// catalog, because a part of the stored one may be preserved. muted are the groups that the write
// mutes, if that is what it does.
func (c *Cache) changeProfile(ctx context.Context, agent string, muted []string, write func() error) error {
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
			return written // it is stored, and readers use the catalog while the mark exists
		}
	} else {
		// Whatever the catalog holds now, it is read again after the mark expires.
		to = c.uncertainProfile(ctx, agent, muted, before, written)
		if to == nil {
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

// uncertainProfile returns the profile to use after a change that the catalog may not have stored;
// nil if it is unknown. Muting is correct for readers whether it was stored or not.
func (c *Cache) uncertainProfile(ctx context.Context, agent string, muted []string, before *redis.StatusCmd, written error) *knownProfile {
	if muted == nil || !errors.Is(written, catalog.ErrUnavailable) {
		return nil
	}
	known := c.parseProfile(ctx, agent, before.Val())
	if known != nil {
		known.absent = false
		_, _ = known.profile.MuteItems(muted) // if there is no room, nobody was told that they are muted
	}
	return known
}
