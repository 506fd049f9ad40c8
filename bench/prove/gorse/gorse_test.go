package gorse

import (
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

// TestProveGorse runs the program that FRESHET_TEST_GORSE names without faults and with few calls, so that
// what a run with faults finds is due to these.
func TestProveGorse(t *testing.T) {
	t.Parallel()
	path := os.Getenv("FRESHET_TEST_GORSE")
	if path == "" {
		t.Skip("set FRESHET_TEST_GORSE to the path of gorse-in-one")
	}
	redis, err := stores.StartRedis(t.Context(), filepath.Join(t.TempDir(), "redis"), "")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(redis.Kill)
	o := prove.Defaults()
	o.For, o.Rate, o.Agents, o.Follows, o.Posts = 4*time.Second, 10, 10, 4, 100
	o.Kill, o.Redis, o.Ahead, o.Hangs, o.Lost, o.Settle = 0, 0, 0, 0, 0, 5*time.Second
	p := prove.Place{Dir: t.TempDir(), Redis: redis.Addr, Postgres: testenv.Postgres(t)}
	c, err := prove.Run(t.Context(), o, Adapter(path, Version(t.Context(), path)), p, prove.Services{}, io.Discard)
	require.NoError(t, err)
	assert.Zero(t, c.Errors, "%v", c.ErrorTexts)
	assert.Positive(t, c.Entries)
}

// TestNeeds says what is missing at a place.
func TestNeeds(t *testing.T) {
	t.Parallel()
	all := prove.Place{Redis: "127.0.0.1:1", Postgres: "postgres://localhost/x"}
	assert.Equal(t, "--gorse names no program", Adapter("", "").Needs(all))
	assert.Equal(t, "it needs Redis and PostgreSQL", Adapter("/nowhere", "").Needs(prove.Place{}))
	assert.Empty(t, Adapter("/nowhere", "").Needs(all))
}
