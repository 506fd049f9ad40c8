// Package learning learns of readers by what they do with what they were shown:
// in the background, a [Buffer] adds acts to what is remembered of an agent
// ([feed.Learning]) and has it stored with the agent's profile.
package learning

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

const (
	batchCalls = 1000 // that are learned together, at most
	atOnce     = 8    // agents whose acts are stored at the same time
)

// Waits between two tries to reach the store.
const (
	firstWait = 100 * time.Millisecond
	mostWait  = 5 * time.Second
)

// Act is an agent's action on an item, with the item as it was then.
type Act struct {
	Kind  feed.ActKind
	Group string
	Doc   feed.Doc
}

// Store is the part of [catalog.Profiles] that keeps what is learned.
type Store interface {
	Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error
}

// BufferConfig tunes a Buffer. Zero values stand for the defaults.
type BufferConfig struct {
	Queue   int           // calls waiting to be learned; 8192
	Bytes   int           // of the items whose acts wait, as JSON; 64 MiB
	Timeout time.Duration // deadline of one write; 5s
	Clock   feed.Clock    // that acts are stamped by; time.Now
	Logger  *slog.Logger  // nil: nothing is logged
}

// Buffer hands what agents do to the store, as soon as what came before is stored:
// in milliseconds while all is well, and the acts of one agent together. While the
// store is unavailable it holds the acts, as many as it has room for, and tries again. A process that is killed
// loses the acts that wait, and nothing else.
type Buffer struct {
	store   Store
	cfg     BufferConfig
	ctx     context.Context // ends when Close gives up
	abandon context.CancelFunc
	queue   chan entry
	waiting atomic.Int64  // bytes of what was taken and is not learned
	quit    chan struct{} // closed by Close
	done    chan struct{} // closed when all is learned or given up
	rarity  rarity        // only of run
}

// entry are the acts of one call, or the wish to know when all before is learned.
type entry struct {
	agent    string
	halfLife time.Duration
	acts     []Act
	bytes    int64
	at       time.Time
	learned  chan struct{}
}

// NewBuffer starts a buffer in front of store; Close ends it. ctx's cancellation is
// ignored.
func NewBuffer(ctx context.Context, store Store, cfg BufferConfig) *Buffer {
	if cfg.Queue == 0 {
		cfg.Queue = 8192
	}
	cfg.Bytes = cmp.Or(cfg.Bytes, 64<<20)
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	b := &Buffer{
		store: store, cfg: cfg, ctx: ctx, abandon: abandon,
		queue: make(chan entry, cfg.Queue), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go b.run()
	return b
}

// Acted learns from an agent's acts on items that they were shown, with a half-life
// (0: the default). It never blocks; false says that there is no room at the moment
// and nothing was taken.
func (b *Buffer) Acted(agent string, halfLife time.Duration, acts []Act, now time.Time) bool {
	e := entry{agent: agent, halfLife: halfLife, acts: acts, bytes: bytesOf(acts), at: now}
	// One call may be larger than there is room for in all: it has to be learned, too.
	if waiting := b.waiting.Add(e.bytes); waiting > int64(b.cfg.Bytes) && waiting > e.bytes {
		b.waiting.Add(-e.bytes)
		return false
	}
	select {
	case b.queue <- e:
		return true
	default:
		b.waiting.Add(-e.bytes)
		return false
	}
}

// actOverhead is about what an act takes beside the item's JSON.
const actOverhead = 128

func bytesOf(acts []Act) int64 {
	n := 0
	for i := range acts {
		n += len(acts[i].Doc.JSON) + actOverhead
	}
	return int64(n)
}

// Flush returns when all that was handed over before is learned.
func (b *Buffer) Flush(ctx context.Context) error {
	learned := make(chan struct{})
	select {
	case b.queue <- entry{learned: learned}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-learned:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close learns what is left, trying each agent once more, until ctx ends at the
// latest. Nothing may be handed over any more.
func (b *Buffer) Close(ctx context.Context) {
	close(b.quit)
	defer context.AfterFunc(ctx, b.abandon)()
	<-b.done
	b.abandon()
}

// run learns until Close, and then what is still queued.
func (b *Buffer) run() {
	defer close(b.done)
	for {
		select {
		case e := <-b.queue:
			b.next(e)
		case <-b.quit:
			for {
				select {
				case e := <-b.queue:
					b.next(e)
				default:
					return
				}
			}
		}
	}
}

// next learns an entry together with what waits behind it.
func (b *Buffer) next(e entry) {
	byAgent := map[string]*lesson{}
	taken := int64(0)
	for n := 0; e.learned == nil; n++ {
		b.read(byAgent, e)
		taken += e.bytes
		if n == batchCalls {
			break
		}
		select {
		case e = <-b.queue:
			continue
		default:
		}
		break
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for agent, l := range byAgent {
		group.Go(func() error {
			b.deliver(agent, l)
			return nil
		})
	}
	_ = group.Wait() // deliver answers no error
	b.waiting.Add(-taken)
	if e.learned != nil {
		close(e.learned)
	}
}

// deliver learns from an agent's acts, and tries again while the store is
// unavailable, until the buffer is closed, but for a last time.
func (b *Buffer) deliver(agent string, l *lesson) {
	change := func(known *feed.Learning) bool { return known.Add(l.acts, l.halfLife, b.cfg.Clock()) }
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = firstWait, mostWait
	for quit, down := b.quit, false; ; down = true {
		ctx, cancel := context.WithTimeout(b.ctx, b.cfg.Timeout)
		err := b.store.Learn(ctx, agent, change)
		cancel()
		if err == nil {
			return
		}
		passing := errors.Is(err, catalog.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
		if !passing || quit == nil || b.ctx.Err() != nil {
			metrics.DroppedLearning.Add(float64(len(l.acts)))
			b.cfg.Logger.WarnContext(b.ctx, "a reader is not learned from what they did", slog.String("agent", agent), slog.Any("error", err))
			return
		}
		if !down {
			b.cfg.Logger.WarnContext(b.ctx, "readers cannot be learned from now; what they do is kept and tried again", slog.Any("error", err))
		}
		select {
		case <-time.After(waits.NextBackOff()):
		case <-quit:
			quit = nil // once more
		case <-b.ctx.Done():
		}
	}
}

// lesson holds the acts of an agent that are learned from together.
type lesson struct {
	halfLife time.Duration
	acts     []feed.LearningAct
}

// read adds an entry to its agent's lesson. An item that cannot be read has nothing
// to be learned.
func (b *Buffer) read(byAgent map[string]*lesson, e entry) {
	l := byAgent[e.agent]
	if l == nil {
		l = &lesson{}
		byAgent[e.agent] = l
	}
	l.halfLife = e.halfLife
	for _, a := range e.acts {
		if it, err := a.Doc.Item(); err == nil {
			l.acts = append(l.acts, feed.LearningAct{Kind: a.Kind, Group: a.Group, Features: b.rarity.features(&it), At: e.at})
		}
	}
}
