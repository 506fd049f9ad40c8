package server

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

const (
	modelTimeout = 10 * time.Second        // of a request; a call to Redis may take a tenth of it
	modelStall   = 1200 * time.Millisecond // longer than that
	modelRefused = 100 * time.Millisecond
)

// world is the system and its model.
type world struct {
	mode     mode
	cfg      configs.Config
	rnd      *rand.Rand
	clock    *clock
	apps     []*server
	coalesce time.Duration
	steps    []string // for the report of a failure
	calls    int      // number of calls, for request ids

	faults []*faultproxy.Armed // faults that fired; the commands they delay may still be in transit

	items   map[string]feed.Item
	removed map[string]feed.Item
	readers map[string]*reader
	feeds   map[feed.Name]feed.Filter // the stored feeds
}

// server is one running process.
type server struct {
	*App
	feed    *engine.Engine // the app's engine, or one with a lossy recorder
	proxy   *faultproxy.Proxy
	lossy   bool
	stopped bool
	// confirmed are the impressions that will be in a filter once this server's recorder is idle.
	confirmed []dedup.Impression
}

// notRecording is the recorder of a server that will die before it records: its deliveries get only
// into the pending set.
type notRecording struct{ *dedup.Recorder }

func (notRecording) Deliver(string, []string) {}

func newWorld(t *testing.T, m mode, seed uint64) *world {
	w := &world{
		mode: m, cfg: m.config(t), rnd: rand.New(rand.NewPCG(seed, 0)), clock: at(noon),
		items: map[string]feed.Item{}, removed: map[string]feed.Item{}, readers: map[string]*reader{}, feeds: map[feed.Name]feed.Filter{},
	}
	w.cfg.Auth.AdminToken = testAdmin
	w.cfg.Recall.N = 20 + w.rnd.IntN(30)
	w.cfg.Dedup.FalsePositiveRate, w.cfg.Dedup.DailyCapacity = 1e-9, 10_000
	if m.name == "services" {
		w.cfg.Server.RequestTimeout = modelTimeout
		w.cfg.Recall.From = []string{configs.FromElasticsearch, configs.FromMemory}[w.rnd.IntN(2)]
		w.cfg.Dedup.OnFailure = []string{configs.FailOpen, configs.FailClosed}[w.rnd.IntN(2)]
	}
	w.coalesce = time.Duration(w.rnd.IntN(2)) * time.Second
	if w.rnd.IntN(3) == 0 {
		w.cfg.Impressions.On = configs.OnSeen
	}
	w.say("impressions on %s, recall from %s, n %d, coalesce %s, failing %s", w.cfg.Impressions.On, w.cfg.Recall.From, w.cfg.Recall.N, w.coalesce, w.cfg.Dedup.OnFailure)
	w.apps = append(w.apps, w.start(t, w.cfg))
	if m.name == "services" {
		w.apps = append(w.apps, w.start(t, w.cfg))
	}
	for i := range 3 {
		w.readers[fmt.Sprintf("u_%d", i)] = newReader()
	}
	var all []feed.Item
	for range 60 {
		all = append(all, w.newItem(time.Duration(w.rnd.IntN(4*24*3600))*time.Second))
	}
	w.put(t, all...)
	return w
}

// shortRetries makes the server retry failed recordings at once.
func shortRetries(s *settings) {
	s.pauses.spool, s.pauses.notes = 20*time.Millisecond, 20*time.Millisecond
}

func (w *world) start(t *testing.T, cfg configs.Config) *server {
	t.Helper()
	if w.mode.name == "services" {
		cfg.DataDir = t.TempDir()
	}
	proxy := w.addFaultProxy(t, &cfg)
	require.NoError(t, cfg.Validate())
	a, err := Open(t.Context(), cfg, WithClock(w.clock.Now), WithRecallCache(0, staleFor), func(s *settings) { s.coalesce = w.coalesce }, WithLogger(slog.New(slog.DiscardHandler)), shortRetries)
	require.NoError(t, err)
	s := &server{App: a, feed: a.Engine, proxy: proxy}
	t.Cleanup(func() { s.stop(t) })
	return s
}

// stop closes the server; further calls do nothing.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if s.stopped {
		return
	}
	s.stopped = true
	assert.NoError(t, s.Close(context.WithoutCancel(t.Context())))
}

// copyData copies the data on disk, journals first: a day that is folded meanwhile is in its
// journal or in its filter.
func (w *world) copyData(t *testing.T, to string) {
	t.Helper()
	journals := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(w.cfg.DataDir, "impressions", "*.journal"))
	require.NoError(t, err)
	for _, path := range paths {
		journals[filepath.Base(path)], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.NoError(t, os.CopyFS(to, os.DirFS(w.cfg.DataDir)))
	for name, data := range journals {
		require.NoError(t, os.WriteFile(filepath.Join(to, "impressions", name), data, 0o600))
	}
}

func (w *world) say(format string, args ...any) {
	w.steps = append(w.steps, w.clock.Now().Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

func (w *world) tell(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, s := range w.steps[max(0, len(w.steps)-400):] {
		t.Log(s)
	}
}

// newItem returns an item of one of a few groups and authors, or a newer version of an existing
// item.
func (w *world) newItem(age time.Duration) feed.Item {
	id := fmt.Sprintf("doc_%d", len(w.items))
	if len(w.items) > 0 && w.rnd.IntN(5) == 0 {
		id = w.anyItem()
	}
	it := feed.Item{
		ID: id, Title: "About " + id, UpdateTime: w.clock.Now().Add(-age).Unix(), AuthorID: fmt.Sprintf("author_%d", w.rnd.IntN(4)),
	}
	if w.rnd.IntN(3) == 0 {
		it.GroupID = fmt.Sprintf("story_%d", w.rnd.IntN(12))
	}
	it.Tags, it.Lang = []string{[]string{"red", "blue"}[w.rnd.IntN(2)]}, []string{"", "de", "fr"}[w.rnd.IntN(3)]
	w.items[id] = it // so that the next one gets another id
	return it
}

func (w *world) anyItem() string {
	all := make([]string, 0, len(w.items))
	for id := range w.items {
		all = append(all, id)
	}
	slices.Sort(all)
	return all[w.rnd.IntN(len(all))]
}

func (w *world) anyReader() (string, *reader) {
	agent := fmt.Sprintf("u_%d", w.rnd.IntN(len(w.readers)))
	return agent, w.readers[agent]
}

func (w *world) anyServer() *server { return w.apps[w.rnd.IntN(len(w.apps))] }

// addFaultProxy puts a lossy network between a server and Redis.
func (w *world) addFaultProxy(t *testing.T, cfg *configs.Config) *faultproxy.Proxy {
	t.Helper()
	if w.mode.name != "services" {
		return nil
	}
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	p := faultproxy.Start(t, u.Host)
	cfg.Redis.URL = testenv.RedisAt(p.Addrs)
	return p
}

// trouble is the severity of a fault.
type trouble int

const (
	aCut       trouble = iota // and Redis is reachable again at once
	anyTrouble                // also delays and refused connections
)

// trouble occasionally arms one fault between a server and Redis for the next call, at most as
// severe as worst. The returned function ends it.
func (w *world) trouble(s *server, worst trouble) (over func()) {
	// A server that loses its deliveries has no disk as a fallback.
	if s.proxy == nil || s.lossy || w.rnd.IntN(5) > 0 {
		return func() {}
	}
	f := faultproxy.Fault{Nth: 1 + w.rnd.IntN(14), For: modelStall}
	f.Kind = []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within}[w.rnd.IntN(3)]
	if w.rnd.IntN(2) == 0 { // pages are handed out by scripts
		f.Nth = 1 + w.rnd.IntN(3)
		f.Match = func(c faultproxy.Command) bool { return c.Name() == "evalsha" }
	}
	if worst == anyTrouble {
		switch w.rnd.IntN(8) {
		case 0:
			f.Kind = faultproxy.Late
		case 1:
			f.Kind = faultproxy.Stall
		case 2:
			if w.cfg.Dedup.OnFailure == configs.FailOpen { // otherwise the call may fail
				f.Refuse = modelRefused
			}
		}
	}
	armed := s.proxy.Arm(f)
	return func() {
		s.proxy.Disarm(armed)
		if armed.Fired() {
			w.say("  meanwhile on server %d: cut %s, the %d., refused %s", slices.Index(w.apps, s), f.Kind, f.Nth, f.Refuse)
			w.faults = append(w.faults, armed)
		}
	}
}

// settleDown waits until no command is in transit, before the clock jumps: the model has no
// commands that are in transit for hours.
func (w *world) settleDown() {
	for _, f := range w.faults {
		<-f.Over()
	}
	w.faults = nil
}

// waitRedisAnswers waits until a page is served with Redis again.
func waitRedisAnswers(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), refresh("u_probe", 1))
		return err == nil && !sessionless(answer)
	}, "the server asks Redis again")
}

// reader is the model of an agent.
type reader struct {
	profile feed.Profile
	shown   map[string]shown               // by group and by id
	last    []string                       // the last page
	asked   []answered                     // calls with a request id
	flow                                   // of for-you
	named   flow                           // of the session of named feeds
	of      feed.Name                      // the named feed whose session that is
	scopes  map[feed.Name]map[string]shown // what each named feed has shown, as shown
}

// flow has the facts known of a session.
type flow struct {
	more    bool // the last answer had has_more, and nothing has changed since
	changed bool // items, mutes or feeds changed since the last page, or another feed has shown some of it
}

func (f *flow) disturb() { f.more, f.changed = false, true }

// disturb notes that both sessions may have lost something.
func (r *reader) disturb() {
	r.flow.disturb()
	r.named.disturb()
}

// shown is the last time a group, or an item, was shown.
type shown struct {
	at          time.Time
	seen        bool // recorded as an impression, or going to be
	fuzzy       bool // by a server that may die first: the time of its recording is unknown
	sessionless bool // only the server that has shown it knows, and it will not be recorded
	// again is when a named feed has shown it again meanwhile, which is no impression yet.
	again time.Time

	by map[*server]time.Time // the servers that have shown it, and when
}

// keys returns the dedup keys of an item.
func keys(it feed.Item) []string { return feed.Keys([]feed.Ref{{ID: it.ID, Group: it.Group()}}) }

func (w *world) request(agent string) engine.Request {
	r := engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: 1 + w.rnd.IntN(12)}
	if w.rnd.IntN(5) < 3 {
		r.Action = engine.ActionLoadMore
	}
	if w.rnd.IntN(3) == 0 {
		w.calls++
		r.RequestID = fmt.Sprintf("call-%d", w.calls)
	}
	return r
}
