package redis

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/signals/popularity/popularitytest"
)

// keeping is a [popularitytest.Keeping].
type keeping struct {
	client redis.UniversalClient
	prefix string
}

const counted = "a/b"

func (k keeping) Count(t *testing.T, keep feed.HalfLives, acts []popularity.Act) {
	t.Helper()
	for i := range acts {
		acts[i].Item = counted
	}
	require.NoError(t, New(k.client, k.prefix, keep).Count(t.Context(), acts))
}

func (k keeping) CountEarlier(t *testing.T, act popularity.Act) {
	t.Helper()
	c := k.Counts(t, 0).Add(act.At)
	key := New(k.client, k.prefix, 0).keys.PopularityCounts(counted)
	require.NoError(t, k.client.HSet(t.Context(), key, "last", c.Last, "sum_2h", c.Short, "sum_2d", c.Long).Err())
}

func (k keeping) Counts(t *testing.T, keep feed.HalfLives) feed.Counts {
	t.Helper()
	return counts(t, New(k.client, k.prefix, keep), counted)[counted]
}

func (k keeping) More(t *testing.T) string {
	t.Helper()
	text, err := k.client.HGet(t.Context(), New(k.client, k.prefix, 0).keys.PopularityCounts(counted), "more").Result()
	if errors.Is(err, redis.Nil) {
		return ""
	}
	require.NoError(t, err)
	return text
}

func TestHalfLives(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		popularitytest.HalfLives(t, func(t *testing.T) popularitytest.Keeping {
			return keeping{client, prefix + t.Name() + ":"}
		})
	})
}
