// Package mirror keeps copies of the past days' filters in this process, for
// [redisbloom.Store] to ask instead of Redis. It reads RedisBloom's own dumps,
// compares each copy with the filter before it is used, and stops until the
// next start where one differs.
package mirror

import (
	"cmp"
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

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

const (
	// settleAfter is how long after midnight a day may still be written to: by
	// a write that began before it, and by servers whose clocks are behind.
	settleAfter = 10 * time.Minute
	// spreadOver is over how long after that servers begin to copy, each at a
	// moment of its own.
	spreadOver = 5 * time.Minute
	// watchEvery is how often the filters in Redis are looked at again,
	// retryAfter how soon after a round that did not come to its end.
	watchEvery, retryAfter = 5 * time.Minute, time.Minute
	tickEvery              = 5 * time.Second
	// copyRate is how many bytes are copied a second. RedisBloom answers in
	// pieces of up to 16 MiB, and Redis does nothing else while it makes one,
	// some 12 ms; many servers may be copying.
	copyRate, copyBurst = 8 << 20, 16 << 20
	// pieceTimeout bounds one piece.
	pieceTimeout = 10 * time.Second
	lookChunk    = 200 // filters looked at in one pipeline
)

// Config says which store is mirrored, and how much of it.
type Config struct {
	KeyPrefix string // the store's
	// Bytes bounds the memory of the copies. Newer days go first.
	Bytes  int64
	Logger *slog.Logger // nil: nothing is logged
}

// Mirror keeps copies of the past days' filters, which do not change any more,
// while [Mirror.Run] runs.
type Mirror struct {
	client  redis.Cmdable
	keys    rediskeys.Keys
	cfg     dedup.Config
	log     *slog.Logger
	budget  int64
	limiter *rate.Limiter
	random  *rand.Rand
	spread  time.Duration // what this process adds to settleAfter
	asked   int           // strings that a day's copies are compared by
	master  func(context.Context, redis.Cmdable, string) (redis.Cmdable, error)

	off  atomic.Bool // a copy was found wrong; all have been dropped
	days atomic.Pointer[map[feed.Day]*mirrorDay]

	mu      sync.Mutex // held by a round
	newest  feed.Day   // of the last round
	next    time.Time  // when the next one is due
	settled time.Time  // when that was decided
}

// mirrorDay is the copies of one day, by shard; nil: none yet.
type mirrorDay struct {
	shards  int
	counted bool // Redis said so; else it had no count, and the configured one is taken
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

// New makes a mirror of the filters of a store with the same cfg, without
// copies yet.
func New(client redis.Cmdable, cfg dedup.Config, tuning Config) *Mirror {
	return &Mirror{
		client: client, keys: rediskeys.For(client, tuning.KeyPrefix), cfg: cfg, log: cmp.Or(tuning.Logger, slog.New(slog.DiscardHandler)),
		budget: tuning.Bytes, limiter: rate.NewLimiter(copyRate, copyBurst),
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		spread: rand.N(spreadOver), asked: verifyAsked, master: masterOf,
	}
}

// find returns the copy with an agent's impressions of a day, and the day's
// number of shards; nil where Redis has to be asked alone.
func (m *Mirror) find(agent string, day feed.Day) (*copied, int) {
	days := m.days.Load()
	if days == nil {
		return nil, 0
	}
	d := (*days)[day]
	if d == nil {
		return nil, 0
	}
	return d.filters[redisbloom.ShardOf(agent, d.shards)].Load(), d.shards
}

// Run keeps the copies up to date until ctx ends. The clock decides which days
// are past.
func (m *Mirror) Run(ctx context.Context, clock feed.Clock) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		if err := m.tick(ctx, clock()); err != nil && ctx.Err() == nil {
			mirrorFailures.Inc()
			m.log.WarnContext(ctx, "the past days' filters could not be copied; Redis is asked about them meanwhile", "error", err)
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
func (m *Mirror) tick(ctx context.Context, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	newest := m.newestPast(now)
	if newest == m.newest && now.Before(m.next) && !now.Before(m.settled) {
		return nil
	}
	m.newest, m.settled, m.next = newest, now, now.Add(retryAfter)
	err := m.round(ctx, now)
	if err == nil {
		m.next = now.Add(watchEvery)
	}
	return err
}

// newestPast is the latest day that is not written to any more.
func (m *Mirror) newestPast(now time.Time) feed.Day {
	return feed.DayOf(now.Add(-settleAfter-m.spread)) - 1
}

// load copies one filter, compares the copy, and puts it in place.
func (m *Mirror) load(ctx context.Context, sl slot, before look) error {
	client, err := m.master(ctx, m.client, sl.key)
	if err != nil {
		return err
	}
	timer := prometheus.NewTimer(mirrorLoad)
	c := copier{client: client, key: sl.key, pace: func(n int) error { return m.limiter.WaitN(ctx, min(n, copyBurst)) }}
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
	m.log.DebugContext(ctx, "copied a past day's filter", slog.String("filter", sl.key),
		slog.Int64("bytes", f.bytes), slog.Int("members_compared", in), slog.Int("others_compared", out))
	return nil
}

// masterOf is the server that holds a key, since its replicas may lack what was
// added last, with time for long answers. It has none of the client's hooks: a
// copy that is slow does not count as a server that is down.
func masterOf(ctx context.Context, client redis.Cmdable, key string) (redis.Cmdable, error) {
	master, _, err := rediskeys.MasterOf(ctx, client, key)
	if err != nil {
		return nil, err
	}
	return rediskeys.WithTimeout(master, pieceTimeout), nil
}

// turnOff drops all copies until the next start: where one is wrong, the others
// may be.
func (m *Mirror) turnOff(ctx context.Context, key string, why error) {
	m.off.Store(true)
	m.days.Store(nil)
	mirrorMismatches.Inc()
	m.log.WarnContext(ctx, "the past days' filters cannot be mirrored: Redis is asked about every day, as without dedup.mirror, until the next start",
		slog.String("filter", key), slog.Any("error", why))
}
