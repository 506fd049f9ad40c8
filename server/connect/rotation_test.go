package connect

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// TestRedisPasswordRotated replaces the password of a user whose calls go on: none fails, and after the
// lifetime of a connection none is left that was opened with the old password.
func TestRedisPasswordRotated(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t)
	admin := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	allow := func(rules ...any) {
		require.NoError(t, admin.Do(t.Context(), append([]any{"ACL", "SETUSER", "reader"}, rules...)...).Err())
	}
	allow("on", ">first", "~*", "&*", "+@all")
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("first"), 0o600))
	cfg, err := configs.Load(configs.Options{Environ: []string{
		"FRESHET_REDIS_URL=redis://reader@" + server.Addr, "FRESHET_REDIS_PASSWORD_FILE=" + password,
	}})
	require.NoError(t, err)
	var credentials func() (user, password string)
	client, err := Redis(t.Context(), cfg, func(o *redis.UniversalOptions) {
		credentials = o.CredentialsProvider
		o.ConnMaxLifetime, o.ConnMaxLifetimeJitter = 200*time.Millisecond, 0
		o.ReadTimeout, o.WriteTimeout, o.PoolTimeout, o.DialTimeout = time.Minute, time.Minute, time.Minute, time.Minute // on a busy machine
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })

	var calls sync.WaitGroup
	var made, failed atomic.Int64
	var end atomic.Bool
	for range 4 {
		calls.Go(func() {
			for !end.Load() {
				if err := client.Incr(t.Context(), "calls").Err(); err != nil {
					failed.Add(1)
					t.Log(err)
				}
				made.Add(1)
			}
		})
	}
	defer calls.Wait()
	defer end.Store(true)
	// connections returns the ids of the user's connections.
	connections := func() (ids []string) {
		list, err := admin.ClientList(t.Context()).Result()
		require.NoError(t, err)
		for line := range strings.Lines(list) {
			if strings.Contains(line, " user=reader ") {
				ids = append(ids, strings.Fields(line)[0])
			}
		}
		return ids
	}
	testenv.WaitFor(t, func() bool { return made.Load() > 100 && len(connections()) > 0 }, "calls")

	allow(">second") // both are valid
	require.NoError(t, os.WriteFile(password, []byte("second"), 0o600))
	testenv.WaitFor(t, func() bool { _, word := credentials(); return word == "second" }, "the new password to be read")
	old := connections()
	testenv.WaitFor(t, func() bool {
		left := connections()
		for _, id := range old {
			for _, other := range left {
				if id == other {
					return false
				}
			}
		}
		return true
	}, "the end of the connections of before")
	allow("<first")
	before := made.Load()
	testenv.WaitFor(t, func() bool { return made.Load() > before+1000 }, "calls with the new password alone")
	assert.Zero(t, failed.Load())
	require.Error(t, redis.NewClient(&redis.Options{Addr: server.Addr, Username: "reader", Password: "first"}).Ping(t.Context()).Err(), "the old password is not valid any more")
}
