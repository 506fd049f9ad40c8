package freshet

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/bench/prove/stores"
	"github.com/freshet/freshet/internal/testenv"
)

// asServer is the first argument of a child process that runs a server.
const asServer = "prove-server"

// TestMain lets the test binary run the servers.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asServer {
		if err := serve(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve(description string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return prove.Serve(ctx, description, map[string]func(context.Context, prove.Child) error{Kind: Serve})
}

// short returns the options of a run of seconds, with every fault.
func short() prove.Options {
	o := prove.Defaults()
	o.For, o.Rate, o.Agents, o.Follows, o.Posts = 6*time.Second, 60, 10, 4, 60
	o.Kill, o.Redis, o.Ahead, o.Lost, o.Hangs = 2*time.Second, 2500*time.Millisecond, 5*time.Second, 0.05, 0.05
	return o
}

func judge(t *testing.T, a prove.Adapter, p prove.Place, redis ...prove.Fault) {
	t.Helper()
	p.Dir, p.Command = t.TempDir(), []string{os.Args[0], asServer}
	c, err := prove.Run(t.Context(), short(), a, p, prove.Services{Redis: redis}, io.Discard)
	require.NoError(t, err)
	assert.True(t, c.Kept(), "%+v", c.Findings)
	assert.Zero(t, c.LostUnanswered)
	assert.Zero(t, c.Errors, "%v", c.ErrorTexts)
	assert.Positive(t, c.Pages)
	assert.Positive(t, c.CPU)
	faults := strings.Join(c.FaultsMade, "\n")
	assert.GreaterOrEqual(t, strings.Count(faults, "kill -9 of server"), 2)
	assert.Equal(t, redis != nil, strings.Contains(faults, "Redis"), faults)
	assert.Equal(t, len(redis) > 1, strings.Contains(faults, "takes over"), faults)
}

// TestProveEmbedded kills an embedded server under load: nothing is repeated, lost or leaked.
func TestProveEmbedded(t *testing.T) {
	t.Parallel()
	judge(t, Embedded(), prove.Place{})
}

// TestProveServices does the same with two servers, and a Redis that is killed, too.
func TestProveServices(t *testing.T) {
	t.Parallel()
	module, err := stores.BloomModule(t.Context(), testenv.RedisURL(t))
	require.NoError(t, err)
	redis, err := stores.StartRedis(t.Context(), filepath.Join(t.TempDir(), "redis"), module)
	require.NoError(t, err)
	t.Cleanup(redis.Kill)
	elastic, name := testenv.Elastic(t)
	judge(t, Services(), prove.Place{Name: name, Redis: redis.Addr, Postgres: testenv.Postgres(t), Elastic: elastic}, redis.Faults()...)
}

// TestProveFailover does the same with a Redis master that is killed, and one of whose replicas takes over.
func TestProveFailover(t *testing.T) {
	t.Parallel()
	for _, a := range []prove.Adapter{Services(), Strict()} {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			module, err := stores.BloomModule(t.Context(), testenv.RedisURL(t))
			require.NoError(t, err)
			redis, err := stores.StartReplicated(t.Context(), filepath.Join(t.TempDir(), "redis"), module, a.RedisSettings...)
			require.NoError(t, err)
			t.Cleanup(redis.Kill)
			elastic, name := testenv.Elastic(t)
			faults := redis.Faults()
			slices.Reverse(faults) // the failover first
			judge(t, a, prove.Place{Name: name, Sentinels: redis.Sentinels, Postgres: testenv.Postgres(t), Elastic: elastic}, faults...)
		})
	}
}
