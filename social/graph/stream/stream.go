// Package stream reads the events of other systems from a Redis stream and
// applies them. Any number of servers read it together, as one consumer group.
//
// An event is acknowledged after the store has it, so it may be applied twice and in any order. A
// refused event is moved to the dead stream with its error. While the store is unavailable, events
// stay in the stream.
package stream

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social/graph"
)

// Group is the consumer group of all servers.
const Group = "freshet"

// keep is the retention time of refused events.
const keep = 7 * 24 * time.Hour

// Config tunes a Consumer. Zero fields have the default given with each.
type Config struct {
	Batch  int           // events per read; 100
	Block  time.Duration // how long a read waits for an event, and Close for the read; 1s
	Idle   time.Duration // after this time, events read but not acknowledged by another server are taken over; 1 min
	Leave  time.Duration // how long Close waits for Redis to remove this server from the group; 1s
	Upkeep time.Duration // interval for taking over events and trimming the streams; 10s
	Clock  feed.Clock    // for the age of refused events; time.Now
	Logger *slog.Logger  // nil disables logging
}

func (c Config) withDefaults() Config {
	c.Batch = cmp.Or(c.Batch, 100)
	c.Block = cmp.Or(c.Block, time.Second)
	c.Idle = cmp.Or(c.Idle, time.Minute)
	c.Leave = cmp.Or(c.Leave, time.Second)
	c.Upkeep = cmp.Or(c.Upkeep, 10*time.Second)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Applier applies events. [graph.Applier] implements it.
type Applier interface {
	// Apply returns a result for each event: nil, an error for which [feed.Refused] holds, or the
	// error of an unavailable store. Events may be applied again.
	Apply(ctx context.Context, events []graph.Event) []error
}

// Consumer is one server that reads the stream.
type Consumer struct {
	client     redis.Cmdable
	applier    Applier
	cfg        Config
	log        *slog.Logger
	name       string // of this consumer, unique in its group
	key, dead  string
	ctx        context.Context // of calls to Redis and the store; ends when Close gives up waiting
	abandon    context.CancelFunc
	reading    context.Context // ends when Close is called
	stop       context.CancelFunc
	done       chan struct{} // closed when run has ended
	nextUpkeep time.Time
	unsettled  bool // entries were read that may not have been acknowledged
}

// Start starts reading; Close ends it. The client must allow calls that take [Config.Block], so
// it must not have a circuit breaker. Redis need not be up. ctx's values are used, its cancellation
// is ignored.
func Start(ctx context.Context, client redis.Cmdable, prefix string, a Applier, cfg Config) *Consumer {
	cfg = cfg.withDefaults()
	keys := rediskeys.For(client, prefix)
	c := &Consumer{
		client: client, applier: a, cfg: cfg, log: cfg.Logger, name: consumerName(),
		key: keys.GraphEvents(), dead: keys.DeadGraphEvents(), done: make(chan struct{}),
	}
	c.ctx, c.abandon = context.WithCancel(context.WithoutCancel(ctx))
	c.reading, c.stop = context.WithCancel(c.ctx)
	go c.run()
	return c
}

// consumerName returns a name that shows operators the host and is new at each start. Events left
// by an earlier process of this host are taken over like those of any other consumer.
func consumerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%08x", host, rand.Uint32())
}

// Close stops reading. It waits for the current read and writes, until ctx ends. Events that were
// not applied stay in the stream for another server or the next start.
func (c *Consumer) Close(ctx context.Context) {
	c.stop()
	defer context.AfterFunc(ctx, c.abandon)()
	<-c.done
	c.abandon()
}

// run reads until Close. It retries after failures and logs the first of a series.
func (c *Consumer) run() {
	defer close(c.done)
	defer c.leave()
	waits := newWaits()
	reads := periodic.Failing{Fails: "events of other systems cannot be read; trying again", Again: "events of other systems are read again"}
	for !c.closing() {
		err := safego.Run(c.turn)
		if missing(err) {
			if err = c.create(); err == nil {
				continue
			}
		}
		reads.Tell(c.ctx, c.log, err, "stream", c.key)
		if err == nil {
			waits.Reset()
			continue
		}
		c.unsettled = true
		c.pause(waits.NextBackOff())
	}
}

// newWaits returns the backoff between retries.
func newWaits() *backoff.ExponentialBackOff {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.Multiplier, waits.MaxInterval = 100*time.Millisecond, 2, 5*time.Second
	return waits
}

func (c *Consumer) closing() bool { return c.reading.Err() != nil }

// pause waits, but not beyond Close.
func (c *Consumer) pause(d time.Duration) { _ = periodic.Pause(c.reading, d) }

// missing reports whether err says that the stream or the group does not exist.
func missing(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOGROUP") }

// create creates the stream and its group, which starts at the first entry of the stream.
func (c *Consumer) create() error {
	err := c.client.XGroupCreateMkStream(c.ctx, c.key, Group, "0").Err()
	if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
		return nil // another server was faster
	}
	return err
}

// turn reads once and settles the entries.
func (c *Consumer) turn() error {
	now := time.Now()
	if !now.Before(c.nextUpkeep) {
		if err := c.upkeep(); err != nil {
			return err
		}
		c.nextUpkeep = now.Add(c.cfg.Upkeep)
	}
	if c.unsettled {
		if err := c.resume(); err != nil {
			return err
		}
		c.unsettled = false
	}
	entries, err := c.read(">", c.cfg.Block)
	if err != nil {
		return err
	}
	return c.settle(entries)
}

// read reads new events (after ">"), or events after an id that this consumer has read before
// and not acknowledged.
func (c *Consumer) read(after string, block time.Duration) ([]redis.XMessage, error) {
	streams, err := c.client.XReadGroup(c.ctx, &redis.XReadGroupArgs{
		Group: Group, Consumer: c.name, Streams: []string{c.key, after}, Count: int64(c.cfg.Batch), Block: block,
	}).Result()
	if err != nil || len(streams) == 0 {
		if err == redis.Nil { //nolint:errorlint // a reply, never wrapped
			err = nil
		}
		return nil, err
	}
	return streams[0].Messages, nil
}

// resume settles entries that were delivered to this consumer before: the reply to a read or an
// acknowledgement may have been lost.
func (c *Consumer) resume() error {
	for after := "0"; ; {
		entries, err := c.read(after, -1)
		if err != nil || len(entries) == 0 || c.closing() {
			return err
		}
		if err := c.settle(entries); err != nil {
			return err
		}
		after = entries[len(entries)-1].ID
	}
}
