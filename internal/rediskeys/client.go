package rediskeys

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// For returns the key names for a client: those for a cluster if the client connects to one.
//
//go:noinline
func For(client redis.Cmdable, prefix string) Keys {
	_, cluster := client.(*redis.ClusterClient)
	return New(prefix, cluster)
}

// MasterOf returns the master that holds a key, and its address.
//
//go:noinline
func MasterOf(ctx context.Context, client redis.Cmdable, key string) (master redis.Cmdable, addr string, err error) {
	node, err := masterOf(ctx, client, key)
	if err != nil {
		return nil, "", err
	}
	return node, node.Options().Addr, nil
}

// Turn returns a function that reports true to only the first caller in each period d, across all
// servers.
func Turn(client redis.Cmdable, key string, d time.Duration) func(ctx context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		// Slightly less, so that the key has expired when its holder calls after d.
		err := client.SetArgs(ctx, key, 1, redis.SetArgs{Mode: "NX", TTL: d - d/20}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	}
}
