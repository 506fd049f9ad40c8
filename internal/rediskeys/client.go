package rediskeys

import (
	"context"

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
