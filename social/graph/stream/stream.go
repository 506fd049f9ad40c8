// Package stream reads the events of other systems from a Redis stream and
// applies them. Any number of servers read it together, as one consumer group.
//
// An event is acknowledged when the store has it, so it may be applied twice and in any order. One
// that is refused is moved to the dead stream with its error. While the store cannot be told, the
// events wait.
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
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/social/graph"
)

// Group is the consumer group of all servers.
const Group = "freshet"

// keep is how long refused events are kept.
const keep = 7 * 24 * time.Hour

// Config tunes a Consumer. Zero fields stand for their defaults.
type Config struct {
	Batch  int           // events read at once; 100
	Block  time.Duration // how long a read waits for an event, and Close for the read; 1s
	Idle   time.Duration // events that another server has read and not acknowledged for so long are taken over; 1 min
	Leave  time.Duration // how long Close waits for Redis to take this server out of the group; 1s
	Upkeep time.Duration // between two looks at what is left lying and what can be trimmed; 10s
	Clock  feed.Clock    // when refused events are old; default time.Now
	Logger *slog.Logger  // nil: nothing is logged
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
	// Apply answers for each event: nil, an error for which [feed.Refused] holds, or why the
	// store could not be told. Events may be applied again.
	Apply(ctx context.Context, events []graph.Event) []error
}

// Consumer is one server that reads the stream.
type Consumer struct {
	client     redis.Cmdable
	applier    Applier
	cfg        Config
	log        *slog.Logger
	name       string // of this consumer in its group, not used by any other
	key, dead  string
	ctx        context.Context // of the calls of Redis and of the store; ends when Close gives up waiting
	abandon    context.CancelFunc
	reading    context.Context // ends when Close is called
	stop       context.CancelFunc
	done       chan struct{} // closed when nothing is read any more
	nextUpkeep time.Time
	unsettled  bool // something was read that may not have been acknowledged
}

// Start starts reading; Close ends it. The client must allow calls that take
// [Config.Block], so it is not one with a breaker in front. Redis need not be up.
// ctx's values are kept, its cancellation is ignored.
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

// consumerName tells operators which server it is, and is new at each start: what
// an earlier one of this host has left behind is taken over as anybody else's.
func consumerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%08x", host, rand.Uint32())
}

// Close stops reading. It waits for the read and the writes under way, until ctx ends. What could
// not be applied stays in the stream, for another server or the next start.
func (c *Consumer) Close(ctx context.Context) {
	c.stop()
	defer context.AfterFunc(ctx, c.abandon)()
	<-c.done
	c.abandon()
}

// run reads until Close. Whatever fails is tried again, and told once.
func (c *Consumer) run() {
	defer close(c.done)
	defer c.leave()
	waits := newWaits()
	reads := repeat.Failing{Fails: "events of other systems cannot be read; trying again", Again: "events of other systems are read again"}
	for !c.closing() {
		err := guard.Run(c.turn)
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

// newWaits are the pauses between two tries of what is down.
func newWaits() *backoff.ExponentialBackOff {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.Multiplier, waits.MaxInterval = 100*time.Millisecond, 2, 5*time.Second
	return waits
}

func (c *Consumer) closing() bool { return c.reading.Err() != nil }

// pause waits, but not beyond Close.
func (c *Consumer) pause(d time.Duration) { _ = repeat.Pause(c.reading, d) }

// missing reports whether Redis has no such stream or group, or not any more.
func missing(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOGROUP") }

// create makes the stream and its group, which begins with what is there.
func (c *Consumer) create() error {
	err := c.client.XGroupCreateMkStream(c.ctx, c.key, Group, "0").Err()
	if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
		return nil // another server was faster
	}
	return err
}

// turn reads once and settles what it got.
func (c *Consumer) turn() error {
	if now := time.Now(); !now.Before(c.nextUpkeep) {
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

// read reads events that no consumer has (">"), or those this consumer has read after
// an id and not acknowledged.
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

// resume settles what this consumer has read before: the reply to a read may have
// been lost, or an acknowledgement not have arrived.
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
