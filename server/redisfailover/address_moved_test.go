package redisfailover

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/server/connect"
)

// TestAddressMovedToNewMaster leads an address to a replica, which is then promoted, without
// cutting a connection: the deliveries are claimed once it is a master.
func TestAddressMovedToNewMaster(t *testing.T) {
	master, replica := testenv.StartRedis(t), testenv.StartRedis(t)
	admin := redis.NewClient(&redis.Options{Addr: replica.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	host, port, err := net.SplitHostPort(master.Addr)
	require.NoError(t, err)
	require.NoError(t, admin.ReplicaOf(t.Context(), host, port).Err())
	address := faultproxy.Start(t, master.Addr)
	cfg := configs.Default()
	cfg.Redis.URL = testenv.RedisAt(address.Addrs)
	client, err := connect.Redis(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	w, err := Open(t.Context(), cfg, client, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var claims atomic.Int64
	go func() {
		defer close(ended)
		w.Run(ctx, time.Now, func(context.Context, time.Time) error { claims.Add(1); return nil })
	}()
	t.Cleanup(func() { stop(); <-ended; assert.NoError(t, w.Close(context.WithoutCancel(ctx))) })
	testenv.WaitFor(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.seen) == 1
	}, "the watch to know the master")

	address.Lead(replica.Addr)
	testenv.WaitFor(t, func() bool { return len(runIDs(t.Context(), w.own)) == 0 }, "the watch to reach the replica")
	require.Zero(t, claims.Load(), "a replica takes no claims")
	require.NoError(t, admin.ReplicaOf(t.Context(), "NO", "ONE").Err())
	testenv.WaitFor(t, func() bool { return claims.Load() > 0 }, "the deliveries to be claimed")
}
