package agreement

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
)

// inRedis keeps the text under the key prefix: servers with other prefixes share nothing.
type inRedis struct {
	client redis.Cmdable
	key    string
}

// InRedis keeps settings with what lies in Redis under the prefix.
func InRedis(client redis.Cmdable, prefix string) Store {
	return inRedis{client, rediskeys.For(client, prefix).Settings()}
}

// Kept implements [Store].
func (r inRedis) Kept(ctx context.Context) (string, error) {
	text, err := r.client.Get(ctx, r.key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return text, err
}

// Keep implements [Store].
func (r inRedis) Keep(ctx context.Context, text string) (string, error) {
	if kept, err := r.Kept(ctx); err != nil || kept != "" {
		return kept, err
	}
	if made, err := r.client.SetNX(ctx, r.key, text, 0).Result(); err != nil || made {
		return text, err
	}
	return r.Kept(ctx)
}

// Replace implements [Store].
func (r inRedis) Replace(ctx context.Context, text string) error {
	return r.client.Set(ctx, r.key, text, 0).Err()
}
