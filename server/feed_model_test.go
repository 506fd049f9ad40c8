package server

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

var (
	modelSeed  = flag.Uint64("model.seed", 1, "first seed of the model test; 0: by the clock, to find something new")
	modelSeeds = flag.Int("model.seeds", 3, "how many seeds the model test runs, in each mode")
	modelSteps = flag.Int("model.steps", 150, "steps of one run of the model test")
)

// TestFeedModel runs random steps of readers, editors and operators, and compares every answer with
// an exact model of what each reader may be shown. In services mode, connections to Redis are cut,
// delayed and refused meanwhile. A failure names its seed and lists the steps; to repeat it, run
// with -model.seed and -model.seeds 1. By default the seeds are always the same.
func TestFeedModel(t *testing.T) {
	t.Parallel()
	first, count := *modelSeed, *modelSeeds
	if testenv.InFull("models") {
		count *= 5
	}
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	for _, m := range modes {
		steps := *modelSteps
		if m.name == "services" { // its steps take far longer
			steps = testenv.Steps(steps/2, steps)
		}
		for i := range count {
			seed := first + uint64(i)
			t.Run(fmt.Sprintf("%s/seed %d", m.name, seed), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, m, seed)
				defer w.tell(t)
				for range steps {
					w.step(t)
				}
				for agent := range w.readers {
					for _, name := range append(w.existing(), feed.ForYou) {
						w.drain(t, agent, name)
					}
				}
			})
		}
	}
}

func (w *world) put(t *testing.T, items ...feed.Item) {
	t.Helper()
	for _, it := range items {
		w.items[it.ID] = it
		w.say("put %s of group %s, author %s, dated %s", it.ID, it.Group(), it.AuthorID, time.Unix(it.UpdateTime, 0).UTC().Format("02 15:04:05"))
	}
	put(t, w.anyServer().App, items...)
	w.refreshed(t)
	w.changed()
}

// refreshed makes all servers recall what was written. Of those that recall from a copy of the index,
// one is compared with Elasticsearch now and then.
func (w *world) refreshed(t *testing.T) {
	for _, s := range w.apps {
		refreshIndex(t, s.App)
	}
	s := w.anyServer()
	if s.stores.copied != nil && w.rnd.IntN(4) == 0 {
		_, r := w.anyReader()
		sameRecall(t, s.App, r.profile)
	}
}

// changed notes that items of existing sessions may now be hidden or deleted.
func (w *world) changed() {
	for _, r := range w.readers {
		r.disturb()
	}
}

func (w *world) step(t *testing.T) {
	t.Helper()
	switch n := w.rnd.IntN(100); {
	case n < 45:
		agent, _ := w.anyReader()
		w.call(t, w.anyServer(), w.inAnyFeed(agent))
	case n < 50:
		w.burst(t)
	case n < 57:
		w.retry(t)
	case n < 62:
		w.silent(t)
	case n < 70:
		w.put(t, w.newItem(time.Duration(w.rnd.IntN(3600)-600)*time.Second))
	case n < 72:
		w.remove(t)
	case n < 74:
		w.storeFeed(t)
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
		w.drain(t, agent, w.anyFeed())
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
	w.refreshed(t)
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
	r.disturb()
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
	r.disturb()
}

// advance moves the clock as the passing of time does: deliveries are recorded first, and recorded
// impressions leave the pending sets.
func (w *world) advance(t *testing.T, d time.Duration) {
	t.Helper()
	w.settleDown()
	for _, s := range w.apps {
		waitRecorded(t, s.App)
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
		Recall: s.stores.shared, Seen: s.stores.dedup, Recorder: notRecording{s.stores.recorder}, Sessions: s.stores.sessions, Catalog: s.Catalog,
	}, engine.Config{
		Clock: w.clock.Now, Rankings: s.ranking, N: s.cfg.Recall.N, RoundsFor: s.cfg.Server.RequestTimeout / roundsShare,
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
		if w.cfg.Impressions.On == configs.OnSeen {
			w.unrecorded()
		}
	} else {
		waitRecorded(t, old.App)
		old.stop(t)
	}
	w.cfg = cfg
	w.apps[i] = w.start(t, cfg)
	if w.mode.name == "services" { // its recorded impressions are in a filter all the same
		w.apps[i].confirmed = old.confirmed
		return
	}
	for _, r := range w.readers { // sessions and retry records end with the process
		r.asked, r.changed, r.named.changed = nil, true, true
	}
}

// recover is called after an answer without Redis. The server retains the impressions until it can
// write them, and other servers do not know them until then.
func (w *world) recover(t *testing.T, s *server, agent string, answer engine.Answer) {
	t.Helper()
	w.say("  it was degraded: %v", answer.Degraded)
	if !sessionless(answer) { // the server only reports that it checks twice for a while
		return
	}
	for _, other := range w.apps {
		if !other.lossy {
			waitRedisAnswers(t, other.App)
		}
	}
	if w.cfg.Impressions.On != configs.OnServed {
		return
	}
	var groups []string
	for _, it := range items(t, answer) {
		groups = append(groups, it.Group())
	}
	testenv.WaitFor(t, func() bool {
		checked, err := s.stores.dedup.Check(t.Context(), agent, groups, w.clock.Now())
		return err == nil && !slices.Contains(checked.Verdicts, dedup.Unseen)
	}, "what was shown without Redis is recorded")
}

// mayWithoutRedis reports whether the item may be shown by a server that could not query the
// impressions of other servers: it knows only its own latest pages.
func (w *world) mayWithoutRedis(s *server, before map[string]shown, it feed.Item) bool {
	for _, key := range keys(it) {
		at, was := before[key].by[s]
		if was && w.clock.Now().Sub(at) < 12*time.Hour {
			return false
		}
	}
	return true
}
