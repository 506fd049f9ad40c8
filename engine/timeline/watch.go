package timeline

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

const (
	// PollEvery is the pause between two checks of a [Watcher].
	PollEvery = 2 * time.Second
	// MostNew is the maximum count of a [News], which means that many or more.
	MostNew = 99
	// AgentWatches is the maximum number of watches of one agent on a server.
	AgentWatches = 8
)

// News reports new posts in a timeline.
type News struct {
	Count int             // new posts of others since the previous news, at most [MostNew]
	Head  social.Position // the newest post reported so far; a later watch should begin after it
	// Arrived is the stamp up to which posts that had arrived late were reported: see [Point].
	Arrived int64
}

// Point is where a watch begins. Posts that arrive in time are reported in the order of their
// positions, late ones in the order of their arrival; see [social.LatePost].
type Point struct {
	Position social.Position
	Arrived  int64 // 0 if it is not known: late posts are then reported as if they had arrived in time
}

// WatchStores are the stores that a [Watcher] reads; all but Wakes and Notifications are required.
type WatchStores struct {
	Posts    WatchPosts
	Lists    lists.Reader // of agents
	Outboxes lists.Reader // of authors whose posts are pulled; not cached copies
	Builder  ListBuilder
	Profiles catalog.Profiles
	// Wakes say into which lists posts were just pushed. If it is nil, nobody says so.
	Wakes lists.Wakes
	// Notifications are those of the watched agents. If it is nil, none are reported.
	Notifications social.Notifications
}

// WatchPosts is the part of the social store that a [Watcher] uses.
type WatchPosts interface {
	social.CardsOfMany
	// Pull, NewestPublic and CelebritiesOf are those of [social.Store].
	Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error)
	NewestPublic(ctx context.Context, n int) ([]social.Entry, error)
	CelebritiesOf(ctx context.Context, readers []string) ([]social.Pulled, error)
	// Late is that of [social.Store].
	Late(ctx context.Context, after int64, n int) ([]social.LatePost, int64, error)
}

// Watcher notifies connected agents of new posts in their timelines. Every [PollEvery] it checks
// all timelines together: the heads of their lists and outboxes, in a few pipelines. It queries
// the store for the posts that an agent sees only if the head of the timeline has moved. A wake
// makes it check the timelines concerned at once. It is safe for concurrent use.
type Watcher struct {
	stores WatchStores
	most   int
	cfg    Config

	checking sync.Mutex // one check at a time
	failed   bool       // the last check failed; guarded by checking
	seed     maphash.Seed

	lateMu sync.Mutex
	late   lateWindow

	mu      sync.Mutex
	open    int                 // number of watches, including those being started
	of      map[string]int      // the same for each agent
	watches map[string][]*Watch // watches that have been started, by agent
	ended   bool
	end     chan struct{}
	woken   woken
}

// NewWatcher returns a watcher of at most most watches at once, 0 for no bound. Of the
// configuration it uses Clock, Log and Begin. [Watcher.Run] makes the checks.
func NewWatcher(stores WatchStores, most int, cfg Config) *Watcher {
	return &Watcher{
		stores: stores, most: most, cfg: cfg.withDefaults(),
		of: map[string]int{}, watches: map[string][]*Watch{}, end: make(chan struct{}), seed: maphash.MakeSeed(),
		woken: newWoken(),
	}
}

// End ends all watches and allows no new ones, because the server stops.
func (w *Watcher) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.end)
	}
}

// Watch starts to watch an agent's timeline, after a position of an earlier [News] or of
// [Watch.Start], or, if it is nil, after the present head of the timeline. Posts newer than the
// position are reported at once. The caller must close the watch. Errors are of the kind
// [feed.ErrTooMany], [feed.ErrBusy] or [feed.ErrBadID], or wrap a store's ErrUnavailable if
// neither lists nor store can be read.
func (w *Watcher) Watch(ctx context.Context, agent string, since *social.Position) (*Watch, error) {
	if since == nil {
		return w.WatchFrom(ctx, agent, nil)
	}
	return w.WatchFrom(ctx, agent, &Point{Position: *since})
}

// WatchFrom is [Watcher.Watch] from a point, which reports late posts exactly once. A point more than
// five minutes in the future counts as none.
func (w *Watcher) WatchFrom(ctx context.Context, agent string, since *Point) (*Watch, error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	if err := w.enter(agent); err != nil {
		return nil, err
	}
	watch := &Watch{w: w, agent: agent, ready: make(chan struct{}, 1)}
	if err := w.firstCheck(w.cfg.Begin(ctx), watch, since); err != nil {
		watch.Close()
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches[agent] = append(w.watches[agent], watch)
	signal(w.woken.began)
	return watch, nil
}

// Occupants is the maximum number of places that [Watcher.Occupy] gives at once.
const Occupants = 16

// occupant counts the places of [Watcher.Occupy] among those of agents. No agent has this id.
const occupant = ""

// Occupy reserves a place for another stream of the server, which counts as a watch. The caller must
// call leave once; ended is closed when the server stops. The errors are those of [Watcher.Watch].
func (w *Watcher) Occupy() (leave func(), ended <-chan struct{}, err error) {
	if err := w.enter(occupant); err != nil {
		return nil, nil, err
	}
	return func() { w.leave(occupant) }, w.end, nil
}

// enter reserves a place for a watch.
func (w *Watcher) enter(agent string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended || w.most > 0 && w.open >= w.most:
		return feed.Errorf(feed.ErrBusy, "this server has reached its limit of open streams, or is stopping; try again later")
	case agent == occupant && w.of[agent] >= Occupants:
		return feed.Errorf(feed.ErrBusy, "this server has reached its limit of open streams of changes; close one, or try another server")
	case agent != occupant && w.of[agent] >= AgentWatches:
		return feed.Errorf(feed.ErrTooMany, "this agent has reached its limit of open streams; close one")
	}
	w.open++
	w.of[agent]++
	watchesOpen.Inc()
	return nil
}

// Watch reports new posts in one agent's timeline.
type Watch struct {
	w     *Watcher
	agent string
	start Point

	// The fields below are used by checks only.
	list     lists.Head
	pulled   social.Pulled
	version  string           // version of the list, from before pulled was read
	read     time.Time        // when pulled was read; zero means never
	newest   lists.Position   // the newest position in the sources of the timeline
	whole    bool             // no source of the timeline was left out
	state    uint64           // hash of the heads of all sources
	checked  uint64           // the state whose entries have been checked
	seen     lists.Position   // newer entries have not been checked
	known    []lists.Position // checked entries of the last [orderFor] that are not newer than seen
	begins   bool             // entries not newer than seen existed before the watch
	reported lists.Position   // the newest position reported; at first, where the watch began
	arrived  int64            // late posts that arrived up to this stamp have been checked; 0 means not known
	resumes  bool             // arrived is that of an earlier watch, and was not read on from yet
	changed  time.Time        // when a check found another state last
	counted  counted
	inbox    inbox

	mu     sync.Mutex
	news   News // not taken yet
	unread *int // the same; nil if there is nothing to take
	ready  chan struct{}
}

// Start returns where the watch began: the position it was given, or the head of the timeline
// then. Zero means that the timeline was empty.
func (w *Watch) Start() social.Position { return w.start.Position }

// StartPoint returns the same with the arrival up to which late posts were known.
func (w *Watch) StartPoint() Point { return w.start }

// Ready receives a value when there is news to take.
func (w *Watch) Ready() <-chan struct{} { return w.ready }

// Ended is closed when the server stops.
func (w *Watch) Ended() <-chan struct{} { return w.w.end }

// Take returns the news since the last call; Count is 0 if there is none.
func (w *Watch) Take() News {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := w.news
	w.news = News{}
	return news
}

// notify adds news for the next call of Take.
func (w *Watch) notify(count int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news = News{Count: min(w.news.Count+count, MostNew), Head: w.reported, Arrived: w.arrived}
	signal(w.ready)
}

// Close ends the watch. It must be called once.
func (w *Watch) Close() {
	w.w.mu.Lock()
	defer w.w.mu.Unlock()
	of := slices.DeleteFunc(w.w.watches[w.agent], func(other *Watch) bool { return other == w })
	w.w.watches[w.agent] = of
	if len(of) == 0 {
		delete(w.w.watches, w.agent)
	}
	w.w.left(w.agent)
}

// leave gives up a place.
func (w *Watcher) leave(agent string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left(agent)
}

func (w *Watcher) left(agent string) {
	w.open--
	w.of[agent]--
	if w.of[agent] == 0 {
		delete(w.of, agent)
	}
	watchesOpen.Dec()
}
