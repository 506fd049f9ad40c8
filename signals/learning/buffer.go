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

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/signals"
)

// atOnce is how many agents' acts are stored at the same time.
const atOnce = 8

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

// Config tunes a Buffer. Zero values stand for the defaults.
type Config struct {
	signals.Config
	Bytes int        // of the items whose acts wait, as JSON; 64 MiB
	Clock feed.Clock // that acts are stamped by; time.Now
}

// Buffer hands what agents do to the store, as soon as what came before is stored:
// in milliseconds while all is well, and the acts of one agent together. While the
// store is unavailable it holds the acts, as many as it has room for, and tries again. A process that is killed
// loses the acts that wait, and nothing else.
type Buffer struct {
	*signals.Buffer[entry]
	store   Store
	cfg     Config
	waiting atomic.Int64 // bytes of what was taken and is not learned
	rarity  rarity       // only of learn
}

// entry are the acts of one call.
type entry struct {
	agent    string
	halfLife time.Duration
	acts     []Act
	bytes    int64
	at       time.Time
}

// NewBuffer starts a buffer in front of store; Close ends it. ctx's cancellation is
// ignored.
func NewBuffer(ctx context.Context, store Store, cfg Config) *Buffer {
	cfg.Config = cfg.WithDefaults()
	cfg.Bytes = cmp.Or(cfg.Bytes, 64<<20)
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	b := &Buffer{store: store, cfg: cfg}
	b.Buffer = signals.New(ctx, cfg.Config, func(entries []entry) { b.learn(ctx, entries) })
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
	taken := b.Put(e)
	if !taken {
		b.waiting.Add(-e.bytes)
	}
	return taken
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

// learn learns entries, those of one agent together.
func (b *Buffer) learn(ctx context.Context, entries []entry) {
	byAgent := map[string]*lesson{}
	taken := int64(0)
	for _, e := range entries {
		taken += e.bytes
	}
	defer b.waiting.Add(-taken)
	for _, e := range entries {
		b.read(byAgent, e)
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for agent, l := range byAgent {
		group.Go(guard.Func(func() error {
			b.deliver(ctx, agent, l)
			return nil
		}))
	}
	if err := group.Wait(); err != nil { // a panic
		b.cfg.Logger.ErrorContext(ctx, "acts were not learned from", "error", err)
	}
}

// deliver learns from an agent's acts, and tries again while the store is unavailable.
func (b *Buffer) deliver(ctx context.Context, agent string, l *lesson) {
	change := func(known *feed.Learning) bool { return known.Add(l.acts, l.halfLife, b.cfg.Clock()) }
	err := b.Try(func(ctx context.Context) error { return b.store.Learn(ctx, agent, change) },
		func(err error) bool { return errors.Is(err, catalog.ErrUnavailable) },
		func(err error) {
			b.cfg.Logger.WarnContext(ctx, "readers cannot be learned from now; what they do is kept and tried again", slog.Any("error", err))
		}, nil)
	if err != nil {
		metrics.DroppedLearning.Add(float64(len(l.acts)))
		b.cfg.Logger.WarnContext(ctx, "a reader is not learned from what they did", slog.String("agent", agent), slog.Any("error", err))
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
