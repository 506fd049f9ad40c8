package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
)

const (
	prefetchWorkers = 4    // pages read at once
	prefetchQueue   = 1024 // pages that may wait
)

// Prefetcher reads what a reader's session has next into the content cache, beside
// requests, so that the next page can be shown although the catalog or the social
// store is down by then. It caches contents only: who may see a page is found out
// when it is placed. The nil Prefetcher does nothing.
type Prefetcher struct {
	sessions cache.Sessions
	catalog  catalog.Catalog
	timeout  time.Duration
	log      *slog.Logger
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	workers  sync.WaitGroup

	mu      sync.Mutex
	waiting map[turnOf]int // how much of whose session to read; each is in the queue once
	queue   chan turnOf
}

// NewPrefetcher starts a Prefetcher; Close ends it. ctx's values are kept, its
// cancellation is ignored. timeout bounds one page. It must not be longer than a request may
// take: caches rely on that when an item is changed meanwhile.
func NewPrefetcher(ctx context.Context, sessions cache.Sessions, c catalog.Catalog, timeout time.Duration, log *slog.Logger) *Prefetcher {
	p := &Prefetcher{
		sessions: sessions, catalog: c, timeout: timeout, log: log,
		waiting: map[turnOf]int{}, queue: make(chan turnOf, prefetchQueue),
	}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	for range prefetchWorkers {
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
			guard.Log(p.log, "reading a page ahead", func() { p.read(key) })
		}
	}
}

// read reads one page ahead.
func (p *Prefetcher) read(key turnOf) {
	p.mu.Lock()
	n := p.waiting[key]
	delete(p.waiting, key) // what is asked for from now on may be behind what is read here
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	refs, err := p.sessions.Next(ctx, key.agent, key.feed, n)
	if err == nil && len(refs) > 0 {
		err = p.catalog.Prefetch(ctx, feed.IDs(refs))
	}
	if err != nil && p.ctx.Err() == nil {
		p.log.DebugContext(ctx, "a page could not be read ahead; it is read when it is asked for", "agent", key.agent, "error", err)
	}
}

// Close gives up what waits, ends what runs, and returns when it has ended.
func (p *Prefetcher) Close() {
	if p != nil {
		p.stop()
		p.workers.Wait()
	}
}
