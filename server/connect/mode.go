package connect

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
)

// ErrCluster means that the one address of a Redis, which did not answer when its client was made, leads to
// a node of a cluster. Keys have other names there, so that the client cannot be used.
var ErrCluster = errors.New("it is a node of a cluster, which was not known as long as it did not answer; start the server again")

// askMode returns standalone, cluster or sentinel. The error is that of the call; then the mode is unknown.
func askMode(ctx context.Context, on interface {
	Process(ctx context.Context, cmd redis.Cmder) error
},
) (string, error) {
	hello := redis.NewMapStringInterfaceCmd(ctx, "hello")
	err := on.Process(ctx, hello)
	mode, _ := hello.Val()["mode"].(string)
	return mode, err
}

// singleServer refuses connections to nodes of a cluster. first is called before; nil means nothing.
func singleServer(first func(context.Context, *redis.Conn) error) func(context.Context, *redis.Conn) error {
	var known atomic.Bool // it is none
	return func(ctx context.Context, conn *redis.Conn) error {
		if first != nil {
			if err := first(ctx, conn); err != nil {
				return err
			}
		}
		if known.Load() {
			return nil
		}
		mode, _ := askMode(ctx, conn) // one that does not know the command is no cluster
		if mode == "cluster" {
			return ErrCluster
		}
		known.Store(mode != "")
		return nil
	}
}

// IsCluster asks the one address that a client for a single server was made for whether it leads to a cluster
// after all. answers is false while that is unknown. Of other clients it is known at once.
func IsCluster(ctx context.Context, cfg configs.Config, client redis.UniversalClient) (isCluster, answers bool) {
	_, cluster := client.(*redis.ClusterClient)
	if cluster || cfg.Redis.Server().MasterName != "" {
		return false, true
	}
	o, err := redisOptions(cfg)
	if err != nil {
		return false, false
	}
	alone := redis.NewClient(o.Simple())
	defer func() { _ = alone.Close() }()
	mode, err := askMode(ctx, alone)
	unknownCommand := redis.HasErrorPrefix(err, "ERR")
	return mode == "cluster", mode != "" || unknownCommand
}
