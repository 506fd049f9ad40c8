package redisbloom

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"

	"github.com/freshet/freshet/feed"
)

const (
	// mirrorSettle is how long after midnight a day may still be written to: by
	// a write that began before it, and by servers whose clocks are behind.
	mirrorSettle = 10 * time.Minute
	// mirrorSpread is over how long after that servers begin to copy, each at a
	// moment of its own.
	mirrorSpread = 5 * time.Minute
	// mirrorWatch is how often the filters in Redis are looked at again,
	// mirrorRetry how soon after a round that did not come to its end.
	mirrorWatch, mirrorRetry = 5 * time.Minute, time.Minute
	mirrorTick               = 5 * time.Second
	// mirrorRate is how many bytes are copied a second. RedisBloom answers in
	// pieces of up to 16 MiB, and Redis does nothing else while it makes one,
	// some 12 ms; many servers may be copying.
	mirrorRate, mirrorBurst = 8 << 20, 16 << 20
	// mirrorTimeout bounds one piece.
	mirrorTimeout = 10 * time.Second
	lookChunk     = 200 // filters looked at in one pipeline
)

// mirror keeps copies of the past days' filters, which nobody writes to any
// more, so that a check need not ask Redis about them.
type mirror struct {
	s       *Store
	budget  int64
	limiter *rate.Limiter
	random  *rand.Rand
	spread  time.Duration // what this process adds to mirrorSettle
	asked   int           // strings that a day's copies are compared by
	master  func(context.Context, redis.UniversalClient, string) (redis.Cmdable, error)

	off  atomic.Bool // a copy was found wrong; there is none any more
	days atomic.Pointer[map[feed.Day]*mirrorDay]

	mu      sync.Mutex // held by a round
	newest  feed.Day   // of the last round
	next    time.Time  // when the next one is due
	settled time.Time  // when that was decided
}

// mirrorDay is the copies of one day, by shard; nil: none yet.
type mirrorDay struct {
	shards  int
	filters []atomic.Pointer[copied]
}

// copied is a copy that has been compared with its filter.
type copied struct {
	*exactFilter
	look look // of the filter when it was copied
	// also: the filter in Redis has another content since, which the copy may
	// lack. Both are asked.
	also bool
}

func newMirror(s *Store, budget int64) *mirror {
	return &mirror{
		s: s, budget: budget, limiter: rate.NewLimiter(mirrorRate, mirrorBurst),
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		spread: rand.N(mirrorSpread), asked: verifyAsked, master: masterOf,
	}
}

// find returns the copy that answers for an agent on a day, and the day's
// number of shards; nil where Redis has to be asked alone.
func (m *mirror) find(agent string, day feed.Day) (*copied, int) {
	if m == nil {
		return nil, 0
	}
	days := m.days.Load()
	if days == nil {
		return nil, 0
	}
	d := (*days)[day]
	if d == nil {
		return nil, 0
	}
	return d.filters[shardOf(agent, d.shards)].Load(), d.shards
}

// RunMirror keeps the copies of the past days, if the store was made with room
// for them, until ctx ends. The clock decides which days are past.
func (s *Store) RunMirror(ctx context.Context, clock feed.Clock) {
	if s.mirror == nil {
		return
	}
	tick := time.NewTicker(mirrorTick)
	defer tick.Stop()
	for {
		if err := s.mirror.tick(ctx, clock()); err != nil && ctx.Err() == nil {
			mirrorFailures.Inc()
			s.log.WarnContext(ctx, "the past days' filters could not be copied; Redis is asked about them meanwhile", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tick does a round if one is due: a day has ended, the last round failed, or
// it is time to look at the filters again.
func (m *mirror) tick(ctx context.Context, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	newest := m.newestPast(now)
	if newest == m.newest && now.Before(m.next) && !now.Before(m.settled) {
		return nil
	}
	m.newest, m.settled, m.next = newest, now, now.Add(mirrorRetry)
	err := m.round(ctx, now)
	if err == nil {
		m.next = now.Add(mirrorWatch)
	}
	return err
}

// newestPast is the latest day that nobody writes to any more.
func (m *mirror) newestPast(now time.Time) feed.Day {
	return feed.DayOf(now.Add(-mirrorSettle-m.spread)) - 1
}

// load copies one filter, compares the copy, and puts it in place.
func (m *mirror) load(ctx context.Context, sl slot, before look) error {
	client, err := m.master(ctx, m.s.client, sl.key)
	if err != nil {
		return err
	}
	timer := prometheus.NewTimer(mirrorLoad)
	c := copier{client: client, key: sl.key, pace: func(n int) error { return m.limiter.WaitN(ctx, min(n, mirrorBurst)) }}
	f, err := c.dump(ctx, before)
	in, out := 0, 0
	if err == nil && before.there {
		in, out, err = c.verify(ctx, f, m.asked/min(sl.of, verifyShards), m.random)
		if errors.Is(err, errMismatch) {
			err = c.unless(ctx, before, err)
		}
	}
	if errors.Is(err, errMismatch) || errors.Is(err, errLayout) {
		m.turnOff(ctx, sl.key, err)
		return nil
	}
	if err != nil {
		return err
	}
	sl.place.Store(&copied{exactFilter: f, look: before})
	timer.ObserveDuration()
	m.s.log.DebugContext(ctx, "copied a past day's filter", slog.String("filter", sl.key),
		slog.Int64("bytes", f.bytes), slog.Int("members_compared", in), slog.Int("others_compared", out))
	return nil
}

// masterOf is the server that holds a key, since its replicas may lack what was
// added last, with time for long answers. It has none of the client's hooks: a
// copy that is slow does not count as a server that is down.
func masterOf(ctx context.Context, client redis.UniversalClient, key string) (redis.Cmdable, error) {
	switch client := client.(type) {
	case *redis.ClusterClient:
		node, err := client.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		return node.WithTimeout(mirrorTimeout), nil
	case *redis.Client:
		return client.WithTimeout(mirrorTimeout), nil
	}
	return client, nil
}

// turnOff lets all copies go for good: what one of them does not get right,
// the others may not either.
func (m *mirror) turnOff(ctx context.Context, key string, why error) {
	m.off.Store(true)
	m.days.Store(nil)
	mirrorMismatches.Inc()
	m.s.log.WarnContext(ctx, "the past days' filters cannot be mirrored: Redis is asked about every day, as without dedup.mirror, until the next start",
		slog.String("filter", key), slog.Any("error", why))
}
