package engine

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
)

// PrefetchConfig tunes a Prefetcher. Zero values mean the defaults.
type PrefetchConfig struct {
	Workers int // pages read at once; 4
	Queue   int // pages that may wait; 1024
	// Timeout bounds one page. It must not be longer than a request may take: caches
	// rely on that when an item is changed meanwhile. 5s.
	Timeout time.Duration
	Logger  *slog.Logger // nil: nothing is logged
}

// WithDefaults fills the zero values in.
func (c PrefetchConfig) WithDefaults() PrefetchConfig {
	c.Workers = cmp.Or(c.Workers, 4)
	c.Queue = cmp.Or(c.Queue, 1024)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Prefetcher reads what a reader's session has next into the content cache, beside
// requests, so that the next page can be shown although the catalog or the social
// store is down by then. It caches contents only: who may see a page is found out
// when it is placed. The nil Prefetcher does nothing.
type Prefetcher struct {
	sessions cache.Sessions
	catalog  catalog.Catalog
	cfg      PrefetchConfig
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	workers  sync.WaitGroup

	mu      sync.Mutex
	waiting map[turnOf]int // how much of whose session to read; each is in the queue once
	queue   chan turnOf
}

// NewPrefetcher starts a Prefetcher; Close ends it. ctx's values are kept, its
// cancellation is ignored.
func NewPrefetcher(ctx context.Context, sessions cache.Sessions, c catalog.Catalog, cfg PrefetchConfig) *Prefetcher {
	cfg = cfg.WithDefaults()
	p := &Prefetcher{
		sessions: sessions, catalog: c, cfg: cfg,
		waiting: map[turnOf]int{}, queue: make(chan turnOf, cfg.Queue),
	}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	for range cfg.Workers {
		p.workers.Go(p.work)
	}
	return p
}

// After has the next n of an agent's session read ahead. It never blocks: where the
// queue is full nothing is read. Of an agent's feed one page waits at most; it is
// looked up in the session when its turn comes.
func (p *Prefetcher) After(agent string, name feed.Name, n int) {
	if p == nil || p.ctx.Err() != nil {
		return
	}
	key := turnOf{agent, name}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, ok := p.waiting[key]; ok {
		p.waiting[key] = max(before, n)
		return
	}
	select {
	case p.queue <- key:
		p.waiting[key] = n
	default: // too many wait
	}
}

// work reads what waits, until Close.
func (p *Prefetcher) work() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case key := <-p.queue:
			guard.Log(p.cfg.Logger, "reading a page ahead", func() { p.read(key) })
		}
	}
}

// read reads one page ahead.
func (p *Prefetcher) read(key turnOf) {
	p.mu.Lock()
	n := p.waiting[key]
	delete(p.waiting, key) // what is asked for from now on may be behind what is read here
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.ctx, p.cfg.Timeout)
	defer cancel()
	refs, err := p.sessions.Next(ctx, key.agent, key.feed, n)
	if err == nil && len(refs) > 0 {
		err = p.catalog.Prefetch(ctx, feed.IDs(refs))
	}
	if err != nil && p.ctx.Err() == nil {
		p.cfg.Logger.DebugContext(ctx, "a page could not be read ahead; it is read when it is asked for", "agent", key.agent, "error", err)
	}
}

// Close gives up what waits, ends what runs, and returns when it has ended, or ctx has.
func (p *Prefetcher) Close(ctx context.Context) {
	if p == nil {
		return
	}
	p.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.workers.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
