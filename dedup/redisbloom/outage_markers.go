package redisbloom

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/rediskeys"
)

// leaveScript creates or renews a server's marker. Markers expire by Redis's clock alone.
//
//	KEYS[1]  the markers
//	ARGV[1]  the server
//	ARGV[2]  lifetime of the marker, ms
var leaveScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// anyScript counts the markers that have not expired.
//
//	KEYS[1]  the markers
var anyScript = redis.NewScript(`
local t = redis.call('TIME')
return redis.call('ZCOUNT', KEYS[1], '(' .. (t[1] * 1000 + math.floor(t[2] / 1000)), '+inf')
`)

// OutageMarkers implements [dedup.OutageMarkers] on Redis.
type OutageMarkers struct {
	client redis.Cmdable
	key    string
}

var _ dedup.OutageMarkers = (*OutageMarkers)(nil)

// NewOutageMarkers returns markers stored through client; keyPrefix is prepended to their key.
func NewOutageMarkers(client redis.Cmdable, keyPrefix string) *OutageMarkers {
	return &OutageMarkers{client: client, key: rediskeys.For(client, keyPrefix).OutageMarkers()}
}

// Set implements [dedup.OutageMarkers].
func (n *OutageMarkers) Set(ctx context.Context, server string) error {
	return contractError("write the spool marker", leaveScript.Run(ctx, n.client, []string{n.key}, server, dedup.OutageMarkerTTL.Milliseconds()).Err())
}

// Remove implements [dedup.OutageMarkers].
func (n *OutageMarkers) Remove(ctx context.Context, server string) error {
	return contractError("remove the spool marker", n.client.ZRem(ctx, n.key, server).Err())
}

// Any implements [dedup.OutageMarkers].
func (n *OutageMarkers) Any(ctx context.Context) (bool, error) {
	standing, err := anyScript.Run(ctx, n.client, []string{n.key}).Int()
	return standing > 0, contractError("read spool markers", err)
}
