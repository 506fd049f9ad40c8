package engine

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// LookEvery is the pause between two looks of a [Watcher].
	LookEvery = 2 * time.Second
	// MostNew is the greatest count that a [News] has: that many, or more.
	MostNew = 99
	// AgentWatches is how many watches one agent may have on a server.
	AgentWatches = 8
)

// News says that a timeline has something new.
type News struct {
	Count int             // new posts of others since the news before, at most [MostNew]
	Head  social.Position // the newest told so far: what a later watch is to begin after
}

// WatchStores are the stores that a [Watcher] reads; all are required.
type WatchStores struct {
	Posts    WatchPosts
	Lists    timeline.Reader // of agents
	Outboxes timeline.Reader // of authors whose posts are pulled; no copies
	Builder  ListBuilder
	Profiles catalog.Profiles
}

// WatchPosts is the part of the social store that a [Watcher] uses.
type WatchPosts interface {
	social.CardsOfMany
	// Pull, NewestPublic and CelebritiesOf are those of [social.Store].
	Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error)
	NewestPublic(ctx context.Context, n int) ([]social.Entry, error)
	CelebritiesOf(ctx context.Context, readers []string) ([]social.Pulled, error)
}

// Watcher tells connected agents when their timelines have something new. It looks
// at all of them at once, every [LookEvery]: the heads of their lists and of the
// outboxes they are read with, in a few pipelines. Only of a timeline whose head has
// moved it asks the store what the agent sees. It is safe for concurrent use.
type Watcher struct {
	stores WatchStores
	most   int
	cfg    Config

	looking sync.Mutex // one look at a time
	failed  bool       // the last look could not be made; of looking
	seed    maphash.Seed

	mu      sync.Mutex
	open    int             // watches, those included that begin
	of      map[string]int  // likewise, of each agent
	watches map[*Watch]bool // those that have begun
	ended   bool
	end     chan struct{}
}

// NewWatcher returns a watcher of at most most watches at once, 0 for no bound. Of
// the configuration it uses Clock, Log and Begin. [Watcher.Run] looks.
func NewWatcher(stores WatchStores, most int, cfg Config) *Watcher {
	return &Watcher{
		stores: stores, most: most, cfg: cfg.withDefaults(),
		of: map[string]int{}, watches: map[*Watch]bool{}, end: make(chan struct{}), seed: maphash.MakeSeed(),
	}
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) { repeat.Every(ctx, LookEvery, w.Look) }

// End ends all watches, and lets none begin any more: the server stops.
func (w *Watcher) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.end)
	}
}

// Watch begins to watch an agent's timeline: from a position on, which is that of an
// earlier [News] or of [Watch.Start], or, where it is nil, from what the timeline has
// now. What is new since the position is told at once. The caller must close the
// watch. Errors are of the kind [feed.ErrTooMany], [feed.ErrBusy] or [feed.ErrBadID], or
// wrap a store's ErrUnavailable where neither lists nor store can say what there is.
func (w *Watcher) Watch(ctx context.Context, agent string, since *social.Position) (*Watch, error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	if err := w.enter(agent); err != nil {
		return nil, err
	}
	watch := &Watch{w: w, agent: agent, ready: make(chan struct{}, 1)}
	if err := w.first(w.cfg.Begin(ctx), watch, since); err != nil {
		watch.Close()
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches[watch] = true
	return watch, nil
}

// enter takes a place for a watch.
func (w *Watcher) enter(agent string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended || w.most > 0 && w.open >= w.most:
		return feed.Errorf(feed.ErrBusy, "this server has as many streams open as it may, or stops")
	case w.of[agent] >= AgentWatches:
		return feed.Errorf(feed.ErrTooMany, "this agent has as many streams open as it may")
	}
	w.open++
	w.of[agent]++
	watchesOpen.Inc()
	return nil
}

// Watch tells what is new in one agent's timeline.
type Watch struct {
	w     *Watcher
	agent string
	start social.Position

	// What follows is of the look.
	list    timeline.Head
	pulled  social.Pulled
	version string              // of the list, from before pulled was read
	read    time.Time           // when pulled was read; zero: never
	newest  timeline.Position   // of all that the timeline is read from
	whole   bool                // nothing that it is read from was left out
	state   uint64              // of all that it is read from: a hash of the heads
	looked  uint64              // the state whose entries have been looked at
	seen    timeline.Position   // what is newer has not been looked at
	known   []timeline.Position // of the last [lateFor], what is not newer and has been looked at
	begins  bool                // what is not newer was there before the watch
	told    timeline.Position   // the newest that was told; before, where the watch began

	mu    sync.Mutex
	news  News // not taken yet
	ready chan struct{}
}

// Start is where the watch began: the position it was given, or the head of the
// timeline then; zero: the timeline was empty.
func (w *Watch) Start() social.Position { return w.start }

// Ready gets a value when there are news to take.
func (w *Watch) Ready() <-chan struct{} { return w.ready }

// Ended is closed when the server stops.
func (w *Watch) Ended() <-chan struct{} { return w.w.end }

// Take returns the news since the last call; their Count is 0 where there are none.
func (w *Watch) Take() News {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := w.news
	w.news = News{}
	return news
}

// tell adds news for who takes them.
func (w *Watch) tell(count int, head timeline.Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news = News{Count: min(w.news.Count+count, MostNew), Head: head}
	select {
	case w.ready <- struct{}{}:
	default: // they have not looked at the last one
	}
}

// Close ends the watch. It must be called once.
func (w *Watch) Close() {
	w.w.mu.Lock()
	defer w.w.mu.Unlock()
	delete(w.w.watches, w)
	w.w.open--
	if w.w.of[w.agent]--; w.w.of[w.agent] == 0 {
		delete(w.w.of, w.agent)
	}
	watchesOpen.Dec()
}
