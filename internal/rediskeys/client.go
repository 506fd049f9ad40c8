package rediskeys

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// For returns the key names for a client: those of a cluster where the client
// talks to one.
//
//go:noinline
func For(client redis.Cmdable, prefix string) Keys {
	_, cluster := client.(*redis.ClusterClient)
	return New(prefix, cluster)
}

// MasterOf returns the server that holds a key, and its address; the client itself and
// no address where it is not that of a cluster.
//
//go:noinline
func MasterOf(ctx context.Context, client redis.Cmdable, key string) (master redis.Cmdable, addr string, err error) {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return client, "", nil
	}
	node, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		return nil, "", err
	}
	return node, node.Options().Addr, nil
}

// Turn gives a turn to the first that asks, once in each span of time.
func Turn(client redis.Cmdable, key string, d time.Duration) func(ctx context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		// A little less, so that who has had it finds it ended the next time.
		err := client.SetArgs(ctx, key, 1, redis.SetArgs{Mode: "NX", TTL: d - d/20}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	}
}

// HoldLua puts groups into the pending set key that were shown by something else
// than a page of a session: groups[first] to groups[last], at a time in ms. The
// half millisecond in their scores says that they are held: a page that had
// claimed them before and is given back leaves them there. Of two times the later
// one stays. ZADD and ZMSCORE are given so few members at once because a Lua call
// takes only so many arguments.
const HoldLua = `
local function hold(key, groups, first, last, at)
  for from = first, last, 500 do
    local to, adds = math.min(from + 499, last), {}
    local scores = redis.call('ZMSCORE', key, unpack(groups, from, to))
    for i = 1, #scores do
      local served = math.max(math.floor(tonumber(scores[i] or 0)), at)
      adds[2 * i - 1], adds[2 * i] = string.format('%.1f', served + 0.5), groups[from + i - 1]
    end
    redis.call('ZADD', key, unpack(adds))
  end
end
`

// LetGoLua takes groups[first] to groups[last] out of the pending set key, unless
// one of them is held: then it leaves all of them. It answers whether any was taken
// out. They are at most 1,000.
const LetGoLua = `
local function letgo(key, groups, first, last)
  local scores = redis.call('ZMSCORE', key, unpack(groups, first, last))
  for i = 1, #scores do
    if scores[i] and tonumber(scores[i]) % 1 ~= 0 then return false end
  end
  return redis.call('ZREM', key, unpack(groups, first, last)) > 0
end
`
