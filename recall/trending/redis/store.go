// Package redis stores the trending set in Redis, for any number of servers.
package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/recall/trending"
)

// keep is the TTL of a set. Long before it expires, answers mark the set as stale.
const keep = 24 * time.Hour

// keepScript replaces the set and deletes the lease if the server still holds it.
//
//	KEYS[1]  the set
//	KEYS[2]  the lease
//	ARGV[1]  the server
//	ARGV[2]  the encoded set
//	ARGV[3]  TTL of the set, ms
//	reply    1 where it was replaced
var keepScript = redis.NewScript(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('DEL', KEYS[2])
return 1
`)

// Store is a [trending.Store] in Redis.
type Store struct {
	client redis.Cmdable
	keys   rediskeys.Keys
}

var _ trending.Store = (*Store)(nil)

// New returns a store that uses client, with keyPrefix before every key. It does not contact
// the server.
func New(client redis.Cmdable, keyPrefix string) *Store {
	return &Store{client: client, keys: rediskeys.For(client, keyPrefix)}
}

// Read implements [trending.Store]. It reads the revision first, and the rest only if the
// revision differs.
func (s *Store) Read(ctx context.Context, known string) (*trending.Set, error) {
	if known != "" {
		head, err := s.client.GetRange(ctx, s.keys.Trending(), 0, trending.HeadBytes-1).Bytes()
		if err != nil {
			return nil, contractError("read", err)
		}
		if len(head) == 0 || trending.RevisionOf(head) == known {
			return nil, nil
		}
	}
	data, err := s.client.Get(ctx, s.keys.Trending()).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, contractError("read", err)
	}
	set, err := trending.Decode(data)
	if err != nil || set.Revision == known {
		return nil, err
	}
	return set, nil
}

// Lease implements [trending.Store].
func (s *Store) Lease(ctx context.Context, server string, d time.Duration) (bool, error) {
	err := s.client.SetArgs(ctx, s.keys.TrendingLease(), server, redis.SetArgs{Mode: "NX", TTL: d}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, contractError("reserve", err)
}

// Keep implements [trending.Store].
func (s *Store) Keep(ctx context.Context, server string, set *trending.Set) (bool, error) {
	kept, err := keepScript.Run(ctx, s.client, []string{s.keys.Trending(), s.keys.TrendingLease()},
		server, set.Encode(), keep.Milliseconds()).Bool()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return kept, contractError("keep", err)
}

func contractError(step string, err error) error {
	return rediskeys.Failed(trending.ErrUnavailable, "trending set: "+step, err)
}
