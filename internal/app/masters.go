package app

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

const (
	// mastersEvery is the pause between two looks at who the masters are.
	mastersEvery = time.Second / 4
	// mastersHold is the longest that requests wait after a change: long enough
	// for a server without requests to look, too.
	mastersHold = 4 * mastersEvery
	// mastersTimeout is the longest a look may take.
	mastersTimeout = 5 * time.Second
	// mastersForget is how long a process may be no master before it is a new
	// one again: behind a proxy, now this server answers and now that.
	mastersForget = 30 * time.Second
	// reclaimTimes is how often the last deliveries are claimed after a change,
	// one look apart: a request that is under way has its page from the master of
	// before and delivers it after that. The new master may not be ready at once.
	reclaimTimes = 8
)

// masters notices that another server has become the master of the data, and
// makes up for what Redis may have lost in that. Redis answers first and
// replicates then; a master that a Sentinel is replacing takes writes until the
// Sentinel says so, a second after its successor stopped following it. So what
// was delivered lately is claimed and recorded again.
//
// Every server can only do so for its own deliveries. New requests, and new
// connections, therefore wait from the first connection to the new master on
// until all servers have had the time to. In a cluster requests wait from the
// next look on, because connections to a replica are there before it is master.
type masters struct {
	client  redis.UniversalClient                            // not the one that requests use
	others  redis.UniversalClient                            // that one
	ask     *sentinels                                       // nil: there are none
	ids     func(ctx context.Context) []string               // of the processes that are masters and answer
	hold    time.Duration                                    // how long requests wait after a change
	reclaim func(ctx context.Context, since time.Time) error // makes up for what a change may have lost
	clock   feed.Clock
	log     *slog.Logger
	wake    chan struct{}

	mu    sync.Mutex
	seen  map[string]time.Time // the masters' processes, and when each last answered
	addrs map[string]bool      // of connections since the last change
	last  string               // address of the last connection
	held  *hold                // nil: nothing waits

	// What is to be claimed again: whether now, how often altogether, and since
	// when it was delivered. Only the watch touches these.
	due   bool
	left  int
	since time.Time // zero: whenever
}

// openMasters makes what looks after the masters. It has connections of its
// own, which need not wait for what it does on them.
func (a *App) openMasters(ctx context.Context) (*masters, error) {
	if a.cfg.Dedup.Backend != configs.DedupRedisBloom {
		return nil, nil
	}
	client, err := ConnectRedis(ctx, a.cfg)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func(context.Context) error { return client.Close() })
	m := newMasters(client, a.cfg, a.log)
	if a.cfg.Redis.MasterName != "" {
		m.ask = newSentinels(a.cfg)
		a.closers = append(a.closers, m.ask.close)
	}
	return m, nil
}

// watchMasters begins to look after the masters.
func (a *App) watchMasters(ctx context.Context) error {
	m := a.clients.masters
	if m == nil {
		return nil
	}
	withdraw, err := a.withdrawAgain(m.client)
	if err != nil {
		return err
	}
	m.clock = a.clock
	m.reclaim = func(ctx context.Context, since time.Time) error {
		if since.IsZero() && a.network != nil && a.network.restored != nil { // the first time after a change
			a.network.restored.look(ctx)
		}
		return a.recorder.Reclaim(ctx, withdraw, since)
	}
	a.background(ctx, m.watch)
	return nil
}

// withdrawAgain takes what a new master lacks of the last pages out of the sessions
// it has, which may be those of before. The new master is enough for that: it may have
// no replica for a while.
func (a *App) withdrawAgain(client redis.UniversalClient) (dedup.Withdraw, error) {
	if a.cfg.Sessions.Backend == configs.SessionsRedisList {
		return redislist.New(client, a.sessionsConfig(client, rediskeys.Replicas{})).Withdraw, nil
	}
	pending, err := redisbloom.New(client, dedupConfig(a.cfg), redisbloom.Config{KeyPrefix: a.cfg.Redis.KeyPrefix, Logger: a.log})
	if err != nil {
		return nil, err
	}
	return pending.Hold, nil
}

func newMasters(client redis.UniversalClient, cfg configs.Config, log *slog.Logger) *masters {
	return &masters{
		client: client, hold: min(mastersHold, cfg.Server.RequestTimeout/redisHold), log: log,
		wake: make(chan struct{}, 1), seen: map[string]time.Time{}, addrs: map[string]bool{},
		ids: func(ctx context.Context) []string { return runIDs(ctx, client) },
	}
}

// watch looks after the masters until ctx ends.
func (m *masters) watch(ctx context.Context) {
	defer m.letGo()
	tick := time.NewTicker(mastersEvery)
	defer tick.Stop()
	for {
		m.look(ctx)
		select {
		case <-tick.C:
			m.due = m.left > 0
		case <-m.wake:
		case <-ctx.Done():
			return
		}
	}
}

// look asks who the masters are, and claims again what is due.
func (m *masters) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, mastersTimeout)
	defer cancel()
	replaced := m.ask.replaced(ctx)
	if replaced {
		m.mu.Lock()
		m.stop()
		m.mu.Unlock()
		redial(ctx, m.client)
		redial(ctx, m.others)
	}
	if m.compare(m.ids(ctx), time.Now()) {
		m.log.WarnContext(ctx, "a Redis master was replaced or restarted: what was delivered lately is recorded again")
		m.due, m.left, m.since = true, reclaimTimes, time.Time{}
		m.ask.followed()
	} else if m.left == 0 && !replaced {
		m.letGo()
	}
	if !m.due {
		return
	}
	m.due, m.left = false, m.left-1
	began := m.clock()
	switch err := m.reclaim(ctx, m.since); {
	case err != nil:
		m.log.WarnContext(ctx, "what was delivered just before a Redis master was replaced may be shown again", "tries_left", m.left, "error", err)
	case m.since.IsZero():
		m.since = began.Add(-m.hold)
	}
}

// compare takes in which masters answered now, and reports whether one is new.
func (m *masters) compare(ids []string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed, first := false, len(m.seen) == 0
	for _, id := range ids {
		if _, ok := m.seen[id]; !ok && !first {
			changed = true
		}
		m.seen[id] = now
	}
	maps.DeleteFunc(m.seen, func(_ string, last time.Time) bool { return len(ids) > 0 && now.Sub(last) > mastersForget })
	if changed {
		m.addrs = map[string]bool{m.last: true}
		m.stop()
	}
	return changed
}

// dialled takes in where a new connection goes. One to another server than
// before is looked into before a request may use it.
func (m *masters) dialled(addr string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) > 0 && !m.addrs[addr] {
		m.stop()
	}
	m.addrs[addr], m.last = true, addr
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// stop makes connections and requests wait, the latter for m.hold at most;
// m.mu is held.
func (m *masters) stop() {
	if m.held == nil {
		m.held = &hold{connections: make(chan struct{}), requests: make(chan struct{})}
		m.held.timers[0] = time.AfterFunc(m.hold/2, m.held.letConnect)
		m.held.timers[1] = time.AfterFunc(m.hold, m.letGo)
	}
}

// letGo lets everything go on.
func (m *masters) letGo() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != nil {
		m.held.end()
		m.held = nil
	}
}

// waiting returns the hold on calls while a new master lacks the latest deliveries; nil:
// there is none.
func (m *masters) waiting() *hold {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// runIDs are the ids of the processes that are masters and answer.
func runIDs(ctx context.Context, client redis.UniversalClient) []string {
	var mu sync.Mutex
	var ids []string
	ask := func(ctx context.Context, c redis.Cmdable) {
		info, err := c.Info(ctx, "server").Result()
		if id := infoFields(info)["run_id"]; err == nil && id != "" {
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, id)
		}
	}
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		ask(ctx, client)
		return ids
	}
	_ = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		ask(ctx, c)
		return nil
	})
	return ids
}

// infoFields reads what INFO replies.
func infoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
