package popularity_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/popularity"
	"github.com/freshet/freshet/popularity/redis"
)

// shelf is an index that knows some items, and may be down or be written meanwhile.
type shelf struct {
	mu    sync.Mutex
	items map[string]feed.Counts
	busy  []string
	down  error
}

func (s *shelf) SetCounts(_ context.Context, counts map[string]feed.Counts) (unknown, again []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range counts {
		_, known := s.items[id]
		switch {
		case s.down != nil || slices.Contains(s.busy, id):
			again = append(again, id)
		case !known:
			unknown = append(unknown, id)
		default:
			s.items[id] = c
		}
	}
	return unknown, again, s.down
}

// TestPublisher brings counts into an index: those of items it has, and again what it
// could not take.
func TestPublisher(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	queue := redis.New(client, prefix)
	index := &shelf{items: map[string]feed.Counts{"a": {}, "b": {}, "busy": {}}, busy: []string{"busy"}}
	p := popularity.NewPublisher(queue, index, popularity.PublisherConfig{})
	require.NoError(t, p.Flush(t.Context()), "there is nothing to do")
	count := func(agent string, items ...string) {
		var acts []popularity.Act
		for _, id := range items {
			acts = append(acts, popularity.Act{Agent: popularity.Agent(agent), Item: id, At: noon.Unix()})
		}
		require.NoError(t, queue.Count(t.Context(), acts))
	}
	count("u", "a", "b", "busy", "gone")
	require.NoError(t, p.Flush(t.Context()))
	once := feed.Counts{}.Add(noon.Unix())
	assert.Equal(t, map[string]feed.Counts{"a": once, "b": once, "busy": {}}, index.items)
	left, err := queue.Counts(t.Context(), []string{"a", "busy", "gone"})
	require.NoError(t, err)
	assert.Equal(t, map[string]feed.Counts{"a": once, "busy": once}, left, "what the index does not have is forgotten")

	index.busy, index.down = nil, errors.New("the index is down")
	count("v", "a")
	require.ErrorIs(t, p.Flush(t.Context()), index.down)
	assert.Equal(t, once, index.items["a"])
	index.down = nil // what failed need not wait until its lease ends, nor what changes again
	count("w", "busy")
	require.NoError(t, p.Flush(t.Context()))
	assert.Equal(t, once.Add(noon.Unix()), index.items["a"])
	assert.Equal(t, once.Add(noon.Unix()), index.items["busy"])
}

// TestPublisherRuns waits for what two servers count and either of them publishes.
func TestPublisherRuns(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	index := &shelf{items: map[string]feed.Counts{"a": {}}}
	ctx, stop := context.WithCancel(t.Context())
	var servers sync.WaitGroup
	for _, agent := range []string{"u", "v"} {
		queue := redis.New(client, prefix)
		servers.Go(func() { popularity.NewPublisher(queue, index, popularity.PublisherConfig{}).Run(ctx) })
		require.NoError(t, queue.Count(t.Context(), []popularity.Act{{Agent: popularity.Agent(agent), Item: "a", At: noon.Unix()}}))
	}
	require.Eventually(t, func() bool {
		index.mu.Lock()
		defer index.mu.Unlock()
		return index.items["a"] == feed.Counts{}.Add(noon.Unix()).Add(noon.Unix())
	}, time.Minute, 10*time.Millisecond)
	stop()
	servers.Wait()
}
