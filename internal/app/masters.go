package app

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

const (
	// mastersEvery is the pause between two looks at who the masters are.
	mastersEvery = time.Second
	// mastersTimeout is the longest a look may take.
	mastersTimeout = 5 * time.Second
	// reclaimTimes is how often the last deliveries are claimed after a change,
	// one look apart: a request that was under way got its page from the master
	// of before, and hands its delivery over after that.
	reclaimTimes = 3
)

// masters notices that another server has become the master of the data, and
// makes up for what Redis may have lost in that. Redis answers first and
// replicates then; a master that a Sentinel is replacing takes writes until the
// Sentinel says so, a second after its successor stopped following it. So what
// was delivered lately is claimed and recorded again.
//
// Every server can only do so for its own deliveries. Requests therefore wait,
// from the first connection to the new master on, until all servers have had
// the time to.
type masters struct {
	client  redis.UniversalClient
	hold    time.Duration // how long requests wait after a change
	reclaim func(context.Context, time.Time) (int, error)
	clock   feed.Clock
	log     *slog.Logger
	wake    chan struct{}

	mu      sync.Mutex
	ids     map[string]bool // of the processes that are masters; nil: not known yet
	addrs   map[string]bool // of connections since the last change
	last    string          // address of the last connection
	held    chan struct{}   // closed when requests may go on; nil: they may
	release *time.Timer

	// What is to be claimed again: whether now, how often altogether, and since
	// when it was delivered. Only the watch touches them.
	due   bool
	left  int
	since time.Time
}

func newMasters(client redis.UniversalClient, cfg configs.Config, log *slog.Logger) *masters {
	return &masters{
		client: client, hold: min(mastersEvery, cfg.Server.RequestTimeout/redisHold), log: log,
		wake: make(chan struct{}, 1), addrs: map[string]bool{},
	}
}

// watch looks after the masters until the function it returns is called.
// reclaim makes up for what a change may have lost.
func (m *masters) watch(ctx context.Context, clock feed.Clock, reclaim func(context.Context, time.Time) (int, error)) (stop func(context.Context) error) {
	m.clock, m.reclaim = clock, reclaim
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
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
	}()
	return func(context.Context) error { cancel(); <-ended; return nil }
}

// look asks who the masters are, and claims again what is due.
func (m *masters) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, mastersTimeout)
	defer cancel()
	ids, err := runIDs(ctx, m.client)
	if m.compare(ids, err == nil) {
		m.log.WarnContext(ctx, "a Redis master was replaced or restarted; what was delivered lately is recorded again")
		m.due, m.left, m.since = true, reclaimTimes, time.Time{}
	}
	if m.left == 0 {
		m.letGo()
	}
	if !m.due {
		return
	}
	began := m.clock()
	groups, err := m.reclaim(ctx, m.since)
	if err != nil {
		m.log.WarnContext(ctx, "what was delivered lately could not be claimed again; trying once more", "impressions", groups, "error", err)
		return
	}
	if m.left == reclaimTimes {
		m.since = began.Add(-m.hold)
	}
	m.due, m.left = false, m.left-1
}

// compare takes in who the masters are, and reports whether one is new. Of a
// cluster some may not answer; all says that every one did.
func (m *masters) compare(ids map[string]bool, all bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed := false
	for id := range ids {
		changed = changed || m.ids != nil && !m.ids[id]
	}
	if !all {
		for id := range m.ids {
			ids[id] = true
		}
	}
	if len(ids) > 0 {
		m.ids = ids
	}
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
	if m.ids != nil && !m.addrs[addr] {
		m.stop()
	}
	m.addrs[addr], m.last = true, addr
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// stop makes requests wait, for m.hold at most; m.mu is held.
func (m *masters) stop() {
	if m.held == nil {
		m.held = make(chan struct{})
		m.release = time.AfterFunc(m.hold, m.letGo)
	}
}

// letGo lets requests go on.
func (m *masters) letGo() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != nil {
		m.release.Stop()
		close(m.held)
		m.held = nil
	}
}

// wait holds a request up while a new master lacks what was delivered lately.
func (m *masters) wait(ctx context.Context) {
	if m == nil {
		return
	}
	m.mu.Lock()
	held := m.held
	m.mu.Unlock()
	if held == nil {
		return
	}
	select {
	case <-held:
	case <-ctx.Done():
	}
}

// runIDs are the ids of the processes that are masters. An error says that
// some, or all, could not be asked.
func runIDs(ctx context.Context, client redis.UniversalClient) (map[string]bool, error) {
	ids := map[string]bool{}
	var mu sync.Mutex
	ask := func(ctx context.Context, c redis.Cmdable) error {
		info, err := c.Info(ctx, "server").Result()
		if err != nil {
			return err
		}
		if id := infoFields(info)["run_id"]; id != "" {
			mu.Lock()
			defer mu.Unlock()
			ids[id] = true
		}
		return nil
	}
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return ids, cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return ask(ctx, c) })
	}
	return ids, ask(ctx, client)
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
