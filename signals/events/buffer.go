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
	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/signals"
)

// BufferConfig configures a Buffer. Zero values mean the defaults.
type BufferConfig struct {
	signals.Config               // its queue holds deliveries and acts to be counted
	Every          time.Duration // between two writes; 1s
	Members        int           // agents, authors and events stored while the store is down, clicks counted twice; 200000, of at most about 100 bytes each
}

// Buffer counts impressions and acts, off the request path. It sums them in memory and writes to
// the store every second, acts a second later; while the store is down it keeps summing and
// retries. A process that is killed loses only the counts since its last write, and acts since the
// write before that.
type Buffer struct {
	store   Store
	cfg     BufferConfig
	entries *signals.Buffer[entry]
	writes  *signals.Buffer[struct{}] // a request to write the sums
	stop    context.CancelFunc        // of the ticks

	mu   sync.Mutex // held only briefly
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

// NewBuffer starts a buffer in front of a store; Close ends it. It ignores cancellation of ctx.
func NewBuffer(ctx context.Context, store Store, cfg BufferConfig) *Buffer {
	cfg.Config = cfg.WithDefaults()
	cfg.Every, cfg.Members = cmp.Or(cfg.Every, time.Second), cmp.Or(cfg.Members, 200_000)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	b := &Buffer{store: store, cfg: cfg, stop: stop, sums: newSums(strconv.FormatUint(rand.Uint64(), 36), cfg.Members)}
	b.entries = signals.New(ctx, cfg.Config, b.add)
	b.writes = signals.New(ctx, cfg.Config, func([]struct{}) { b.write(ctx) })
	go func() {
		for range periodic.Every(ctx, cfg.Every) {
			safego.Log(cfg.Logger, "adding up events", b.tick)
		}
	}()
	return b
}

// Delivered counts the docs that an agent was shown. Of refs it counts those from exploration and
// from the sources of home; promoted lists the events for items shown by promotions. It never
// blocks and retains the slices, which must not be changed afterwards.
func (b *Buffer) Delivered(variant, agent string, docs []feed.Doc, refs []feed.Ref, promoted []Event, now time.Time) {
	if len(docs) == 0 {
		return
	}
	queued := b.entries.Put(entry{variant: variant, agent: agent, docs: docs, refs: refs, events: promoted, now: now})
	if !queued {
		metrics.DroppedImpressions.Add(float64(len(docs)))
		metrics.DroppedMembers.Add(float64(len(promoted)))
	}
}

// Acted counts an agent's acts. It never blocks and retains the slice. It returns false if the
// queue is full and nothing was added.
func (b *Buffer) Acted(variant string, acts []Event, now time.Time) bool {
	return b.entries.Put(entry{variant: variant, events: acts, now: now})
}

// Flush returns when everything handed over before is in the store.
func (b *Buffer) Flush(ctx context.Context) error {
	if err := b.entries.Flush(ctx); err != nil {
		return err
	}
	b.all()
	return b.writes.Flush(ctx)
}

// Close writes the remaining counts. It retries a failing store for a second, and until ctx ends at
// most; unwritten counts are dropped and counted as dropped. Nothing may be handed over afterwards.
func (b *Buffer) Close(ctx context.Context) {
	b.stop()
	b.entries.Close(ctx)
	b.all()
	b.writes.Close(ctx)
}

// add sums entries; an entry that fails is lost without affecting the others.
func (b *Buffer) add(entries []entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range entries {
		if len(e.docs) == 0 {
			b.sums.hold(e)
		} else {
			safego.Log(b.cfg.Logger, "adding up events", func() { b.sums.add(e) })
		}
	}
}

// tick sums the held acts and requests a write if there is something to write.
func (b *Buffer) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sums.tick()
	if len(b.sums.bySlot) > 0 {
		b.writes.Put(struct{}{}) // if the queue is full, the next write takes everything
	}
}

// all sums all held acts, for the next write.
func (b *Buffer) all() {
	b.tick()
	b.tick()
}

func (b *Buffer) take() []*Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sums.take()
}

// write writes the sums and retries failures until Close gives up.
func (b *Buffer) write(ctx context.Context) {
	batches := b.take()
	err := b.writes.Try(func(ctx context.Context) (err error) {
		batches, err = b.try(ctx, batches)
		return err
	}, passing, func(err error) {
		b.cfg.Logger.WarnContext(ctx, "events cannot be counted; they are queued and retried", slog.Any("error", err))
	}, func() { b.cfg.Logger.InfoContext(ctx, "events are counted again") })
	if err == nil {
		return
	}
	for _, lost := range batches {
		drop(lost)
	}
	b.cfg.Logger.WarnContext(ctx, "stopped before all events were counted; reports lack the rest", slog.Any("error", err))
}

// try writes each batch once and returns those to retry, with the first error. After a failure,
// later batches of the same variant and day wait too: the store would reject a batch that arrives
// after a later one as a duplicate.
func (b *Buffer) try(ctx context.Context, batches []*Batch) (failed []*Batch, first error) {
	stuck := map[slot]bool{}
	for _, batch := range batches {
		at := slot{batch.Variant, batch.Day}
		if stuck[at] {
			failed = append(failed, batch)
			continue
		}
		err := safego.Run(func() error { return b.store.Add(ctx, batch) })
		switch {
		case err == nil:
		case passing(err):
			stuck[at] = true
			failed, first = append(failed, batch), cmp.Or(first, err)
		default:
			drop(batch)
			b.cfg.Logger.ErrorContext(ctx, "events cannot be counted and were dropped; reports lack them",
				slog.String("variant", batch.Variant), slog.String("day", batch.Day.String()), slog.Any("error", err))
		}
	}
	return failed, first
}

// passing reports whether a retry may help.
func passing(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// drop counts a lost batch.
func drop(b *Batch) {
	metrics.DroppedImpressions.Add(float64(b.Impressions))
	metrics.DroppedMembers.Add(float64(len(b.Agents) + len(b.Authors)))
	for _, e := range b.Events {
		dropped(e)
	}
}
