package redis

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline"
)

func TestStamps(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (redis.UniversalClient, string){
		"single": func(t *testing.T) (redis.UniversalClient, string) { return testenv.Redis(t) },
		"cluster": func(t *testing.T) (redis.UniversalClient, string) {
			client, prefix := testenv.RedisCluster(t)
			return client, prefix
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, prefix := open(t)
			cfg := Config{KeyPrefix: prefix, Clock: still}
			testStamps(t, NewStamps(client, prefix), NewTimelines(client, cfg), NewOutboxes(client, cfg))
		})
	}
}

func testStamps(t *testing.T, s *Stamps, lists, outboxes *Lists) {
	now := still()
	look := func(at time.Time) []Stamp {
		list, err := s.Look(t.Context(), at)
		require.NoError(t, err)
		require.Len(t, list, len(s.keys))
		return list
	}
	none := look(now)
	for _, st := range none {
		require.Empty(t, st.Of)
		require.NotEmpty(t, st.Data)
	}
	adopt := func(want bool, list []Stamp) {
		adopted, err := s.Adopt(t.Context(), now, list)
		require.NoError(t, err)
		if !want {
			list = nil
		}
		require.Equal(t, list, adopted)
	}
	adopt(true, none)
	adopt(false, none) // another server has done so
	look(now.Add(time.Minute))
	for _, st := range look(now.Add(time.Minute)) {
		assert.Equal(t, st.Data, st.Of)
		assert.Equal(t, now.UnixMilli(), st.Since.UnixMilli())
		assert.Equal(t, now.Add(time.Minute).UnixMilli(), st.At.UnixMilli(), "it was renewed")
	}
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	fill(t, lists, names...)
	fill(t, outboxes, names...)
	n, err := s.DropLists(t.Context(), none)
	require.NoError(t, err)
	assert.Equal(t, 2*len(names), n)
	for _, l := range []*Lists{lists, outboxes} {
		heads, err := l.Heads(t.Context(), names)
		require.NoError(t, err)
		for _, h := range heads {
			assert.Equal(t, timeline.None, h.State)
		}
	}
	assert.Equal(t, none[0].Data, look(now)[0].Of, "stamps stay")
}
