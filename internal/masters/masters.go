// Package masters notices that another server has become the master of the data in Redis,
// and makes up for what Redis may have lost in that.
package masters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/connect"
)

const (
	// lookEvery is the pause between two looks at who the masters are.
	lookEvery = time.Second / 4
	// longestHold is the longest that requests wait after a change: long enough
	// for a server without requests to look, too. It is a fifth of the time that a
	// request has, at most.
	longestHold = 4 * lookEvery
	holdShare   = 5
	// lookTimeout is the longest a look may take.
	lookTimeout = 5 * time.Second
	// forgetAfter is how long a process may be no master before it is a new
	// one again: behind a proxy, now this server answers and now that.
	forgetAfter = 30 * time.Second
	// reclaimTimes is how often the last deliveries are claimed after a change,
	// one look apart: a request that is under way has its page from the master of
	// before and delivers it after that. The new master may not be ready at once.
	reclaimTimes = 8
)

// Reclaim makes up for what a change of masters may have lost of the deliveries since; the
// zero time stands for the first try after a change, which has to look further back.
type Reclaim func(ctx context.Context, since time.Time) error

// Watch looks after the masters. Redis answers first and
// replicates then; a master that a Sentinel is replacing takes writes until the
// Sentinel says so, a second after its successor stopped following it. So what
// was delivered lately is claimed and recorded again.
//
// Every server can only do so for its own deliveries. New requests, and new
// connections, therefore wait from the first connection to the new master on
// until all servers have had the time to. In a cluster requests wait from the
// next look on, because connections to a replica are there before it is master.
type Watch struct {
	own       redis.UniversalClient              // not the one that requests use
	requests  redis.UniversalClient              // that one
	sentinels *sentinels                         // nil: there are none
	ids       func(ctx context.Context) []string // of the processes that are masters and answer
	hold      time.Duration                      // how long requests wait after a change
	log       *slog.Logger
	wake      chan struct{}
	ctx       context.Context // of every hold

	mu    sync.Mutex
	seen  map[string]time.Time // the masters' processes, and when each last answered
	addrs map[string]bool      // of connections since the last change
	last  string               // address of the last connection
	held  hold

	// What is to be claimed again: whether now, how often altogether, and since
	// when it was delivered. Only the watch touches these.
	due   bool
	left  int
	since time.Time // zero: whenever
}

var _ breaker.Masters = (*Watch)(nil)

// Open connects to the masters of the configuration, beside the client that requests use:
// what the watch does need not wait for what waits for the watch. Run begins to look.
func Open(ctx context.Context, cfg configs.Config, requests redis.UniversalClient, log *slog.Logger) (*Watch, error) {
	own, err := connect.Redis(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("redis.url: %w", err)
	}
	w := newWatch(ctx, own, requests, cfg, log)
	if name := cfg.Redis.Server().MasterName; name != "" {
		clients, err := connect.Sentinels(cfg)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("redis.url: %w", err), own.Close())
		}
		w.sentinels = &sentinels{name: name, clients: clients}
	}
	return w, nil
}

func newWatch(ctx context.Context, own, requests redis.UniversalClient, cfg configs.Config, log *slog.Logger) *Watch {
	return &Watch{
		own: own, requests: requests, hold: min(longestHold, cfg.Server.RequestTimeout/holdShare), log: log,
		ctx: context.WithoutCancel(ctx), wake: make(chan struct{}, 1), seen: map[string]time.Time{}, addrs: map[string]bool{},
		ids: func(ctx context.Context) []string { return runIDs(ctx, own) },
	}
}

// Client is the connection to the masters that waits for nothing while one is replaced.
func (w *Watch) Client() redis.UniversalClient { return w.own }

// Close closes the connections of the watch, which has ended.
func (w *Watch) Close(context.Context) error { return errors.Join(w.sentinels.close(), w.own.Close()) }

// Run looks after the masters until ctx ends. Deliveries have their times by the clock.
func (w *Watch) Run(ctx context.Context, clock feed.Clock, reclaim Reclaim) {
	defer w.letGo()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		w.look(ctx, clock, reclaim)
		select {
		case <-tick.C:
			w.due = w.left > 0
		case <-w.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Watch) look(ctx context.Context, clock feed.Clock, reclaim Reclaim) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	replaced := w.sentinels.replaced(ctx)
	if replaced {
		w.mu.Lock()
		w.stop()
		w.mu.Unlock()
		redial(ctx, w.own)
		redial(ctx, w.requests)
	}
	if w.compare(w.ids(ctx), time.Now()) {
		w.log.WarnContext(ctx, "a Redis master was replaced or restarted: what was delivered lately is recorded again")
		w.due, w.left, w.since = true, reclaimTimes, time.Time{}
		w.sentinels.followed()
	} else if w.left == 0 && !replaced {
		w.letGo()
	}
	if !w.due {
		return
	}
	w.due, w.left = false, w.left-1
	began := clock()
	switch err := reclaim(ctx, w.since); {
	case err != nil:
		w.log.WarnContext(ctx, "what was delivered just before a Redis master was replaced may be shown again", "tries_left", w.left, "error", err)
	case w.since.IsZero():
		w.since = began.Add(-w.hold)
	}
}

// compare takes in which masters answered now, and reports whether one is new.
func (w *Watch) compare(ids []string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed, first := false, len(w.seen) == 0
	for _, id := range ids {
		if _, ok := w.seen[id]; !ok && !first {
			changed = true
		}
		w.seen[id] = now
	}
	maps.DeleteFunc(w.seen, func(_ string, last time.Time) bool { return len(ids) > 0 && now.Sub(last) > forgetAfter })
	if changed {
		w.addrs = map[string]bool{w.last: true}
		w.stop()
	}
	return changed
}

// Dialled takes in where a new connection goes. One to another server than
// before is looked into before a request may use it.
func (w *Watch) Dialled(addr string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) > 0 && !w.addrs[addr] {
		w.stop()
	}
	w.addrs[addr], w.last = true, addr
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// hold is one wait for the deliveries of all servers; zero: nothing waits. Connections wait for
// half of it: calls that were under way then get an answer from a master that knows
// what it lacked, and what they deliver is claimed, too, before others go on.
type hold struct {
	connections, requests context.Context // are done when they may go on
	end                   context.CancelFunc
}

// stop makes connections and requests wait, the latter for w.hold at most;
// w.mu is held.
func (w *Watch) stop() {
	if w.held.end != nil && w.held.requests.Err() == nil {
		return
	}
	w.held.requests, w.held.end = context.WithTimeout(w.ctx, w.hold)
	connections, connect := context.WithTimeout(w.held.requests, w.hold/2)
	context.AfterFunc(connections, connect)
	w.held.connections = connections
}

func (w *Watch) letGo() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held.end != nil {
		w.held.end()
		w.held = hold{}
	}
}

// HoldConnection holds a new connection up while a new master lacks the latest deliveries.
func (w *Watch) HoldConnection(ctx context.Context) { await(ctx, w.waiting().connections) }

// HoldRequest holds a new request up meanwhile.
func (w *Watch) HoldRequest(ctx context.Context) { await(ctx, w.waiting().requests) }

func (w *Watch) waiting() hold {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

func await(ctx, held context.Context) {
	if held == nil {
		return
	}
	select {
	case <-held.Done():
	case <-ctx.Done():
	}
}

// runIDs are the ids of the processes that are masters and answer.
func runIDs(ctx context.Context, client redis.UniversalClient) []string {
	var mu sync.Mutex
	var ids []string
	_ = connect.EachMaster(ctx, client, func(ctx context.Context, c *redis.Client) {
		info, err := connect.Info(ctx, c, "server")
		if id := info["run_id"]; err == nil && id != "" {
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, id)
		}
	})
	return ids
}
