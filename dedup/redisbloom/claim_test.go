package redisbloom

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/internal/testenv"
)

// twice sends every script twice, as the client does when it does not get the
// first answer.
type twice struct{}

func (twice) DialHook(next redis.DialHook) redis.DialHook { return next }

func (twice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (twice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" {
			_ = next(ctx, cmd)
		}
		return next(ctx, cmd)
	}
}

func TestClaimSentTwice(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s, err := New(client, deduptest.DefaultConfig(), Config{KeyPrefix: prefix})
	require.NoError(t, err)
	claim := func(limit int, groups ...string) []dedup.Claimed {
		t.Helper()
		claimed, err := s.Claim(t.Context(), "u_1", groups, limit, deduptest.Start)
		require.NoError(t, err)
		return claimed
	}
	claim(1, "a")
	client.AddHook(twice{})
	assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Taken, dedup.Taken, dedup.Left}, claim(2, "a", "b", "c", "d"))
	assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Held, dedup.Taken}, claim(5, "b", "c", "d"))
	assert.Equal(t, []dedup.Claimed{dedup.Held, dedup.Left}, claim(0, "a", "e"))
}
