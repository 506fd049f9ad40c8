package popularity_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/popularity"
	popularityredis "github.com/freshet/freshet/signals/popularity/redis"
)

// shelf is an index with a fixed set of items. It can be down, and some items can be busy with
// concurrent writes.
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

func (s *shelf) set(down error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *shelf) of(id string) feed.Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[id]
}

// TestPublisher writes counts to an index: only those of items that it has, and again those that
// it could not accept.
func TestPublisher(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	queue := popularityredis.New(client, prefix, 0)
	index := &shelf{items: map[string]feed.Counts{"a": {}, "b": {}, "busy": {}}, busy: []string{"busy"}}
	p := popularity.NewPublisher(queue, index, signals.Config{})
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
	index.down = nil // a failed item need not wait for its lease to end, nor does one that changes again
	count("w", "busy")
	require.NoError(t, p.Flush(t.Context()))
	assert.Equal(t, once.Add(noon.Unix()), index.items["a"])
	assert.Equal(t, once.Add(noon.Unix()), index.items["busy"])
}

// TestPublisherTwoServers checks that the acts counted by two servers are published by either of
// them.
func TestPublisherTwoServers(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	index := &shelf{items: map[string]feed.Counts{"a": {}}}
	ctx, stop := context.WithCancel(t.Context())
	var servers sync.WaitGroup
	for _, agent := range []string{"u", "v"} {
		queue := popularityredis.New(client, prefix, 0)
		servers.Go(func() { popularity.NewPublisher(queue, index, signals.Config{}).Run(ctx) })
		require.NoError(t, queue.Count(t.Context(), []popularity.Act{{Agent: popularity.Agent(agent), Item: "a", At: noon.Unix()}}))
	}
	testenv.WaitFor(t, func() bool {
		return index.of("a") == feed.Counts{}.Add(noon.Unix()).Add(noon.Unix())
	}, "both are in the index")
	stop()
	servers.Wait()
}

// line is an in-memory queue of one item.
type line struct {
	popularity.Queue
	mu      sync.Mutex
	waiting int64
	leased  bool     // until Changed or Done
	asked   []string // the lease and turn of each Take
}

func (l *line) Take(_ context.Context, _ int, lease, turn time.Duration) (popularity.Taken, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fmt.Sprint(lease, " ", turn))
	if l.waiting == 0 || l.leased {
		return popularity.Taken{}, nil
	}
	l.leased = true
	return popularity.Taken{Items: []string{"a"}, Counts: map[string]feed.Counts{"a": feed.Counts{}.Add(noon.Unix())}, Waiting: 1}, nil
}

func (l *line) Changed(ctx context.Context, items []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leased = l.leased && (ctx.Err() != nil || len(items) == 0)
	return ctx.Err()
}

func (l *line) Drop(context.Context, []string) error { return nil }

func (l *line) Done(_ context.Context, _ string, items []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting -= int64(len(items))
	l.leased = l.leased && len(items) == 0
	return nil
}

// TestPublisherIndexDown publishes to an index that is down at first.
func TestPublisherIndexDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue, index := &line{waiting: 1}, &shelf{items: map[string]feed.Counts{"a": {}}, down: errors.New("the index is down")}
		var log bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go popularity.NewPublisher(queue, index, signals.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Run(ctx)
		after := func(d time.Duration) int {
			time.Sleep(d)
			synctest.Wait()
			queue.mu.Lock()
			defer queue.mu.Unlock()
			return len(queue.asked)
		}
		assert.Zero(t, after(5*time.Second-1))
		assert.Equal(t, 1, after(1))
		assert.Equal(t, 2, after(5*time.Second))
		assert.Equal(t, 1, strings.Count(log.String(), "cannot be written"), "it is logged once")
		assert.Zero(t, index.of("a"))
		index.set(nil)
		assert.Equal(t, 2, after(5*time.Second-1))
		assert.Zero(t, index.of("a"))
		assert.Equal(t, 3, after(1))
		assert.Equal(t, feed.Counts{}.Add(noon.Unix()), index.of("a"))
		assert.Equal(t, 1, strings.Count(log.String(), "is written to the index again"))
		assert.Zero(t, queue.waiting)
		assert.Equal(t, 4, after(5*time.Second))
		assert.Equal(t, slices.Repeat([]string{"30s 5s"}, 4), queue.asked)
	})
}

// slow is an index whose first call blocks until its deadline.
type slow struct {
	shelf
	awake bool
}

func (s *slow) SetCounts(ctx context.Context, counts map[string]feed.Counts) (unknown, again []string, err error) {
	if !s.awake {
		s.awake = true
		<-ctx.Done()
		return nil, []string{"a"}, ctx.Err()
	}
	return s.shelf.SetCounts(ctx, counts)
}

// TestPublisherIndexTimeout: when the index used up a round's time, the item is retried
// without waiting for its lease to end. Flush waits for a running round of its own server.
func TestPublisherIndexTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue, index := &line{waiting: 1}, &slow{shelf: shelf{items: map[string]feed.Counts{"a": {}}}}
		p := popularity.NewPublisher(queue, index, signals.Config{})
		first := make(chan error, 1)
		go func() { first <- p.Flush(t.Context()) }()
		synctest.Wait()
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, feed.Counts{}.Add(noon.Unix()), index.of("a"))
		require.ErrorIs(t, <-first, context.DeadlineExceeded)
	})
}
