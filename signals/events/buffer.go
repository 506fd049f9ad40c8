package events

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/signals"
)

// BufferConfig tunes a Buffer. Zero values stand for the defaults.
type BufferConfig struct {
	signals.Config               // its queue is of deliveries and acts waiting to be counted
	Every          time.Duration // between two writes; 1s
	Members        int           // agents, authors and events kept while the store is down, a click as two; 200000, of some 100 bytes at most
}

// Buffer counts what is shown and done, off the request path. It adds up in
// memory and writes to the store every second, acts a second later; while the store is
// down it goes on adding up and tries again. A process that is killed loses what it
// counted since its last write, of acts since the one before, and nothing else.
type Buffer struct {
	store   Store
	cfg     BufferConfig
	entries *signals.Buffer[entry]
	writes  *signals.Buffer[struct{}] // a wish to write what was added up
	stop    context.CancelFunc        // of the ticks

	mu   sync.Mutex // held for a moment
	sums *sums
}

// entry is one delivery, or the acts of one call, which have no docs.
type entry struct {
	variant, agent string
	docs           []feed.Doc
	refs           []feed.Ref
	events         []Event
	now            time.Time
}

// NewBuffer starts a buffer in front of a store; Close ends it. ctx's
// cancellation is ignored.
func NewBuffer(ctx context.Context, store Store, cfg BufferConfig) *Buffer {
	cfg.Config = cfg.WithDefaults()
	cfg.Every, cfg.Members = cmp.Or(cfg.Every, time.Second), cmp.Or(cfg.Members, 200_000)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	b := &Buffer{store: store, cfg: cfg, stop: stop, sums: newSums(strconv.FormatUint(rand.Uint64(), 36), cfg.Members)}
	b.entries = signals.New(ctx, cfg.Config, b.add)
	b.writes = signals.New(ctx, cfg.Config, func([]struct{}) { b.write(ctx) })
	go repeat.Every(ctx, cfg.Every, func(context.Context) { guard.Log(cfg.Logger, "adding up events", b.tick) })
	return b
}

// Delivered counts what an agent was shown; of refs it takes what exploration and the
// sources of home gave; promoted lists what promotions have shown of it. It never blocks and
// keeps the lists, which must not be changed any more.
func (b *Buffer) Delivered(variant, agent string, docs []feed.Doc, refs []feed.Ref, promoted []Event, now time.Time) {
	if len(docs) > 0 && !b.entries.Put(entry{variant: variant, agent: agent, docs: docs, refs: refs, events: promoted, now: now}) {
		metrics.DroppedImpressions.Add(float64(len(docs)))
		metrics.DroppedMembers.Add(float64(len(promoted)))
	}
}

// Acted counts what an agent did. It never blocks and keeps the list; false says that there
// is no room at the moment and nothing was taken.
func (b *Buffer) Acted(variant string, acts []Event, now time.Time) bool {
	return b.entries.Put(entry{variant: variant, events: acts, now: now})
}

// Flush returns when all that was handed over before is in the store.
func (b *Buffer) Flush(ctx context.Context) error {
	if err := b.entries.Flush(ctx); err != nil {
		return err
	}
	b.all()
	return b.writes.Flush(ctx)
}

// Close writes what is left, trying again for a second where the store fails, until ctx ends
// at the latest; what is not written then is dropped, and counted as that. Nothing may be handed
// over any more.
func (b *Buffer) Close(ctx context.Context) {
	b.stop()
	b.entries.Close(ctx)
	b.all()
	b.writes.Close(ctx)
}

// add adds entries up; one that cannot be is lost alone.
func (b *Buffer) add(entries []entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range entries {
		if len(e.docs) == 0 {
			b.sums.hold(e)
		} else {
			guard.Log(b.cfg.Logger, "adding up events", func() { b.sums.add(e) })
		}
	}
}

// tick adds up what was held, and wishes for a write where there is something to write.
func (b *Buffer) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sums.tick()
	if len(b.sums.bySlot) > 0 {
		b.writes.Put(struct{}{}) // without room there are other wishes, and the next takes all
	}
}

// all adds up all that is held, for the next write.
func (b *Buffer) all() {
	b.tick()
	b.tick()
}

func (b *Buffer) take() []*Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sums.take()
}

// write writes what was added up, and tries again what fails, until Close gives up.
func (b *Buffer) write(ctx context.Context) {
	batches := b.take()
	err := b.writes.Try(func(ctx context.Context) (err error) {
		batches, err = b.try(ctx, batches)
		return err
	}, passing, func(err error) {
		b.cfg.Logger.WarnContext(ctx, "events cannot be counted now; they are kept and tried again", slog.Any("error", err))
	}, func() { b.cfg.Logger.InfoContext(ctx, "events are counted again") })
	if err == nil {
		return
	}
	for _, lost := range batches {
		drop(lost)
	}
	b.cfg.Logger.WarnContext(ctx, "stopped before all events were counted; reports miss them", slog.Any("error", err))
}

// try writes each batch once and returns those to try again, with the first error. After a
// failure the later ones of its variant and day wait too: the store would take a batch
// for one it has had that comes after a later one.
func (b *Buffer) try(ctx context.Context, batches []*Batch) (failed []*Batch, first error) {
	stuck := map[slot]bool{}
	for _, batch := range batches {
		at := slot{batch.Variant, batch.Day}
		if stuck[at] {
			failed = append(failed, batch)
			continue
		}
		err := guard.Run(func() error { return b.store.Add(ctx, batch) })
		switch {
		case err == nil:
		case passing(err):
			stuck[at] = true
			failed, first = append(failed, batch), cmp.Or(first, err)
		default:
			drop(batch)
			b.cfg.Logger.ErrorContext(ctx, "events cannot be counted; reports miss them",
				slog.String("variant", batch.Variant), slog.String("day", batch.Day.String()), slog.Any("error", err))
		}
	}
	return failed, first
}

// passing reports whether trying again may help.
func passing(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// drop counts a batch that is lost.
func drop(b *Batch) {
	metrics.DroppedImpressions.Add(float64(b.Impressions))
	metrics.DroppedMembers.Add(float64(len(b.Agents) + len(b.Authors)))
	for _, e := range b.Events {
		dropped(e)
	}
}
