package server

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
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

var (
	modelSeed  = flag.Uint64("model.seed", 1, "first seed of the model test; 0: by the clock, to find something new")
	modelSeeds = flag.Int("model.seeds", 3, "how many seeds the model test runs, in each mode")
	modelSteps = flag.Int("model.steps", 150, "steps of one run of the model test")
)

// TestModel runs random steps of readers, editors and operators, and compares every answer with an
// exact model of what each reader may be shown. In services mode, connections to Redis are cut,
// delayed and refused meanwhile. A failure names its seed and lists the steps; to repeat it, run
// with -model.seed and -model.seeds 1. By default the seeds are always the same.
func TestModel(t *testing.T) {
	t.Parallel()
	first, count := *modelSeed, *modelSeeds
	if testenv.InFull("models") {
		count *= 5
	}
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	for _, m := range modes {
		for i := range count {
			seed := first + uint64(i)
			t.Run(fmt.Sprintf("%s/seed %d", m.name, seed), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, m, seed)
				defer w.tell(t)
				for range *modelSteps {
					w.step(t)
				}
				for agent := range w.readers {
					w.drain(t, agent)
				}
			})
		}
	}
}

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

// lossy is the recorder of a server that will die before it records: its deliveries get only into
// the pending set.
type lossy struct{ *dedup.Recorder }

func (lossy) Deliver(string, []string) {}

func newWorld(t *testing.T, m mode, seed uint64) *world {
	w := &world{
		mode: m, cfg: m.config(t), rnd: rand.New(rand.NewPCG(seed, 0)), clock: at(noon),
		items: map[string]feed.Item{}, removed: map[string]feed.Item{}, readers: map[string]*reader{},
	}
	w.cfg.Recall.N = 20 + w.rnd.IntN(30)
	w.cfg.Dedup.FalsePositiveRate, w.cfg.Dedup.DailyCapacity = 1e-9, 10_000
	if m.name == "services" {
		w.cfg.Server.RequestTimeout = modelTimeout
		w.cfg.Dedup.OnFailure = []string{configs.FailOpen, configs.FailClosed}[w.rnd.IntN(2)]
	}
	w.coalesce = time.Duration(w.rnd.IntN(2)) * time.Second
	if w.rnd.IntN(3) == 0 {
		w.cfg.Impressions.On = configs.OnSeen
	}
	w.say("impressions on %s, n %d, coalesce %s, failing %s", w.cfg.Impressions.On, w.cfg.Recall.N, w.coalesce, w.cfg.Dedup.OnFailure)
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

// tried makes the server retry failed recordings at once.
func tried(s *settings) { s.pauses.spool, s.pauses.notes = 20*time.Millisecond, 20*time.Millisecond }

func (w *world) start(t *testing.T, cfg configs.Config) *server {
	t.Helper()
	if w.mode.name == "services" {
		cfg.DataDir = t.TempDir()
	}
	proxy := w.behind(t, &cfg)
	require.NoError(t, cfg.Validate())
	a, err := Open(t.Context(), cfg, WithClock(w.clock.Now), WithRecallCache(0, staleFor), func(s *settings) { s.coalesce = w.coalesce }, WithLogger(slog.New(slog.DiscardHandler)), tried)
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

func (w *world) put(t *testing.T, items ...feed.Item) {
	t.Helper()
	for _, it := range items {
		w.items[it.ID] = it
		w.say("put %s of group %s, author %s, dated %s", it.ID, it.Group(), it.AuthorID, time.Unix(it.UpdateTime, 0).UTC().Format("02 15:04:05"))
	}
	put(t, w.anyServer().App, items...)
	w.changed()
}

// changed notes that items of existing sessions may now be hidden or deleted.
func (w *world) changed() {
	for _, r := range w.readers {
		r.more, r.changed = false, true
	}
}

func (w *world) step(t *testing.T) {
	t.Helper()
	switch n := w.rnd.IntN(100); {
	case n < 45:
		agent, _ := w.anyReader()
		w.call(t, w.anyServer(), w.request(agent))
	case n < 50:
		w.burst(t)
	case n < 57:
		w.retry(t)
	case n < 62:
		w.silent(t)
	case n < 70:
		w.put(t, w.newItem(time.Duration(w.rnd.IntN(3600)-600)*time.Second))
	case n < 73:
		w.remove(t)
	case n < 78:
		w.profile(t)
	case n < 82:
		w.report(t)
	case n < 93:
		w.advance(t, []time.Duration{
			time.Second, 20 * time.Second, 61 * time.Second, 10 * time.Minute, 31 * time.Minute, 5 * time.Hour, 24 * time.Hour,
		}[w.rnd.IntN(7)])
	case n < 95:
		agent, _ := w.anyReader()
		w.drain(t, agent)
	case n < 97:
		w.lose(t)
	default:
		w.restart(t)
	}
	if t.Failed() {
		t.FailNow()
	}
}

func (w *world) remove(t *testing.T) {
	id := w.anyItem()
	w.say("remove %s", id)
	require.NoError(t, w.anyServer().Catalog.Remove(t.Context(), id))
	w.removed[id] = w.items[id]
	delete(w.items, id)
	refreshIndex(t, w.apps[0].App)
	w.changed()
}

func (w *world) profile(t *testing.T) {
	agent, r := w.anyReader()
	var p feed.Profile
	if w.rnd.IntN(3) > 0 {
		p.MutedAuthors = []string{fmt.Sprintf("author_%d", w.rnd.IntN(4))}
	}
	w.say("%s mutes %v", agent, p.MutedAuthors)
	require.NoError(t, w.anyServer().Engine.PutProfile(t.Context(), agent, p))
	r.profile = p
	r.more, r.changed = false, true
}

// report has a client report items as shown, including items that Freshet has not delivered.
func (w *world) report(t *testing.T) {
	agent, r := w.anyReader()
	s := w.anyServer()
	var list []string
	for range 1 + w.rnd.IntN(4) {
		id := w.anyItem()
		if w.rnd.IntN(2) == 0 && len(r.last) > 0 {
			id = r.last[w.rnd.IntN(len(r.last))]
		}
		list = append(list, id)
	}
	w.say("%s has seen %v", agent, list)
	over := w.trouble(s, aCut)
	require.NoError(t, s.Engine.Seen(t.Context(), agent, list))
	over()
	for _, id := range list {
		it, ok := w.items[id]
		if !ok {
			it.ID = id
			// A server that still has the content of a removed item in its cache records its group, too.
			gone := w.removed[id]
			group := gone.Group()
			s := r.shown[group]
			s.fuzzy = true
			r.shown[group] = s
		}
		for _, key := range keys(it) {
			r.shown[key] = shown{at: w.clock.Now(), seen: true}
			s.confirmed = append(s.confirmed, dedup.Impression{Agent: agent, Group: key})
		}
	}
	r.more, r.changed = false, true
}

// advance moves the clock as the passing of time does: deliveries are recorded first, and recorded
// impressions leave the pending sets.
func (w *world) advance(t *testing.T, d time.Duration) {
	t.Helper()
	w.settleDown()
	for _, s := range w.apps {
		recorded(t, s.App)
		if d > time.Minute {
			require.NoError(t, s.stores.dedup.ClearPending(t.Context(), s.confirmed))
			s.confirmed = nil
		}
	}
	w.clock.Advance(d)
	w.say("%s later", d)
}

// lose turns a server into one that is about to die: it answers, but never records its deliveries.
func (w *world) lose(t *testing.T) {
	s := w.anyServer()
	i := slices.Index(w.apps, s)
	w.say("server %d loses what it delivers", i)
	var err error
	s.lossy = true
	s.feed, err = engine.New(engine.Stores{
		Recall: s.stores.front, Seen: s.stores.dedup, Recorder: lossy{s.stores.recorder}, Sessions: s.stores.sessions, Catalog: s.Catalog,
	}, engine.Config{
		Clock: w.clock.Now, Rankings: &feed.Live{Ranking: s.cfg.Ranking}, N: s.cfg.Recall.N, RoundsFor: s.cfg.Server.RequestTimeout / roundsShare,
		OriginStep: originStep, Coalesce: w.coalesce, RecordServed: s.cfg.Impressions.On == configs.OnServed,
	})
	require.NoError(t, err)
}

// restart replaces a server with a new one on the same data. The old one either stops regularly or,
// abruptly, is no longer used.
func (w *world) restart(t *testing.T) {
	i := w.rnd.IntN(len(w.apps))
	old := w.apps[i]
	abrupt := w.rnd.IntN(2) == 0
	w.say("server %d starts anew, abruptly: %t", i, abrupt)
	cfg := w.cfg
	if w.mode.name == "embedded" && abrupt {
		// A killed process leaves the current state of the disk.
		cfg.DataDir = filepath.Join(t.TempDir(), "copy")
		w.copyData(t, cfg.DataDir)
	} else {
		recorded(t, old.App)
		old.stop(t)
	}
	w.cfg = cfg
	w.apps[i] = w.start(t, cfg)
	if w.mode.name == "services" { // its recorded impressions are in a filter all the same
		w.apps[i].confirmed = old.confirmed
		return
	}
	for _, r := range w.readers { // sessions and retry records end with the process
		r.asked, r.changed = nil, true
	}
}
