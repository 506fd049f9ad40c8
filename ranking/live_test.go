package ranking_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/ranking/sqlite"
)

// wire is a real store that tests can cut, or step in before.
type wire struct {
	ranking.Store
	mu     sync.Mutex
	cut    bool
	other  ranking.Store // what it leads to by now; nil: Store
	before func()        // called once, before the next append
}

var errCut = fmt.Errorf("%w: the wire is cut", ranking.ErrUnavailable)

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
}

func (w *wire) lead(to ranking.Store) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.other = to
}

func (w *wire) state() (cut bool, before func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, w.before = w.before, nil
	return w.cut, before
}

func (w *wire) Newest(ctx context.Context) (ranking.Version, error) {
	w.mu.Lock()
	cut, to := w.cut, w.other
	w.mu.Unlock()
	switch {
	case cut:
		return ranking.Version{}, errCut
	case to != nil:
		return to.Newest(ctx)
	}
	return w.Store.Newest(ctx)
}

func (w *wire) Append(ctx context.Context, v ranking.Version) error {
	cut, before := w.state()
	if before != nil {
		before()
	}
	if cut {
		return errCut
	}
	return w.Store.Append(ctx, v)
}

func newStore(t *testing.T) *sqlite.Store {
	t.Helper()
	file, err := sqlitefile.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return sqlite.New(file)
}

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

var configured = feed.Ranking{Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1}

// syncLog is a log that may be read while it is written.
type syncLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *syncLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// gauge is the value of a metric.
func gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// openLive is a server's ranking over a store, which it follows quickly.
func openLive(t *testing.T, store ranking.Store) (*ranking.Live, *syncLog) {
	t.Helper()
	log := &syncLog{}
	l, err := ranking.Open(t.Context(), store, ranking.Config{
		Clock: func() time.Time { return noon }, Configured: configured, Every: 2 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return l, log
}

// with is an edit as the command line writes it.
func with(changes string) ranking.Edit {
	return func(r *feed.Ranking) (err error) {
		*r, err = r.With(changes)
		return err
	}
}

func change(t *testing.T, l *ranking.Live, c ranking.Change) ranking.Version {
	t.Helper()
	v, err := l.Change(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, v, l.InForce(), "what was changed is in force at once")
	return v
}

// current is the number of the newest version, as a server answers it.
func current(t *testing.T, l *ranking.Live) int {
	t.Helper()
	v, err := l.Current(t.Context())
	require.NoError(t, err)
	return v.Version
}

func reaches(t *testing.T, l *ranking.Live, version int) {
	t.Helper()
	require.Eventually(t, func() bool { return l.InForce().Version == version }, 20*time.Second, time.Millisecond,
		"version %d does not come", version)
}

func TestEveryServerFollows(t *testing.T) {
	store := newStore(t)
	a, _ := openLive(t, store)
	b, log := openLive(t, store)
	require.Zero(t, a.InForce().Version)
	variant, r := a.For("u_1")
	require.Equal(t, feed.Control, variant)
	require.Equal(t, configured, r)

	v := change(t, a, ranking.Change{Edit: with("scale=48h"), By: "ana", Why: "try"})
	require.Equal(t, ranking.Version{Version: 1, At: noon, By: "ana", Why: "try", Live: v.Live}, v)
	reaches(t, b, 1)
	_, r = b.For("u_1")
	require.Equal(t, "scale=48h", r.Changes(configured))

	change(t, b, ranking.Change{Experiments: []ranking.Experiment{{Name: "slow", Share: 0.5, Edit: with("scale=72h")}}})
	reaches(t, a, 2)
	for i := range 200 {
		agent := fmt.Sprint("u_", i)
		name, ranking := a.For(agent)
		other, same := b.For(agent)
		require.Equal(t, name, other)
		require.Equal(t, ranking, same)
		want := "scale=48h"
		if name == "slow" {
			want = "scale=72h"
		}
		require.Equal(t, want, ranking.Changes(configured))
	}
	require.Equal(t, 1, log.count("version=1 "))
	require.Eventually(t, func() bool { return gauge(t, "freshet_ranking_version") == 2 }, 20*time.Second, time.Millisecond)
	agent := strings.Repeat("u", feed.MaxAgentID)
	require.Zero(t, testing.AllocsPerRun(100, func() { a.For(agent) }), "each refresh pays for it")
}

func TestAChangeKeepsWhatItDoesNotName(t *testing.T) {
	l, _ := openLive(t, newStore(t))
	change(t, l, ranking.Change{Edit: with("weight=0.2"), Experiments: []ranking.Experiment{{Name: "a", Share: 0.1, Edit: with("scale=72h")}, {Name: "b", Share: 0.2}}})
	parts := l.InForce().Live.Variants[1].Parts

	v := change(t, l, ranking.Change{Edit: with("scale=48h")})
	require.Equal(t, "scale=48h,weight=0.2", v.Live.Ranking.Changes(configured))
	require.Len(t, v.Live.Variants, 2, "experiments stay")

	v = change(t, l, ranking.Change{Experiments: []ranking.Experiment{{Name: "b", Share: 0.3, Edit: with("offset=2h")}, {Name: "c", Share: 0.1}}})
	require.Equal(t, "scale=48h,weight=0.2", v.Live.Ranking.Changes(configured))
	require.Equal(t, "offset=2h,weight=0.2", v.Live.Variants[0].Ranking.Changes(configured), "an experiment's own are changed")
	require.Equal(t, "scale=48h,weight=0.2", v.Live.Variants[1].Ranking.Changes(configured), "a new one starts from the live ones")
	for _, p := range parts {
		for bucket := p[0]; bucket <= p[1]; bucket++ {
			require.True(t, inParts(v.Live.Variants[0].Parts, bucket), "b keeps its agents as it grows")
		}
	}

	v = change(t, l, ranking.Change{Experiments: []ranking.Experiment{}})
	require.Empty(t, v.Live.Variants)
}

func inParts(parts []feed.Part, bucket int) bool {
	for _, p := range parts {
		if p[0] <= bucket && bucket <= p[1] {
			return true
		}
	}
	return false
}

func TestWhatIsWrongIsRefusedAndTheOldOneStays(t *testing.T) {
	l, _ := openLive(t, newStore(t))
	change(t, l, ranking.Change{Edit: with("scale=48h")})
	old := 0
	for name, c := range map[string]struct {
		change ranking.Change
		says   string
		is     error
	}{
		"value":          {ranking.Change{Edit: with("decay=1")}, "decay.decay must lie between", feed.ErrBadRanking},
		"unvalidated":    {ranking.Change{Edit: func(r *feed.Ranking) error { r.Base = -1; return nil }}, "base must be", feed.ErrBadRanking},
		"experiment":     {ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.1, Edit: with("floor=2")}}}, `experiment "a"`, feed.ErrBadRanking},
		"shares":         {ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.6}, {Name: "b", Share: 0.6}}}, "sum to 1", feed.ErrBadRanking},
		"by":             {ranking.Change{Edit: with("scale=1h"), By: strings.Repeat("é", ranking.MaxBy+1)}, "by must have at most 64", feed.ErrBadRanking},
		"why":            {ranking.Change{Edit: with("scale=1h"), Why: "\x1b[31m"}, "control character at position 1", feed.ErrBadRanking},
		"not UTF-8":      {ranking.Change{Edit: with("scale=1h"), Why: "\xff"}, "UTF-8", feed.ErrBadRanking},
		"another newest": {ranking.Change{Edit: with("scale=1h"), If: &old}, "version 1 is in force, not 0", ranking.ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := l.Change(t.Context(), c.change)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, 1, current(t, l))
		})
	}
}

// TestChangesAtOnce has someone else change the ranking between a change's read
// and its write.
func TestChangesAtOnce(t *testing.T) {
	store := newStore(t)
	other, _ := openLive(t, store)
	w := &wire{Store: store}
	l, _ := openLive(t, w)
	w.before = func() { change(t, other, ranking.Change{Edit: with("weight=0.5")}) }
	v := change(t, l, ranking.Change{Edit: with("scale=48h")})
	require.Equal(t, 2, v.Version)
	require.Equal(t, "scale=48h,weight=0.5", v.Live.Ranking.Changes(configured), "both changes are in")

	w.before = func() { change(t, other, ranking.Change{Edit: with("weight=1")}) }
	newest := 2
	_, err := l.Change(t.Context(), ranking.Change{Edit: with("scale=12h"), If: &newest})
	require.ErrorIs(t, err, ranking.ErrChanged, "who names a version does not overwrite another")
	reaches(t, l, 3)

	var all sync.WaitGroup
	won := make(chan string, 8)
	newest = 3
	for i, server := range []*ranking.Live{l, other, l, other, l, other, l, other} {
		all.Go(func() {
			v, err := server.Change(t.Context(), ranking.Change{Edit: with("scale=12h"), By: fmt.Sprint("admin ", i), If: &newest})
			if err == nil {
				won <- v.By
				return
			}
			assert.ErrorIs(t, err, ranking.ErrChanged)
		})
	}
	all.Wait()
	require.Len(t, won, 1)
	reaches(t, l, 4)
	require.Equal(t, <-won, l.InForce().By)
}

func TestAStoreThatCannotBeRead(t *testing.T) {
	store := newStore(t)
	w := &wire{Store: store}
	l, log := openLive(t, w)
	other, _ := openLive(t, store)
	change(t, l, ranking.Change{Edit: with("scale=48h")})

	w.set(true)
	require.Eventually(t, func() bool { return gauge(t, "freshet_ranking_stale") == 1 }, 20*time.Second, time.Millisecond)
	change(t, other, ranking.Change{Edit: with("scale=96h")})
	_, err := l.Change(t.Context(), ranking.Change{Edit: with("scale=12h")})
	require.ErrorIs(t, err, ranking.ErrUnavailable)
	require.Equal(t, 1, current(t, l), "the one in force stays")
	_, r := l.For("u_1")
	require.Equal(t, "scale=48h", r.Changes(configured))
	_, err = ranking.Open(t.Context(), w, ranking.Config{Clock: time.Now, Configured: configured})
	require.ErrorIs(t, err, ranking.ErrUnavailable, "no server starts with a ranking of its own")

	w.set(false)
	reaches(t, l, 2)
	require.Eventually(t, func() bool { return gauge(t, "freshet_ranking_stale") == 0 }, 20*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return log.count("can be read again") == 1 }, 20*time.Second, time.Millisecond)
	require.Equal(t, 1, log.count("cannot be read"), "it is told once, not at each try")
}

// TestTheStoreWentBack has a store that was replaced by an older state.
// TestAStoreThatWasNeverRead: a server that starts without its store does not
// pass its configuration off as the newest version.
func TestAStoreThatWasNeverRead(t *testing.T) {
	store := newStore(t)
	other, _ := openLive(t, store)
	change(t, other, ranking.Change{Edit: with("scale=48h")})
	w := &wire{Store: store}
	w.set(true)
	l, err := ranking.Open(t.Context(), w, ranking.Config{Clock: time.Now, Configured: configured, StartWithout: true})
	require.NoError(t, err)
	_, err = l.Current(t.Context())
	require.ErrorIs(t, err, ranking.ErrUnavailable)
	w.set(false)
	require.Equal(t, 1, current(t, l))
	w.set(true)
	require.Equal(t, 1, current(t, l), "from here on the one in force stays")
}

func TestTheStoreWentBack(t *testing.T) {
	w := &wire{Store: newStore(t)}
	l, log := openLive(t, w)
	change(t, l, ranking.Change{Edit: with("scale=48h")})
	w.lead(newStore(t))
	reaches(t, l, 0)
	require.Equal(t, configured, l.InForce().Live.Ranking)
	require.Eventually(t, func() bool { return log.count("went back") == 1 }, 20*time.Second, time.Millisecond)
}

func TestRevertAndHistory(t *testing.T) {
	l, _ := openLive(t, newStore(t))
	list, err := l.History(t.Context(), 5)
	require.NoError(t, err)
	require.Equal(t, []ranking.Version{{
		By: "configuration", Why: "in force while nothing is stored", Live: feed.Live{Ranking: configured},
	}}, list)

	change(t, l, ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.3}}, By: "ana"})
	second := change(t, l, ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.7}, {Name: "b", Share: 0.3}}, Edit: with("scale=48h")})
	change(t, l, ranking.Change{Experiments: []ranking.Experiment{}, Edit: with("scale=12h")})

	v, err := l.Revert(t.Context(), 2, "bob", "", nil)
	require.NoError(t, err)
	require.Equal(t, 4, v.Version)
	require.Equal(t, "back to version 2", v.Why)
	require.Equal(t, second.Live, v.Live, "the experiments have their agents again")
	v, err = l.Revert(t.Context(), 0, "bob", "enough", nil)
	require.NoError(t, err)
	require.Equal(t, feed.Live{Ranking: configured}, v.Live)
	require.Equal(t, v, l.InForce())

	_, err = l.Revert(t.Context(), 99, "bob", "", nil)
	require.ErrorIs(t, err, ranking.ErrNotFound)
	stale := 1
	_, err = l.Revert(t.Context(), 2, "bob", "", &stale)
	require.ErrorIs(t, err, ranking.ErrChanged)

	list, err = l.History(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, []int{5, 4, 3}, versions(list))
	list, err = l.History(t.Context(), ranking.MaxHistory)
	require.NoError(t, err)
	require.Equal(t, []int{5, 4, 3, 2, 1, 0}, versions(list))
	for _, limit := range []int{-1, 0, ranking.MaxHistory + 1} {
		_, err := l.History(t.Context(), limit)
		require.ErrorIs(t, err, ranking.ErrBadLimit)
	}
}

func versions(list []ranking.Version) []int {
	numbers := make([]int, len(list))
	for i, v := range list {
		numbers[i] = v.Version
	}
	return numbers
}

func edited(t *testing.T, changes string) feed.Ranking {
	t.Helper()
	r, err := configured.With(changes)
	require.NoError(t, err)
	return r
}

func TestAnEditOfTheFile(t *testing.T) {
	store := newStore(t)
	a, _ := openLive(t, store)
	b, _ := openLive(t, store)
	change(t, a, ranking.Change{Edit: with("weight=0.2"), Experiments: []ranking.Experiment{{Name: "slow", Share: 0.1}}})

	// Only what was edited changes; what was set otherwise stays.
	require.NoError(t, a.FileEdited(t.Context(), "/etc/freshet.yaml", configured, edited(t, "scale=48h")))
	v := a.InForce()
	require.Equal(t, 2, v.Version)
	require.Equal(t, "config /etc/freshet.yaml", v.By)
	require.Equal(t, "the file says scale=48h", v.Why)
	require.Equal(t, "scale=48h,weight=0.2", v.Live.Ranking.Changes(configured))
	require.Len(t, v.Live.Variants, 1)

	// The other server sees the same edit: it is in force.
	require.NoError(t, b.FileEdited(t.Context(), "/mnt/freshet.yaml", configured, edited(t, "scale=48h")))
	require.Equal(t, 2, current(t, b))

	// A server that sees an edit late does not undo what somebody has set since.
	c, _ := openLive(t, store)
	require.NoError(t, a.FileEdited(t.Context(), "f", edited(t, "scale=48h"), edited(t, "scale=96h")))
	change(t, a, ranking.Change{Edit: with("scale=12h")})
	require.NoError(t, c.FileEdited(t.Context(), "f", edited(t, "scale=48h"), edited(t, "scale=96h")))
	require.Equal(t, 4, current(t, c))
	// But the same edit made anew is one.
	require.NoError(t, c.FileEdited(t.Context(), "f", edited(t, "scale=48h"), edited(t, "scale=96h")))
	require.Equal(t, 5, current(t, c))
}

func TestServersThatSeeAnEditAtOnceStoreItOnce(t *testing.T) {
	store := newStore(t)
	var all sync.WaitGroup
	for range 5 {
		l, _ := openLive(t, store)
		all.Go(func() { assert.NoError(t, l.FileEdited(t.Context(), "f", configured, edited(t, "scale=48h"))) })
	}
	all.Wait()
	list, err := store.Versions(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestAnEditThatCannotBeStoredIsTriedAgain(t *testing.T) {
	w := &wire{Store: newStore(t)}
	l, _ := openLive(t, w)
	w.set(true)
	require.ErrorIs(t, l.FileEdited(t.Context(), "f", configured, edited(t, "scale=48h")), ranking.ErrUnavailable)
	w.set(false)
	require.NoError(t, l.FileEdited(t.Context(), "f", configured, edited(t, "scale=48h")))
	require.Equal(t, 1, l.InForce().Version)
}

func TestStartSaysWhenTheFileIsNotInForce(t *testing.T) {
	store := newStore(t)
	first, _ := openLive(t, store)
	change(t, first, ranking.Change{Edit: with("scale=48h")})
	l, log := openLive(t, store)
	require.Equal(t, "scale=48h", l.InForce().Live.Ranking.Changes(configured))
	require.Equal(t, 1, log.count("not the configuration's"))
	require.Equal(t, 1, log.count("stored=\"scale=48h\"")+log.count("stored=scale=48h"))
}

func TestOpenLiveRankingNeedsAClockAndARanking(t *testing.T) {
	_, err := ranking.Open(t.Context(), newStore(t), ranking.Config{Configured: configured})
	require.ErrorContains(t, err, "clock")
	_, err = ranking.Open(t.Context(), newStore(t), ranking.Config{Clock: time.Now})
	require.ErrorIs(t, err, feed.ErrBadRanking)
	require.False(t, errors.Is(err, ranking.ErrUnavailable))
}

func TestLongPathsAreNamedByTheirEnd(t *testing.T) {
	l, _ := openLive(t, newStore(t))
	path := strings.Repeat("é", 100) + "/freshet.yaml"
	require.NoError(t, l.FileEdited(t.Context(), path, configured, edited(t, "scale=48h")))
	by := l.InForce().By
	require.True(t, strings.HasPrefix(by, "config é"), by)
	require.True(t, strings.HasSuffix(by, "/freshet.yaml"), by)
	require.LessOrEqual(t, len(by), ranking.MaxBy)
}

// hanging is a store that, once it is stuck, answers no read before hang is
// closed.
type hanging struct {
	ranking.Store
	stuck       atomic.Bool
	asked, hang chan struct{}
}

func (h *hanging) Newest(ctx context.Context) (ranking.Version, error) {
	if !h.stuck.Load() {
		return h.Store.Newest(ctx)
	}
	select {
	case h.asked <- struct{}{}:
	case <-ctx.Done():
		return ranking.Version{}, ctx.Err()
	}
	select {
	case <-h.hang:
		return h.Store.Newest(ctx)
	case <-ctx.Done():
		return ranking.Version{}, ctx.Err()
	}
}

// While one call waits for a store that hangs, the others end with their own
// deadlines, not one after the other with those of all before them.
func TestNobodyWaitsForAnothersRead(t *testing.T) {
	stuck := &hanging{Store: newStore(t), asked: make(chan struct{}), hang: make(chan struct{})}
	l, err := ranking.Open(t.Context(), stuck, ranking.Config{Clock: time.Now, Configured: configured})
	require.NoError(t, err)
	stuck.stuck.Store(true)
	first := make(chan struct{})
	go func() {
		defer close(first)
		_, _ = l.Current(t.Context())
	}()
	<-stuck.asked
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	second := make(chan error)
	go func() {
		_, err := l.Current(gone)
		second <- err
	}()
	select {
	case err := <-second:
		require.NoError(t, err, "what is in force")
	case <-time.After(20 * time.Second):
		t.Error("waits for the read of another call")
	}
	close(stuck.hang)
	<-first
}
