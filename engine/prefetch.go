package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
)

const (
	prefetchWorkers = 4    // pages read at once
	prefetchQueue   = 1024 // pages that may wait
)

// Prefetcher reads the next items of a reader's session into the content cache, in the
// background, so that the next page can be shown even if the catalog or the social store is down
// by then. It caches content only: whether a reader may see an item is checked when its page is
// built. Unlike a [signals.Buffer] it queues each session once, reads several at once, and drops what
// it cannot read, which loses nothing. The nil Prefetcher does nothing.
type Prefetcher struct {
	sessions cache.Sessions
	catalog  catalog.Catalog
	timeout  time.Duration
	log      *slog.Logger
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	workers  sync.WaitGroup

	mu      sync.Mutex
	waiting map[turnOf]nextPage // what to read of each session; each session is queued once
	queue   chan turnOf
}

// nextPage is what to read ahead of a session.
type nextPage struct {
	n    int        // number of items
	refs []feed.Ref // the items, if they are known; otherwise they are looked up
}

// NewPrefetcher starts a Prefetcher; Close stops it. It uses the values of ctx and ignores its
// cancellation. timeout bounds one page. It must not exceed that of requests: caches rely on that
// when an item changes meanwhile.
func NewPrefetcher(ctx context.Context, sessions cache.Sessions, c catalog.Catalog, timeout time.Duration, log *slog.Logger) *Prefetcher {
	p := &Prefetcher{
		sessions: sessions, catalog: c, timeout: timeout, log: log,
		waiting: map[turnOf]nextPage{}, queue: make(chan turnOf, prefetchQueue),
	}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	for range prefetchWorkers {
		p.workers.Go(p.work)
	}
	return p
}

// After schedules reading ahead the next n items of an agent's session: ahead if it is not nil,
// otherwise those that the session has when they are read. It never blocks: if the queue is full,
// nothing is read. At most one page per feed of an agent is queued, the one of the last call.
func (p *Prefetcher) After(agent string, name feed.Name, n int, ahead []feed.Ref) {
	if p == nil || p.ctx.Err() != nil {
		return
	}
	key := turnOf{agent, name}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, ok := p.waiting[key]; ok {
		p.waiting[key] = nextPage{max(before.n, n), ahead}
		return
	}
	select {
	case p.queue <- key:
		p.waiting[key] = nextPage{n, ahead}
	default: // too many wait
	}
}

// work processes the queue until Close.
func (p *Prefetcher) work() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case key := <-p.queue:
			safego.Log(p.log, "prefetching a page", func() { p.read(key) })
		}
	}
}

// read reads one page ahead.
func (p *Prefetcher) read(key turnOf) {
	p.mu.Lock()
	next := p.waiting[key]
	delete(p.waiting, key) // later calls may concern items behind those read here
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	refs, err := next.refs, error(nil)
	if refs == nil {
		refs, err = p.sessions.Next(ctx, key.agent, key.feed, next.n)
	}
	if err == nil && len(refs) > 0 {
		err = p.catalog.Prefetch(ctx, feed.IDs(refs))
	}
	if err != nil && p.ctx.Err() == nil {
		p.log.DebugContext(ctx, "could not prefetch a page; it is read when it is requested", "agent", key.agent, "error", err)
	}
}

// Close drops the queue, cancels running reads and waits for them to end.
func (p *Prefetcher) Close() {
	if p != nil {
		p.stop()
		p.workers.Wait()
	}
}
