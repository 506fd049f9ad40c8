package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	signals.Config               // its queue holds deliveries, acts and reports to be counted
	Every          time.Duration // between two writes; 500ms
	Members        int           // agents, authors and events stored while the store is down, clicks counted twice; 200000, of at most about 100 bytes each
}

// How many ticks entries are held, until all servers have written what they need to know of.
const (
	holdActs    = 2 // acts: those on items shown by exploration or a promotion need the impression
	holdPages   = 2 // pages of a session: they need the session's last page
	holdTracked = 4 // tracked acts and reports: they need any page, also one that was held
)

// pageMembers is how many members a page to be remembered counts for.
const pageMembers = 4

// Buffer counts impressions and acts, off the request path. It sums them in memory and writes to
// the store every half second, acts a second later, during experiments two; while the store is down
// it keeps summing and retries. A process that is killed loses only the counts since its last write,
// and acts since the writes before that.
type Buffer struct {
	store   Store
	cfg     BufferConfig
	entries *signals.Buffer[entry]
	writes  *signals.Buffer[struct{}] // a request to write
	stop    context.CancelFunc        // of the ticks

	mu     sync.Mutex // held only briefly
	sums   *sums
	held   [holdTracked][]entry // by the number of ticks left
	due    []entry              // to be attributed to the pages that the store knows
	pages  []PageOf             // to be remembered
	queued int                  // size of what is held and due
}

// NewBuffer starts a buffer in front of a store; Close ends it. It ignores cancellation of ctx.
func NewBuffer(ctx context.Context, store Store, cfg BufferConfig) *Buffer {
	cfg.Config = cfg.WithDefaults()
	cfg.Every, cfg.Members = cmp.Or(cfg.Every, 500*time.Millisecond), cmp.Or(cfg.Members, 200_000)
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

// CountPage counts a page. It never blocks.
func (b *Buffer) CountPage(d Delivery, now time.Time) {
	d.Feed = cmp.Or(d.Feed, feed.ForYou)
	e := entry{page: &d, now: now}
	if !b.entries.Put(e) {
		dropEntry(&e)
	}
}

// CountActs counts an agent's acts. It never blocks. It returns false if the queue is full and nothing
// was added.
func (b *Buffer) CountActs(a Acts, now time.Time) bool {
	return b.entries.Put(entry{acts: &a, now: now})
}

// CountReport counts what an agent has seen. It never blocks.
func (b *Buffer) CountReport(r Report, now time.Time) {
	e := entry{seen: &r, now: now}
	if !b.entries.Put(e) {
		dropEntry(&e)
	}
}

// Delivered counts a page as [Buffer.CountPage] does, for a variant that is known to have ranked it.
func (b *Buffer) Delivered(variant, agent string, docs []feed.Doc, refs []feed.Ref, promoted []Event, now time.Time) {
	b.CountPage(Delivery{Agent: agent, Run: variant, Docs: docs, Refs: refs, Promoted: promoted}, now)
}

// Acted counts acts as [Buffer.CountActs] does, for a variant.
func (b *Buffer) Acted(variant string, acts []Event, now time.Time) bool {
	return b.CountActs(Acts{Run: variant, Other: acts}, now)
}

// Forget deletes the pages that are remembered of an agent, by the agent's id, after writing what
// waits. The agent's contributions to counts remain: counts do not identify agents.
func (b *Buffer) Forget(ctx context.Context, agent string) error {
	if err := b.Flush(ctx); err != nil {
		return fmt.Errorf("%w: queued events could not be counted: %w", ErrUnavailable, err)
	}
	return b.store.Forget(ctx, AgentHash(agent))
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

// add sums or holds entries; an entry that fails is lost without affecting the others.
func (b *Buffer) add(entries []entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range entries {
		safego.Log(b.cfg.Logger, "adding up events", func() { b.addEntry(e) })
	}
}

func (b *Buffer) addEntry(e entry) {
	d := e.page
	switch {
	case d != nil && d.Tracked && d.OfSession:
		b.hold(e, holdPages)
	case d != nil:
		b.sums.addPage(d.Run, 0, d, e.now)
		if d.Tracked && len(d.Refs) > 0 && len(b.pages) < b.cfg.Members/pageMembers {
			b.pages = append(b.pages, d.record(d.Run, 0, e.now))
		}
	case e.acts != nil && !e.acts.Tracked:
		b.hold(e, holdActs)
	default:
		b.hold(e, holdTracked)
	}
}

// hold retains an entry for some ticks, if there is room.
func (b *Buffer) hold(e entry, ticks int) {
	if b.queued+e.size() > b.cfg.Members {
		dropEntry(&e)
		return
	}
	b.queued += e.size()
	b.held[ticks-1] = append(b.held[ticks-1], e)
}

// tick sums the acts that were held long enough, and requests a write if there is something to write.
func (b *Buffer) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	ready := b.held[0]
	copy(b.held[:], b.held[1:])
	b.held[len(b.held)-1] = nil
	for _, e := range ready {
		if e.acts == nil || e.acts.Tracked {
			b.due = append(b.due, e)
			continue
		}
		b.queued -= e.size()
		safego.Log(b.cfg.Logger, "adding up events", func() { b.sums.addActs(e.acts, e.now) })
	}
	if len(b.sums.bySlot) > 0 || len(b.due) > 0 || len(b.pages) > 0 {
		b.writes.Put(struct{}{}) // if the queue is full, the next write takes everything
	}
}

// all makes everything due that is held, for the next write.
func (b *Buffer) all() {
	for range b.held {
		b.tick()
	}
}

// passing reports whether a retry may help.
func passing(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// dropEntry counts a lost entry.
func dropEntry(e *entry) {
	switch {
	case e.page != nil:
		metrics.DroppedImpressions.Add(float64(len(e.page.Docs)))
		dropEvents(e.page.Promoted)
	case e.acts != nil:
		metrics.DroppedActs.Add(float64(len(e.acts.Acts)))
		dropEvents(e.acts.Other)
	default:
		metrics.DroppedImpressions.Add(float64(len(e.seen.Groups)))
		dropEvents(e.seen.Other)
	}
}

func dropEvents(events []Event) {
	for _, e := range events {
		dropped(e)
	}
}
