package redislist

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// b is in group "a", and a is an item in group "g": both have the key "a".
func TestWithdrawPending(t *testing.T) {
	client, prefix := testenv.Redis(t)
	s := New(client, Config{KeyPrefix: prefix})
	ctx, now := t.Context(), time.Now()
	b, a := feed.Ref{ID: "b", Group: "a"}, feed.Ref{ID: "a", Group: "g"}
	p, err := s.Replace(ctx, cache.Replace{Agent: "u", Ranked: []feed.Ref{b, a, {ID: "z", Group: "z"}}, Limit: 1, Now: now, Call: cache.Call{}})
	require.NoError(t, err)
	require.Equal(t, []feed.Ref{b}, p.Refs)
	// The client reports b: engine.Seen withdraws its keys.
	require.NoError(t, s.Withdraw(ctx, "u", []string{"a", "b"}, now))
	// b is recorded and, after the grace, settled.
	require.NoError(t, client.ZRem(ctx, s.keys.Pending("u"), "a", "b").Err())
	p, err = s.Pop(ctx, cache.Pop{Agent: "u", Limit: 5, Now: now.Add(time.Minute)})
	require.NoError(t, err)
	require.Equal(t, []feed.Ref{{ID: "z", Group: "z"}}, p.Refs, "Withdraw takes every ref whose group or id is one of groups out")
}

// The first call fails because of one of the sessions, so it must not count as made.
func TestWithdrawRetryAfterError(t *testing.T) {
	client, prefix := testenv.Redis(t)
	s := New(client, Config{KeyPrefix: prefix})
	ctx, now := t.Context(), time.Now()
	refs := []feed.Ref{{ID: "x", Group: "x"}, {ID: "post:1", Group: "post:1"}, {ID: "z", Group: "z"}}
	_, err := s.Replace(ctx, cache.Replace{Agent: "u", Ranked: refs, Limit: 1, Now: now, Call: cache.Call{Feed: feed.HomeFeed}})
	require.NoError(t, err)
	require.NoError(t, client.Set(ctx, s.keys.Session("u", feed.ForYou), "somebody's", 0).Err())
	require.ErrorIs(t, s.Withdraw(ctx, "u", []string{"post:1"}, now), dedup.ErrForeign)
	require.NoError(t, client.Del(ctx, s.keys.Session("u", feed.ForYou)).Err())
	require.NoError(t, s.Withdraw(ctx, "u", []string{"post:1"}, now.Add(time.Second)), "after an error withdraw again")
	require.NoError(t, client.ZRem(ctx, s.keys.Pending("u"), "post:1").Err()) // settled
	p, err := s.Pop(ctx, cache.Pop{Agent: "u", Limit: 5, Now: now.Add(time.Minute), Call: cache.Call{Feed: feed.HomeFeed}})
	require.NoError(t, err)
	require.Equal(t, refs[2:], p.Refs)
}
