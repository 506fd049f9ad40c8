package redisbloom

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/internal/testenv"
)

// replyError is an error reply.
type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

// bounded acts as a server that bounds the size of a filter, as Valkey does: larger filters are not
// created, and full ones do not grow.
type bounded struct{ full bool }

func (bounded) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (bounded) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (b *bounded) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			creates := len(cmd.Args()) > 2 && strings.EqualFold(fmt.Sprint(cmd.Args()[2]), "capacity")
			if b.full && strings.EqualFold(cmd.Name(), "bf.insert") && creates {
				cmd.SetErr(replyError("ERR operation exceeds bloom object memory limit"))
				err = cmd.Err()
			}
		}
		return err
	}
}

// TestFilterThatMayNotGrow checks that a server that takes writes, but no impressions, is reported from
// the first refused impression on until one is taken.
func TestFilterThatMayNotGrow(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	limit := &bounded{}
	client.AddHook(limit)
	require.NoError(t, s.TakesWrites(t.Context()))
	most, err := s.TrySize(t.Context())
	require.NoError(t, err)
	assert.Zero(t, most, "no limit is stated")
	limit.full = true
	_, err = s.TrySize(t.Context())
	require.ErrorContains(t, err, "exceeds bloom object memory limit")
	unconfirmed, err := s.Record(t.Context(), given("u_1", "a"), noon)
	require.Error(t, err)
	assert.Len(t, unconfirmed, 1)
	require.ErrorContains(t, s.TakesWrites(t.Context()), "exceeds bloom object memory limit")
	limit.full = false
	record(t, s, noon, given("u_1", "a"))
	require.NoError(t, s.TakesWrites(t.Context()))
	keys, err := client.Exists(t.Context(), s.keys.FilterProbe(), s.keys.FilterProbe()+":size").Result()
	require.NoError(t, err)
	assert.Zero(t, keys, "nothing is left")
}

// TestServerWithoutInsert has a server that knows Bloom filters, but not BF.INSERT, as some do, and a user
// who may not call it.
func TestServerWithoutInsert(t *testing.T) {
	t.Parallel()
	own := testenv.StartRedis(t)
	admin := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "no_insert", "on", ">x", "~*", "+@all", "-bf.insert").Err())
	client := redis.NewClient(&redis.Options{Addr: own.Addr, Username: "no_insert", Password: "x"})
	t.Cleanup(func() { _ = client.Close() })
	s := openAt(t, client, "x:", deduptest.DefaultConfig())
	for _, err := range []error{s.Verify(t.Context()), s.TakesWrites(t.Context()), s.TryEverywhere(t.Context())} {
		require.ErrorContains(t, err, "docs/production.md lists")
		require.ErrorContains(t, err, "'bf.insert'")
	}
	assert.ErrorIs(t, s.TakesWrites(t.Context()), dedup.ErrUnavailable)

	require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", "1").Err())
	s = openAt(t, admin, "x:", deduptest.DefaultConfig())
	require.NoError(t, s.Verify(t.Context()), "it can read")
	require.ErrorContains(t, s.TakesWrites(t.Context()), "raise maxmemory")
}
