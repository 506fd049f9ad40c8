package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	timelineredis "github.com/freshet/freshet/social/timeline/redis"
)

// server is a process that uses the lists of a Redis.
type server struct {
	*testing.T
	clock    *clock
	client   redis.UniversalClient
	prefix   string
	queue    *waiting
	late     *Completeness
	restored *DataCheck
	log      *bytes.Buffer
	again    []time.Duration // the times after noon since which posts were delivered again
	fails    error           // the error of delivering again
}

func newServer(t *testing.T, client redis.UniversalClient, prefix string) *server {
	s := &server{T: t, clock: &clock{noon}, client: client, prefix: prefix, queue: &waiting{}, log: &bytes.Buffer{}}
	s.late = NewCompleteness(s.queue, s.clock.Now)
	stamps := timelineredis.NewStamps(client, prefix)
	s.restored = NewDataCheck(stamps, s.lost, s.late, s.clock.Now, slog.New(slog.NewTextHandler(s.log, nil)))
	return s
}

// first returns the first server on a new Redis, after it has repaired the lists unknown to it.
func first(t *testing.T) *server {
	client, prefix := testenv.Redis(t)
	s := newServer(t, client, prefix)
	s.restored.Begin(t.Context())
	require.False(t, s.late.Incomplete())
	return s
}

// TestNewInstallationNoWarning checks that there is no warning without lists that could lack
// posts.
func TestNewInstallationNoWarning(t *testing.T) {
	t.Parallel()
	assert.Empty(t, first(t).log.String())
}

func (s *server) lost(_ context.Context, since time.Time) (int, error) {
	s.again = append(s.again, since.Sub(noon))
	return 1, s.fails
}

// stamp gives the Redis other data than this server wrote to, as after a restore. since and at are
// the times after noon of its first and its last stamp.
func (s *server) stamp(since, at time.Duration) {
	text := fmt.Sprintf("another %d %d", noon.Add(since).UnixMilli(), noon.Add(at).UnixMilli())
	require.NoError(s, s.client.Set(s.Context(), s.key(), text, time.Hour).Err())
	s.restored.known[s.key()] = "another"
}

func (s *server) key() string { return rediskeys.For(s.client, s.prefix).Stamps()[0] }

// list creates a list, and there reports whether it exists.
func (s *server) list() {
	require.NoError(s, s.client.ZAdd(s.Context(), s.prefix+"timeline:u", redis.Z{Score: 1, Member: "post"}).Err())
}

func (s *server) there() bool {
	n, err := s.client.Exists(s.Context(), s.prefix+"timeline:u").Result()
	require.NoError(s, err)
	return n == 1
}

// right reports whether the current data of Redis is known to be complete.
func (s *server) right() bool {
	list, err := s.restored.stamps.Look(s.Context(), s.clock.Now())
	require.NoError(s, err)
	return !slices.ContainsFunc(list, func(st timelineredis.Stamp) bool { return s.restored.known[st.Key] != st.Data })
}

// TestUnknownDataDropsLists checks that the first server to find unknown data drops its
// lists, and that the next server accepts the data.
func TestUnknownDataDropsLists(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	a := newServer(t, client, prefix)
	a.list()
	a.restored.Check(t.Context())
	assert.True(t, a.late.Incomplete())
	assert.True(t, a.there(), "looking changes nothing")
	assert.False(t, a.right())
	a.restored.Begin(t.Context())
	assert.False(t, a.there())
	assert.False(t, a.late.Incomplete())
	assert.True(t, a.right())
	assert.Contains(t, a.log.String(), "lists=1")
	assert.Empty(t, a.again)

	a.list()
	b := newServer(t, client, prefix)
	b.restored.Begin(t.Context())
	assert.True(t, b.right())
	assert.True(t, b.there())
	assert.False(t, b.late.Incomplete())
}

// TestRestoredRedisRedelivers checks that posts since the stamp are delivered again, and
// that lists stay late until that is done. Lists older than the history of the queue are dropped.
func TestRestoredRedisRedelivers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at      time.Duration
		dropped bool
	}{
		"a moment ago":               {-time.Second, false},
		"as long as the queue knows": {-retainedFor, false},
		"longer than that":           {-retainedFor - time.Second, true},
		"a clock is a little ahead":  {ahead, false},
		"tomorrow":                   {24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := first(t)
			s.list()
			s.stamp(-time.Hour, c.at)
			s.queue.oldest = time.Minute
			s.restored.Check(t.Context())
			require.True(t, s.late.HasOldData(), "it is noticed")
			s.restored.repair(t.Context())
			assert.True(t, s.right())
			assert.Equal(t, c.dropped, !s.there())
			assert.Equal(t, c.dropped, !s.late.Incomplete())
			if c.dropped {
				assert.Empty(t, s.again)
				return
			}
			assert.Equal(t, []time.Duration{min(c.at, 0)}, s.again)
			assert.True(t, s.late.HasOldData())
			s.queue.oldest = 0
			s.late.Check(t.Context())
			assert.False(t, s.late.Incomplete())
		})
	}
}

// TestRepairFailure checks that the repair is repeated, and that the lists are not trusted
// before it succeeds.
func TestRepairFailure(t *testing.T) {
	t.Parallel()
	s := first(t)
	s.stamp(-time.Hour, -time.Second)
	s.fails = errors.New("no connection")
	for range 2 {
		s.restored.Check(t.Context())
		s.restored.repair(t.Context())
		s.late.Check(t.Context())
		assert.True(t, s.late.HasOldData())
		assert.False(t, s.right())
	}
	s.fails = nil
	s.restored.Check(t.Context())
	s.restored.repair(t.Context())
	s.late.Check(t.Context())
	assert.False(t, s.late.Incomplete())
	assert.Len(t, s.again, 3)
}

// TestStampDeleted checks that a deleted stamp does not mean other data: only posts
// accepted at that moment are delivered again.
func TestStampDeleted(t *testing.T) {
	t.Parallel()
	s := first(t)
	s.list()
	require.NoError(t, s.client.Del(t.Context(), s.key()).Err())
	s.restored.Check(t.Context())
	s.restored.repair(t.Context())
	assert.True(t, s.there())
	assert.Equal(t, []time.Duration{0}, s.again)
}

// TestRepairedByOtherServer checks that this server still delivers again the posts that it
// has written to other data since the repair.
func TestRepairedByOtherServer(t *testing.T) {
	t.Parallel()
	a := first(t)
	b := newServer(t, a.client, a.prefix)
	b.restored.Begin(t.Context())
	for _, s := range []*server{a, b} {
		s.clock.advance(time.Minute)
		s.stamp(-time.Hour, 30*time.Second)
	}
	for _, s := range []*server{a, b} {
		s.restored.Check(t.Context())
		s.restored.repair(t.Context())
		assert.True(t, s.right())
	}
	assert.Equal(t, []time.Duration{30 * time.Second}, a.again)
	assert.Equal(t, []time.Duration{time.Minute}, b.again, "since the other one has known it")
}

// TestRedisDown checks that lists are late, and not trusted until Redis answers.
func TestRedisDown(t *testing.T) {
	t.Parallel()
	down := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = down.Close() })
	s := newServer(t, down, "")
	s.restored.Begin(t.Context())
	s.late.Check(t.Context())
	assert.True(t, s.late.Incomplete())
	assert.False(t, s.late.HasOldData(), "it is not known to be another")
}

// TestDistrustedListsDropped distrusts lists that are right: until a server has dropped them, timelines are
// read from the social store; then the data is right again.
func TestDistrustedListsDropped(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	a, b := newServer(t, client, prefix), newServer(t, client, prefix)
	a.restored.Begin(t.Context())
	b.restored.Begin(t.Context())
	a.list()
	require.NoError(t, a.restored.stamps.Distrust(t.Context()))
	for _, s := range []*server{a, b} {
		s.restored.Check(t.Context())
		assert.True(t, s.late.Incomplete())
	}
	assert.True(t, a.there())
	a.restored.Begin(t.Context())
	assert.False(t, a.there())
	assert.False(t, a.late.Incomplete())
	a.list()
	b.restored.Begin(t.Context())
	assert.True(t, b.right())
	assert.False(t, b.late.Incomplete())
}
