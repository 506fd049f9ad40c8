package rediskeys

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

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
