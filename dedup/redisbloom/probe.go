package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
)

// Verify checks that the server supports Bloom filters: that it reads them, and that it knows BF.INSERT,
// which some servers lack. The error says whether it lacks them or refuses this client, and wraps
// [dedup.ErrUnavailable] if it could not be reached.
func (s *Store) Verify(ctx context.Context) error {
	err := s.client.BFMExists(ctx, s.keys.FilterProbe(), "probe").Err()
	if err == nil {
		err = s.tryInsert(ctx, s.keys.FilterProbe())
		if !rediskeys.Refused(err) {
			return nil // whether it takes writes now is asked by TakesWrites
		}
	}
	switch {
	case !rediskeys.Refused(err):
		return contractError("verify", err)
	case strings.Contains(err.Error(), "unknown command"):
		return fmt.Errorf("verify: this Redis has no Bloom filter type with BF.MEXISTS and BF.INSERT; load the RedisBloom module (on Valkey valkey-bloom), or use Redis 8: %w", err)
	}
	return fmt.Errorf("verify: %w", rediskeys.Advise(err))
}

// TakesWrites reports whether the server that holds [rediskeys.Keys.FilterProbe] accepts impressions: a
// replica, a master that lacks replicas, has no memory left or cannot save, or a user without write
// permission serves only reads. It also returns the refusal of the last impressions that were written,
// as when a filter may not grow. It changes nothing.
func (s *Store) TakesWrites(ctx context.Context) error {
	err := s.tryInsert(ctx, s.keys.FilterProbe())
	last := s.refused.Load()
	if err == nil && last != nil {
		err = *last
	}
	return contractError("write", rediskeys.Advise(err))
}

// TryEverywhere is TakesWrites on every master of a cluster, without the last refusal.
func (s *Store) TryEverywhere(ctx context.Context) error {
	return contractError("write", rediskeys.Advise(s.tryInsert(ctx, s.keys.FilterProbes()...)))
}

// tryInsert adds to filters that do not exist, which changes nothing, but is refused like any write.
func (s *Store) tryInsert(ctx context.Context, keys ...string) error {
	pipe := s.client.Pipeline()
	for _, key := range keys {
		pipe.BFInsert(ctx, key, &redis.BFInsertOptions{NoCreate: true}, "probe")
	}
	cmds, err := pipe.Exec(ctx)
	if err != nil && !isReply(err) {
		return err
	}
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !strings.Contains(err.Error(), "not found") {
			return err
		}
	}
	return nil
}

// noteRefusal keeps why impressions were refused by a server that answers; nil once some were written.
func (s *Store) noteRefusal(err error) {
	var reply redis.Error
	if err == nil {
		s.refused.Store(nil)
	} else if errors.As(err, &reply) && !rediskeys.Foreign(err) {
		s.refused.Store(&err)
	}
}

// probeTTL is the TTL of a probe's key if the connection ends before it is removed.
const probeTTL = time.Minute

// TrySize creates a filter as large as those of a day, and removes it at once. The result is the number
// of impressions that such a filter can hold after it has grown; 0 means that the server states no
// limit. The error wraps [dedup.ErrUnavailable] if the server could not be reached.
func (s *Store) TrySize(ctx context.Context) (most int64, err error) {
	key, pipe := s.keys.FilterProbe()+":size", s.client.Pipeline()
	add := pipe.BFInsert(ctx, key, &redis.BFInsertOptions{Capacity: int64(s.cfg.ShardCapacity(s.cfg.Shards)), Error: s.rate, Expansion: 2}, "probe")
	pipe.Expire(ctx, key, probeTTL)
	limit := pipe.Do(ctx, "bf.info", key, "MAXSCALEDCAPACITY") // of Valkey; others do not know this field
	pipe.Unlink(ctx, key)
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return 0, contractError("create a filter", err)
	}
	if err := add.Err(); err != nil {
		return 0, contractError("create a filter", rediskeys.Advise(err))
	}
	most, _ = limit.Int64()
	return most, nil
}
