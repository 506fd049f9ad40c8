package events

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/metrics"
)

// BufferConfig tunes a Buffer. Zero values stand for the defaults.
type BufferConfig struct {
	Every   time.Duration // between two writes; 1s
	Queue   int           // deliveries and acts waiting to be counted; 8192
	Members int           // agents, authors, explored and promoted impressions and acts kept while the store is down; 200000, some 40 bytes each
	Timeout time.Duration // deadline of one write; 5s
	Logger  *slog.Logger  // nil: nothing is logged
}

// WithDefaults fills the zero values in.
func (c BufferConfig) WithDefaults() BufferConfig {
	c.Every = cmp.Or(c.Every, time.Second)
	c.Queue = cmp.Or(c.Queue, 8192)
	c.Members = cmp.Or(c.Members, 200_000)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Buffer counts what is shown and done, off the request path. It adds up in
// memory and writes to the store every second, acts a second later; while the store is
// down it goes on adding up and tries again. A process that is killed loses what it
// counted since its last write, of acts since the one before, and nothing else.
type Buffer struct {
	store   Store
	cfg     BufferConfig
	sender  string
	ctx     context.Context // ends when Close gives up
	abandon context.CancelFunc

	queue chan entry
	quit  chan struct{} // closed by Close
	late  chan struct{} // closed when Close has waited for a failing store
	jobs  chan job      // to the writer, one at a time
	idle  chan struct{} // the writer waits for a job
	done  chan struct{} // closed when all is written or given up
}

// entry is one delivery, the acts of one call, or the wish to be written soon.
type entry struct {
	variant, agent string
	docs           []feed.Doc
	refs           []feed.Ref
	acts           []Act
	promoted       []Promoted
	promotedActs   []PromotedAct
	now            time.Time
	written        chan struct{}
}

// NewBuffer starts a buffer in front of a store; Close ends it. ctx's
// cancellation is ignored.
func NewBuffer(ctx context.Context, store Store, cfg BufferConfig) *Buffer {
	cfg = cfg.WithDefaults()
	ctx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	b := &Buffer{
		store: store, cfg: cfg, ctx: ctx, abandon: abandon,
		sender: strconv.FormatUint(rand.Uint64(), 36),
		queue:  make(chan entry, cfg.Queue), quit: make(chan struct{}), late: make(chan struct{}),
		jobs: make(chan job, 1), idle: make(chan struct{}, 1), done: make(chan struct{}),
	}
	b.idle <- struct{}{}
	go b.collect()
	go b.write()
	return b
}

// Delivered counts what an agent was shown; of refs it takes what exploration and the
// sources of home gave. It never blocks and keeps both lists, which must not be changed
// any more.
func (b *Buffer) Delivered(variant, agent string, docs []feed.Doc, refs []feed.Ref, now time.Time) {
	if len(docs) == 0 {
		return
	}
	select {
	case b.queue <- entry{variant: variant, agent: agent, docs: docs, refs: refs, now: now}:
	default:
		metrics.DroppedImpressions.Add(float64(len(docs)))
	}
}

// Acted counts what an agent did. It never blocks; false says that there is no
// room at the moment and nothing was taken.
func (b *Buffer) Acted(variant string, acts []Act, now time.Time) bool {
	select {
	case b.queue <- entry{variant: variant, acts: acts, now: now}:
		return true
	default:
		return false
	}
}

// Promoted counts what promotions have shown, and acts on what they may have shown. It
// never blocks and keeps both lists; false says that there is no room at the moment and
// nothing was taken.
func (b *Buffer) Promoted(variant string, shown []Promoted, acts []PromotedAct, now time.Time) bool {
	select {
	case b.queue <- entry{variant: variant, promoted: shown, promotedActs: acts, now: now}:
		return true
	default:
		metrics.DroppedMembers.Add(float64(len(shown)))
		return false
	}
}

// Flush returns when all that was handed over before is in the store.
func (b *Buffer) Flush(ctx context.Context) error {
	written := make(chan struct{})
	select {
	case b.queue <- entry{written: written}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-written:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes what is left, until ctx ends at the latest, and for a second at
// most where the store fails; what is not written then is dropped, and counted
// as that. Nothing may be handed over any more.
func (b *Buffer) Close(ctx context.Context) {
	close(b.quit)
	giveUp := time.AfterFunc(closingWait, func() { close(b.late) })
	defer giveUp.Stop()
	defer context.AfterFunc(ctx, b.abandon)()
	<-b.done
	b.abandon()
}

// collect adds up, and hands what it has to the writer each time that one is
// idle and a write is due.
func (b *Buffer) collect() {
	tick := time.NewTicker(b.cfg.Every)
	defer tick.Stop()
	defer close(b.jobs)
	sums := newSums(b.sender, b.cfg.Members)
	var held heldActs
	due := false
	for {
		var idle chan struct{}
		if due {
			idle = b.idle
		}
		select {
		case e := <-b.queue:
			b.add(&held, sums, e)
			due = due || e.written != nil
		case <-tick.C:
			held.tick(sums)
			due = due || !sums.empty()
		case <-idle:
			b.jobs <- sums.take() // the writer is idle, so there is room
			due = false
		case <-b.quit:
			b.drain(&held, sums)
			return
		}
	}
}

// drain takes what is still queued and waits for the writer to take it.
func (b *Buffer) drain(held *heldActs, sums *sums) {
	for {
		select {
		case e := <-b.queue:
			b.add(held, sums, e)
		default:
			held.all(sums)
			<-b.idle
			b.jobs <- sums.take()
			return
		}
	}
}

// add adds an entry up; one that cannot be is lost alone.
func (b *Buffer) add(held *heldActs, sums *sums, e entry) {
	guard.Log(b.cfg.Logger, "adding up events", func() { held.add(sums, e) })
}
