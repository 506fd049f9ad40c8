package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/events/eventstest"
)

func TestConformance(t *testing.T) {
	eventstest.Run(t, func(t *testing.T) events.Store {
		client, prefix := testenv.Redis(t)
		return New(client, prefix)
	})
}

func TestConformanceOnCluster(t *testing.T) {
	eventstest.Run(t, func(t *testing.T) events.Store {
		client, prefix := testenv.RedisCluster(t)
		return New(client, prefix)
	})
}

// TestTTL checks that every key expires, and for how long acts are deduplicated.
func TestTTL(t *testing.T) {
	client, prefix := testenv.Redis(t)
	s := New(client, prefix)
	b := events.Batch{
		Variant: "control", Day: eventstest.Today, Sender: "s", Seq: 1, Impressions: 1, Agents: []uint64{1}, Authors: []uint64{2},
		Events: []events.Event{{Hash: 3, Field: "click"}},
	}
	require.NoError(t, s.Add(t.Context(), &b))
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 6)
	short := map[string]bool{s.keys.Event(rediskeys.EventOnce, "control", b.Day): true, s.keys.Event(rediskeys.EventSenders, "control", b.Day): true}
	for _, key := range keys {
		ttl := client.TTL(t.Context(), key).Val()
		want := 90 * 24 * time.Hour
		if short[key] {
			want = 3 * 24 * time.Hour
		}
		assert.LessOrEqual(t, ttl, want, key)
		assert.Greater(t, ttl, want-time.Hour, key)
	}
}

// TestUnavailable distinguishes an unreachable Redis from a malformed count.
func TestUnavailable(t *testing.T) {
	client, prefix := testenv.Redis(t)
	s := New(client, prefix)
	b := events.Batch{Variant: "control", Day: eventstest.Today, Sender: "s", Seq: 1, Impressions: 1}
	require.NoError(t, client.Set(t.Context(), s.keys.Event(rediskeys.EventCounts, "control", b.Day), "x", time.Minute).Err())
	err := s.Add(t.Context(), &b)
	require.Error(t, err)
	require.NotErrorIs(t, err, events.ErrUnavailable)
	require.NoError(t, client.Close())
	require.ErrorIs(t, s.Add(t.Context(), &b), events.ErrUnavailable)
	_, err = s.Read(t.Context(), b.Day, b.Day)
	require.ErrorIs(t, err, events.ErrUnavailable)
}
