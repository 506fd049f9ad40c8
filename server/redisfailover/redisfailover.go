// Package redisfailover detects that another server has become the master of the data in Redis, and
// restores deliveries that Redis may have lost in the failover.
package redisfailover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/connect"
)

const (
	// checkEvery is the pause between two checks of the masters.
	checkEvery = time.Second / 4
	// longestHold is the longest time that requests wait after a change: long enough for a check by
	// a server without requests too. The wait is at most a fifth of a request's time limit.
	longestHold = 4 * checkEvery
	holdShare   = 5
	// ownLifetime is how long the watch uses a connection.
	ownLifetime = 4 * checkEvery
	// checkTimeout is the time limit of a check.
	checkTimeout = 5 * time.Second
	// forgetAfter is the time after which a process that stopped being master counts as new again:
	// behind a proxy, different servers answer in turn.
	forgetAfter = 30 * time.Second
	// reclaimTimes is the number of times that recent deliveries are claimed after a change, one
	// check apart: a running request has its page from the previous master and delivers it later.
	reclaimTimes = 8
	// reclaimFor is how long after a change a claim that failed is made again: a new master may not
	// be ready at once, or a network may be cut. The pause grows from one check to reclaimPause.
	reclaimFor   = 10 * time.Minute
	reclaimPause = 5 * time.Second
)

// Reclaim restores the deliveries since a time that a change of masters may have lost. The zero
// time means the first attempt after a change, which has to go further back.
type Reclaim func(ctx context.Context, since time.Time) error

// Watch monitors the masters. Redis replicates asynchronously, and a master that a Sentinel is
// replacing accepts writes until the Sentinel demotes it, a second after its successor stopped
// following it. So recent deliveries are claimed and recorded again.
//
// Every server can only do so for its own deliveries. New requests and new connections therefore
// wait, from the first connection to the new master until all servers have had time for it. In a
// cluster requests wait from the next check on, because connections to a replica exist before it
// becomes master.
type Watch struct {
	own       redis.UniversalClient              // not the client of requests
	requests  redis.UniversalClient              // the client of requests
	sentinels *sentinels                         // nil means there are none
	ids       func(ctx context.Context) []string // returns the run ids of the masters that answer
	hold      time.Duration                      // wait of requests after a change
	log       *slog.Logger
	wake      chan struct{}
	ctx       context.Context // the parent of every hold's contexts

	replaced atomic.Value // func(), called when a master was replaced or restarted

	mu    sync.Mutex
	seen  map[string]time.Time // the masters' run ids, and when each last answered
	addrs map[string]bool      // of connections since the last change
	last  string               // address of the last connection
	held  hold

	claims claims // only the watch uses these
}

var _ breaker.Masters = (*Watch)(nil)

// Open connects to the configured masters with a client separate from that of requests: the watch
// must not wait for calls that wait for the watch. Run starts the checks.
func Open(ctx context.Context, cfg configs.Config, requests redis.UniversalClient, log *slog.Logger) (*Watch, error) {
	own, err := connect.Redis(ctx, cfg, func(o *redis.UniversalOptions) {
		// One address may lead to another server, without an end to existing connections.
		o.ConnMaxLifetime, o.ConnMaxLifetimeJitter = ownLifetime, 0
	})
	if err != nil {
		return nil, fmt.Errorf("redis.url: %w", err)
	}
	connect.Follow(cfg, own)
	w := newWatch(ctx, own, requests, cfg, log)
	name := cfg.Redis.Server().MasterName
	if name != "" {
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

// Client returns the client whose calls do not wait while a master is replaced.
func (w *Watch) Client() redis.UniversalClient { return w.own }

// Notify makes the watch call replaced whenever it finds that a master was replaced or restarted,
// before a request reaches it. replaced must not block.
func (w *Watch) Notify(replaced func()) { w.replaced.Store(replaced) }

func (w *Watch) notify() {
	if replaced, ok := w.replaced.Load().(func()); ok {
		replaced()
	}
}

// Close closes the connections of the watch after Run has ended.
func (w *Watch) Close(context.Context) error { return errors.Join(w.sentinels.close(), w.own.Close()) }

// Run monitors the masters until ctx ends. clock is the clock of the deliveries' times.
func (w *Watch) Run(ctx context.Context, clock feed.Clock, reclaim Reclaim) {
	defer w.release()
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		w.check(ctx, clock, reclaim)
		select {
		case <-tick.C:
			w.claims.tick(time.Now())
		case <-w.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Watch) check(ctx context.Context, clock feed.Clock, reclaim Reclaim) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
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
		w.log.WarnContext(ctx, "a Redis master was replaced or restarted: recent deliveries are recorded again")
		w.claims = claims{due: true, left: reclaimTimes, until: time.Now().Add(reclaimFor)}
		w.sentinels.followed()
	} else if w.claims.left == 0 && !replaced {
		w.release()
	}
	if w.claims.due {
		w.claim(ctx, clock, reclaim)
	}
}

// compare records the masters that answered now, and reports whether one is new.
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
		w.notify()
	}
	return changed
}

// Connected checks the server of a new connection, before a request uses the connection. If it is not one of
// the masters known, it may lack recent deliveries: the connection waits as those to a new master do.
func (w *Watch) Connected(ctx context.Context, conn redis.Cmdable) {
	id := masterID(ctx, conn)
	if id == "" || !w.unknown(id) {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	w.HoldConnection(ctx)
}

// unknown reports whether the master with this run id has not been seen; requests then wait.
func (w *Watch) unknown(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.seen[id]
	if ok || len(w.seen) == 0 {
		return false
	}
	w.stop()
	w.notify()
	return true
}

// Dialled records the server of a new connection. If it is not one of those before, it is checked
// before a request may use the connection.
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

// hold is one wait for the deliveries of all servers; zero means nothing waits. Connections wait
// for half of it: running calls then get an answer from a master that has what it lacked, and their
// deliveries are claimed too before new requests continue.
type hold struct {
	connections, requests context.Context // done when they may continue
	end                   context.CancelFunc
}

// stop makes connections and requests wait, the latter for at most w.hold; the caller holds w.mu.
func (w *Watch) stop() {
	if w.held.end != nil && w.held.requests.Err() == nil {
		return
	}
	w.held.requests, w.held.end = context.WithTimeout(w.ctx, w.hold)
	connections, connect := context.WithTimeout(w.held.requests, w.hold/2)
	context.AfterFunc(connections, connect)
	w.held.connections = connections
}

func (w *Watch) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held.end != nil {
		w.held.end()
		w.held = hold{}
	}
}

// HoldConnection blocks a new connection while a new master lacks recent deliveries.
func (w *Watch) HoldConnection(ctx context.Context) { await(ctx, w.waiting().connections) }

// HoldRequest blocks a new request during that time.
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

// runIDs returns the run ids of the masters that answer. An address may lead to a replica for a
// while, which takes no claims: it counts once it is promoted.
func runIDs(ctx context.Context, client redis.UniversalClient) []string {
	var mu sync.Mutex
	var ids []string
	_ = connect.EachMaster(ctx, client, func(ctx context.Context, c *redis.Client) {
		id := masterID(ctx, c)
		if id != "" {
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, id)
		}
	})
	return ids
}

// masterID returns the run id of the master that c leads to; "" if it is none, or does not tell.
func masterID(ctx context.Context, c redis.Cmdable) string {
	info, err := connect.Info(ctx, c, "server")
	replication, _ := connect.Info(ctx, c, "replication")
	if err != nil || info["redis_mode"] == "sentinel" || replication["role"] == "slave" {
		return ""
	}
	return info["run_id"]
}
