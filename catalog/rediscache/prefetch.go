package rediscache

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// renewScript caches an item or replaces its cached value, but does not replace a tombstone:
// the item has just been changed, perhaps after it was read.
//
//	KEYS[1]  the item
//	ARGV[1]  its JSON
//	ARGV[2]  its TTL, ms
//	reply    1 if it is cached, else 0
const renewScript = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('STRLEN', KEYS[1]) == 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`

// Prefetch implements [catalog.Catalog]. It reads again the items with less than half of their
// TTL left, so that all are cached for at least that long, less [knownFor]. It does not transfer
// cached contents: if nothing must be read, it takes one round trip, and none for items that were
// found lately.
func (c *Cache) Prefetch(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if c.down() {
		return fmt.Errorf("%w: prefetch: the content cache was unreachable recently", catalog.ErrUnavailable)
	}
	ids = c.lately.unknown(ids, c.cfg.Clock())
	if len(ids) == 0 {
		return nil
	}
	expiring, err := c.expiring(ctx, ids)
	if err != nil || len(expiring) == 0 {
		return err
	}
	docs, err := c.next.Docs(ctx, expiring)
	if err != nil {
		return err
	}
	return c.renew(ctx, docs)
}

// expiring returns the items that are not cached or expire soon. They include tombstones, which
// may have expired by the time the item is read.
func (c *Cache) expiring(ctx context.Context, ids []string) (out []string, err error) {
	pipe, now := c.client.Pipeline(), c.cfg.Clock()
	lives := make([]*redis.DurationCmd, len(ids))
	for i, id := range ids {
		lives[i] = pipe.PTTL(ctx, c.keys.Item(id))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		c.failed(ctx, "prefetch", err)
		return nil, contractError("prefetch", err)
	}
	for i, id := range ids {
		if lives[i].Val() < itemTTL/2 {
			out = append(out, id)
		} else {
			c.lately.add(id, now)
		}
	}
	return out, nil
}

// renew caches the items again, unless they were written in the meantime.
func (c *Cache) renew(ctx context.Context, docs []feed.Doc) error {
	pipe := c.client.Pipeline()
	for _, d := range docs {
		if !d.Missing() {
			pipe.Eval(ctx, renewScript, []string{c.keys.Item(d.ID)}, []byte(d.JSON), itemTTL.Milliseconds())
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		c.failed(ctx, "prefetch", err)
		return contractError("prefetch", err)
	}
	return nil
}
