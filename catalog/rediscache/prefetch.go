package rediscache

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// renewScript puts an item into the cache, or in the place of what is cached of it, but
// not in that of a tombstone: the item was changed a moment ago, perhaps after it was
// read.
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

// Prefetch implements [catalog.Catalog]. What has less than half of its time to
// live is read again, so that all of it is cached for at least that long. Contents
// that are cached are not moved: where nothing is to be read it is one round trip.
func (c *Cache) Prefetch(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if c.down() {
		return fmt.Errorf("%w: prefetch: the content cache was not reached a moment ago", catalog.ErrUnavailable)
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

// expiring lists the items that are not cached, or not for much longer. A tombstone
// is among them: it may be gone by the time the item is read.
func (c *Cache) expiring(ctx context.Context, ids []string) (out []string, err error) {
	pipe := c.client.Pipeline()
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
		}
	}
	return out, nil
}

// renew caches the items anew, unless they were written meanwhile.
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
