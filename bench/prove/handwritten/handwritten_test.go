package handwritten

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		kinds := map[string]func(context.Context, prove.Child) error{Kind: Serve}
		if err := prove.Serve(context.Background(), os.Args[2], kinds); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestProveHandwritten runs it without faults but two devices and lost answers: it is as good as its
// package comment says, so that what a run with faults finds is due to these.
func TestProveHandwritten(t *testing.T) {
	t.Parallel()
	redis, err := stores.StartRedis(t.Context(), filepath.Join(t.TempDir(), "redis"), "")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(redis.Kill)
	o := prove.Defaults()
	o.For, o.Rate, o.Agents, o.Follows, o.Posts = 4*time.Second, 80, 10, 4, 100
	o.Kill, o.Redis, o.Ahead, o.Hangs, o.Lost, o.Settle = 0, 0, 0, 0, 0.1, 10*time.Second
	p := prove.Place{Dir: t.TempDir(), Redis: redis.Addr, Postgres: testenv.Postgres(t), Command: []string{os.Args[0], asServer}}
	c, err := prove.Run(t.Context(), o, Adapter(), p, prove.Services{}, io.Discard)
	require.NoError(t, err)
	assert.True(t, c.Kept(), "%+v", c.Findings)
	assert.Zero(t, c.Errors, "%v", c.ErrorTexts)
	assert.Positive(t, c.Entries)
}
