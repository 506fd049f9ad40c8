package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// wakeBytes is the maximum size of a message. More names are sent in several, and a larger
	// message, which is not ours, is ignored.
	wakeBytes = 32 << 10
	// wakesWaiting is the maximum number of names that wait to be sent, while Redis is slow.
	wakesWaiting = 20_000
	// wakesRead is how many bytes of messages are read per second. The rest is ignored, so that
	// nobody who may publish can keep a server busy. A name takes about 20.
	wakesRead = 4 << 20
)

// PubSub is a client that can also subscribe to channels. Every client of the library is one.
type PubSub interface {
	redis.Cmdable
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// wakePauses are the intervals of [Wakes]; tests shorten them.
type wakePauses struct {
	retry  time.Duration // after an attempt to send or to receive has failed
	silent time.Duration // without a message, until Redis must answer whether it is there; and for the answer
	life   time.Duration // of a subscription: its address may lead to another server by then
}

// Wakes implements [timeline.Wakes] with one channel of Redis, for any number of servers. A user
// who has no right to it sends or receives nothing. It is safe for concurrent use.
type Wakes struct {
	client  PubSub
	channel string
	clock   feed.Clock
	log     *slog.Logger
	pauses  wakePauses

	mu      sync.Mutex
	waiting []string // lines of the next messages
	ready   chan struct{}

	sends, receives refusals
}

var _ timeline.Wakes = (*Wakes)(nil)

// NewWakes returns wakes of the lists with the same KeyPrefix; of the configuration it also uses Clock.
// It makes no call to Redis; [Wakes.Run] sends what is given to Send.
func NewWakes(client PubSub, cfg Config, log *slog.Logger) *Wakes {
	const without = ": streams report new posts when they look, every two seconds"
	return &Wakes{
		client: client, channel: rediskeys.For(client, cfg.KeyPrefix).Wakes(), clock: cfg.Clock, log: log, ready: make(chan struct{}, 1),
		pauses:   wakePauses{retry: 2 * time.Second, silent: 15 * time.Second, life: 5 * time.Minute},
		sends:    refusals{failing: periodic.Failing{Fails: "Redis refuses to publish wakes" + without, Again: "Redis publishes wakes again"}},
		receives: refusals{failing: periodic.Failing{Fails: "Redis refuses a subscription to wakes" + without, Again: "Redis accepts the subscription to wakes again"}},
	}
}

// refusals logs when Redis begins to refuse something. That it is down is logged elsewhere.
type refusals struct {
	mu      sync.Mutex
	failing periodic.Failing
}

func (r *refusals) tell(ctx context.Context, log *slog.Logger, err error) {
	if err != nil && !rediskeys.Refused(err) {
		log.DebugContext(ctx, "wakes were lost", "error", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failing.Tell(ctx, log, rediskeys.Advise(err))
}

// The lines of a message begin with the kind of the list that they name. Lines of other kinds are
// ignored.
const (
	wakesTimeline = "t"
	wakesOutbox   = "o"
	wakesInbox    = "n"
)

// Send implements [timeline.Wakes].
func (w *Wakes) Send(wake timeline.Wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wake.Names() == 0 || len(w.waiting)+wake.Names() > wakesWaiting {
		return
	}
	for _, agent := range wake.Agents {
		w.waiting = append(w.waiting, wakesTimeline+agent)
	}
	for _, author := range wake.Authors {
		w.waiting = append(w.waiting, wakesOutbox+author)
	}
	for _, agent := range wake.Inboxes {
		w.waiting = append(w.waiting, wakesInbox+agent)
	}
	select {
	case w.ready <- struct{}{}:
	default: // it is ready already
	}
}

// Run sends until ctx ends.
func (w *Wakes) Run(ctx context.Context) {
	for {
		select {
		case <-w.ready:
		case <-ctx.Done():
			return
		}
		lines := w.take()
		if len(lines) == 0 { // the previous message had them; that says nothing of Redis
			continue
		}
		err := w.publish(ctx, lines)
		w.sends.tell(ctx, w.log, err)
		if err != nil && periodic.Pause(ctx, w.pauses.retry) != nil {
			return
		}
	}
}

// take returns what is waiting.
func (w *Wakes) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.waiting
	w.waiting = nil
	return lines
}

func (w *Wakes) publish(ctx context.Context, lines []string) error {
	for len(lines) > 0 {
		n, size := 0, 0
		for n < len(lines) && (n == 0 || size+len(lines[n]) < wakeBytes) {
			size += len(lines[n]) + 1
			n++
		}
		if err := w.client.Publish(ctx, w.channel, strings.Join(lines[:n], "\n")).Err(); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// Try sends a wake of nobody, and subscribes for a moment. The error says what an operator can do.
func (w *Wakes) Try(ctx context.Context) error {
	if err := w.client.Publish(ctx, w.channel, "").Err(); err != nil {
		return fmt.Errorf("publish: %w", rediskeys.Advise(err))
	}
	sub := w.client.Subscribe(ctx, w.channel)
	defer func() { _ = sub.Close() }()
	if _, err := sub.ReceiveTimeout(ctx, w.pauses.silent); err != nil {
		return fmt.Errorf("subscribe: %w", rediskeys.Advise(err))
	}
	return nil
}

// Receive implements [timeline.Wakes].
func (w *Wakes) Receive(ctx context.Context, f func(timeline.Wake)) {
	for ctx.Err() == nil {
		err := safego.Run(func() error { return w.subscribed(ctx, f) })
		if err == nil {
			continue
		}
		w.receives.tell(ctx, w.log, err)
		pause := w.pauses.retry
		if rediskeys.Refused(err) {
			pause = w.pauses.silent // each attempt takes a new connection
		}
		_ = periodic.Pause(ctx, pause) // the loop checks ctx
	}
}

// subscribed receives on one subscription. It returns nil when that is old or ctx has ended.
func (w *Wakes) subscribed(ctx context.Context, f func(timeline.Wake)) error {
	ctx, cancel := context.WithTimeout(ctx, w.pauses.life)
	defer cancel()
	sub := w.client.Subscribe(ctx, w.channel)
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })() // a read does not end with ctx
	defer func() { _ = sub.Close() }()
	asked := false
	var left allowance
	for {
		got, err := sub.ReceiveTimeout(ctx, w.pauses.silent)
		var timeout net.Error
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			asked = false
		case errors.As(err, &timeout) && timeout.Timeout() && !asked:
			asked = true
			if err := sub.Ping(ctx); err != nil {
				return err
			}
		default:
			return err
		}
		switch got := got.(type) {
		case *redis.Subscription:
			w.receives.tell(ctx, w.log, nil)
		case *redis.Message:
			if len(got.Payload) <= wakeBytes && left.take(len(got.Payload), w.clock()) {
				f(parseWake(got.Payload))
			}
		}
	}
}

// allowance limits the bytes that are read within a second.
type allowance struct {
	until time.Time
	left  int
}

func (a *allowance) take(n int, now time.Time) bool {
	left := a.until.Sub(now)
	if left <= 0 || left > time.Second { // or the clock was set back
		a.until, a.left = now.Add(time.Second), wakesRead
	}
	a.left -= n
	return a.left >= 0
}

func parseWake(text string) (wake timeline.Wake) {
	for line := range strings.SplitSeq(text, "\n") {
		if name, ok := strings.CutPrefix(line, wakesTimeline); ok {
			wake.Agents = append(wake.Agents, name)
		} else if name, ok := strings.CutPrefix(line, wakesOutbox); ok {
			wake.Authors = append(wake.Authors, name)
		} else if name, ok := strings.CutPrefix(line, wakesInbox); ok {
			wake.Inboxes = append(wake.Inboxes, name)
		}
	}
	return wake
}
