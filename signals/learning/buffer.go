// Package learning learns readers' interests from their acts on items they were shown. A [Buffer]
// adds acts in the background to the learned data of an agent ([feed.Learning]) and stores it with
// the agent's profile.
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
	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/signals"
)

// atOnce is the number of agents whose acts are stored concurrently.
const atOnce = 8

// Act is an agent's action on an item, with the item as it was at that time.
type Act struct {
	Kind  feed.ActKind
	Group string
	Doc   feed.Doc
	Undo  bool // the act was taken back; Doc is ignored
}

// Store is the part of [catalog.Profiles] that stores learned data.
type Store interface {
	Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error
}

// Config configures a Buffer. Zero values mean the defaults.
type Config struct {
	signals.Config
	Bytes int        // of the items of waiting acts, as JSON; 64 MiB
	Clock feed.Clock // clock for timestamps of acts; time.Now
}

// Buffer passes agents' acts to the store as soon as earlier ones are stored: normally within
// milliseconds, and the acts of one agent together. While the store is unavailable it holds as many
// acts as it has space for, and retries. A process that is killed loses only the acts that wait.
type Buffer struct {
	*signals.Buffer[entry]
	store   Store
	cfg     Config
	waiting atomic.Int64 // bytes accepted and not yet learned
	rarity  Rarity       // used only by learn
}

// entry holds the acts of one call.
type entry struct {
	agent    string
	halfLife time.Duration
	acts     []Act
	bytes    int64
	at       time.Time
}

// NewBuffer starts a buffer in front of store; Close ends it. It ignores cancellation of ctx.
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

// Acted learns from an agent's acts on items that they were shown, with a half-life (0 for the
// default). It never blocks. It returns false if there is no space and nothing was added.
func (b *Buffer) Acted(agent string, halfLife time.Duration, acts []Act, now time.Time) bool {
	e := entry{agent: agent, halfLife: halfLife, acts: acts, bytes: bytesOf(acts), at: now}
	// A single call larger than the whole limit is accepted if nothing else waits: it has to be
	// learned, too.
	waiting := b.waiting.Add(e.bytes)
	if waiting > int64(b.cfg.Bytes) && waiting > e.bytes {
		b.waiting.Add(-e.bytes)
		return false
	}
	taken := b.Put(e)
	if !taken {
		b.waiting.Add(-e.bytes)
	}
	return taken
}

// actOverhead is the approximate size of an act in addition to the item's JSON.
const actOverhead = 128

func bytesOf(acts []Act) int64 {
	n := 0
	for i := range acts {
		n += len(acts[i].Doc.JSON) + actOverhead
	}
	return int64(n)
}

// learn learns from entries, grouped by agent.
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
		group.Go(safego.Func(func() error {
			b.deliver(ctx, agent, l)
			return nil
		}))
	}
	if err := group.Wait(); err != nil { // a panic
		b.cfg.Logger.ErrorContext(ctx, "acts were dropped without being learned, because of a panic", "error", err)
	}
}

// deliver learns from an agent's acts and retries while the store is unavailable.
func (b *Buffer) deliver(ctx context.Context, agent string, l *lesson) {
	change := func(known *feed.Learning) bool { return known.Add(l.acts, l.halfLife, b.cfg.Clock()) }
	err := b.Try(func(ctx context.Context) error { return b.store.Learn(ctx, agent, change) },
		func(err error) bool { return errors.Is(err, catalog.ErrUnavailable) },
		func(err error) {
			b.cfg.Logger.WarnContext(ctx, "learning is unavailable; acts are queued and retried", slog.Any("error", err))
		}, nil)
	if err != nil {
		metrics.DroppedLearning.Add(float64(len(l.acts)))
		b.cfg.Logger.WarnContext(ctx, "an agent's acts were dropped without being learned", slog.String("agent", agent), slog.Any("error", err))
	}
}

// lesson holds an agent's acts that are learned together.
type lesson struct {
	halfLife time.Duration
	acts     []feed.LearningAct
}

// read adds an entry to its agent's lesson. Items that cannot be parsed are skipped.
func (b *Buffer) read(byAgent map[string]*lesson, e entry) {
	l := byAgent[e.agent]
	if l == nil {
		l = &lesson{}
		byAgent[e.agent] = l
	}
	l.halfLife = e.halfLife
	for _, a := range e.acts {
		if a.Undo {
			l.acts = append(l.acts, feed.LearningAct{Kind: a.Kind, Group: a.Group, At: e.at, Undo: true})
			continue
		}
		if it, err := a.Doc.Item(); err == nil {
			l.acts = append(l.acts, feed.LearningAct{Kind: a.Kind, Group: a.Group, Features: b.rarity.Features(&it), At: e.at})
		}
	}
}
