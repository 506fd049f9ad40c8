package connect

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// atOnce runs n calls at the same time, each on its own connection.
func atOnce(n int, call func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { call(i) })
	}
	group.Wait()
}

// TestAddressMovedToReplica leads an address to a replica for a while, with connections opened
// meanwhile, and back to the master. No connection is cut then. The next write of each kind
// succeeds, after which no connection leads to the replica.
func TestAddressMovedToReplica(t *testing.T) {
	master, replica := testenv.StartRedis(t), testenv.StartRedis(t)
	admin := redis.NewClient(&redis.Options{Addr: replica.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	require.NoError(t, admin.ReplicaOf(t.Context(), "127.0.0.1", master.Addr[len("127.0.0.1:"):]).Err())
	script := redis.NewScript(`return redis.call('SET', KEYS[1], 'script')`)
	for name, write := range map[string]func(ctx context.Context, c redis.UniversalClient) error{
		"command": func(ctx context.Context, c redis.UniversalClient) error { return c.Set(ctx, "k", "v", 0).Err() },
		"script": func(ctx context.Context, c redis.UniversalClient) error {
			return script.Run(ctx, c, []string{"k"}).Err()
		},
		"pipeline": func(ctx context.Context, c redis.UniversalClient) error {
			_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				p.Exists(ctx, "k")
				p.Set(ctx, "k", "v", 0)
				return nil
			})
			return err
		},
		"transaction": func(ctx context.Context, c redis.UniversalClient) error {
			_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Set(ctx, "k", "v", 0); return nil })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := faultproxy.Start(t, master.Addr)
			client, err := connected(t, at(p.Addrs[0]))
			require.NoError(t, err)
			Follow(at(p.Addrs[0]), client)
			require.NoError(t, write(t.Context(), client))
			p.Lead(replica.Addr)
			p.HangUp()
			role := func() any {
				reply, err := client.Do(t.Context(), "ROLE").Slice()
				if err != nil || len(reply) == 0 {
					return err
				}
				return reply[0]
			}
			testenv.WaitFor(t, func() bool { return role() == "slave" }, "the replica")
			atOnce(20, func(int) { _ = client.Do(t.Context(), "EVAL", "for i = 1, 3000000 do end", 0).Err() })
			require.Error(t, write(t.Context(), client))
			atOnce(20, func(int) { _ = client.Do(t.Context(), "EVAL", "for i = 1, 3000000 do end", 0).Err() })
			time.Sleep(leaveEvery) // the last write has replaced connections; now they may be replaced again

			p.Lead(master.Addr)
			require.NoError(t, write(t.Context(), client), "with twenty connections to the replica")
			atOnce(30, func(int) { assert.Equal(t, "master", role()) })
		})
	}
}
