package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cachememory "github.com/freshet/freshet/cache/memory"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

// TestMain holds the test files in memory: no test here depends on the disk.
func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

// storesOf returns in-process stores with this source.
func storesOf(t testing.TB, clock feed.Clock, source recall.Source) engine.Stores {
	return storesWith(t, clock, deduptest.DefaultConfig(), source)
}

func storesWith(t testing.TB, clock feed.Clock, cfg dedup.Config, source recall.Source) engine.Stores {
	t.Helper()
	cfg.FalsePositiveRate, cfg.DailyCapacity = 1e-9, 10_000 // no false positives
	seen, err := dedupmemory.Open("", cfg, clock)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, seen.Close(context.Background())) })
	recorder, err := dedup.NewRecorder(t.Context(), seen, clock, dedup.RecorderConfig{Workers: 1}) // one worker writes in order, as recorded requires
	require.NoError(t, err)
	t.Cleanup(func() { recorder.Close(context.Background()) })
	return engine.Stores{
		Recall: source, Seen: seen, Recorder: recorder, Catalog: newShelf(),
		Sessions: cachememory.New(seen, 30*time.Minute, clock),
	}
}

// rig is an engine over in-process stores, each of which can be made to fail.
type rig struct {
	*engine.Engine
	stores   engine.Stores // without faults
	recall   *faultySource
	seen     *faultySeen
	sessions *faultySessions
	catalog  *faultyCatalog
	recorder *noted
	tally    *tally
	disk     *disk
	recovery *recovery
	index    *recallmemory.Source
	now      atomic.Pointer[time.Time]
}

// newRig returns an engine that fails open, over n items as items makes them, after change has
// adapted it. To fail closed, set no Fallback.
func newRig(t testing.TB, n int, change func(*engine.Stores, *engine.Config)) *rig {
	t.Helper()
	r := &rig{index: recallmemory.New(), tally: &tally{}, disk: &disk{}, recovery: &recovery{}}
	r.now.Store(&rankedAt)
	r.stores = storesOf(t, r.clock, r.index)
	r.put(t, items(n)...)
	r.recall = &faultySource{Source: r.index}
	r.seen = &faultySeen{Store: r.stores.Seen.(*dedupmemory.Store)}
	r.sessions = &faultySessions{Sessions: r.stores.Sessions}
	r.catalog = &faultyCatalog{Catalog: r.stores.Catalog}
	r.recorder = &noted{Recorder: r.stores.Recorder.(*dedup.Recorder)}
	stores := engine.Stores{
		Recall: r.recall, Seen: r.seen, Sessions: r.sessions, Catalog: r.catalog,
		Recorder: r.recorder, Tally: r.tally, Fallback: r.disk, Recovery: r.recovery,
	}
	cfg := engine.Config{
		Clock: r.clock, N: 500, RoundsFor: time.Hour, RecordServed: true, Rankings: &feed.Live{Ranking: dayLong()},
	}
	if change != nil {
		change(&stores, &cfg)
	}
	var err error
	r.Engine, err = engine.New(stores, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// closed makes an engine fail closed and remember no page.
func closed(s *engine.Stores, _ *engine.Config) { s.Fallback = nil }

// items returns n items i000, i001, …, one per minute, newest first.
func items(n int) []feed.Item {
	out := make([]feed.Item, n)
	for i := range out {
		out[i] = aged(fmt.Sprintf("i%03d", i), "", time.Hour+time.Duration(i)*time.Minute)
	}
	return out
}

// run returns the ids of the items from index from up to, but not including, to.
func run(from, to int) []string {
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("i%03d", i))
	}
	return out
}

func (r *rig) clock() time.Time { return *r.now.Load() }

func (r *rig) advance(d time.Duration) {
	later := r.clock().Add(d)
	r.now.Store(&later)
}

func (r *rig) put(t testing.TB, items ...feed.Item) {
	t.Helper()
	errs, err := r.stores.Catalog.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, errs)
	r.index.Upsert(items)
}

// remove deletes items. Recall still returns those passed to removeBehind.
func (r *rig) remove(t *testing.T, ids ...string) {
	t.Helper()
	r.removeBehind(t, ids...)
	for _, id := range ids {
		r.index.Delete(id)
	}
}

// removeBehind deletes items that recall continues to return.
func (r *rig) removeBehind(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, r.stores.Catalog.Remove(t.Context(), id))
	}
}

// recorded waits until all deliveries are in a filter. A recorder with one worker writes in order,
// so it is enough to wait for a last impression.
func recorded(t *testing.T, recorder engine.Recorder) {
	t.Helper()
	require.NoError(t, recorder.Confirm(t.Context(), "comes-last", []string{"last"}))
	totals := recorder.(*dedup.Recorder).Totals()
	require.Equal(t, totals.Delivered, totals.Recorded)
}

// settled waits until all deliveries are in a filter, and removes them from the pending sets as if
// the grace period were over.
func (r *rig) settled(t *testing.T) {
	t.Helper()
	recorded(t, r.stores.Recorder)
	require.NoError(t, r.seen.ClearPending(t.Context(), r.recorder.all()))
}

// verdicts returns the dedup store's verdicts for groups of u_1.
func (r *rig) verdicts(t *testing.T, groups ...string) []dedup.Verdict {
	t.Helper()
	checked, err := r.stores.Seen.Check(t.Context(), "u_1", groups, r.clock())
	require.NoError(t, err)
	return checked.Verdicts
}

func refresh(limit int) engine.Request {
	return engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: limit}
}

func loadMore(limit int) engine.Request {
	return engine.Request{Agent: "u_1", Action: engine.ActionLoadMore, Limit: limit}
}

func silent(limit int) engine.Request {
	return engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: limit, Silent: true}
}

func named(r engine.Request, id string) engine.Request {
	r.RequestID = id
	return r
}

func (r *rig) ask(t *testing.T, q engine.Request) engine.Answer {
	t.Helper()
	a, err := r.Feed(t.Context(), q)
	require.NoError(t, err)
	return a
}

// wants requests a page, which must have these ids and be complete.
func (r *rig) wants(t *testing.T, q engine.Request, ids []string, more bool) {
	t.Helper()
	a := r.ask(t, q)
	assert.Equal(t, ids, docIDs(a))
	assert.Equal(t, more, a.HasMore, "has_more")
	assert.Nil(t, a.Degraded)
}

// sources returns the sources of an answer's items; nil means all items are ranked by their scores.
func sources(a engine.Answer) []feed.Source {
	return marks(a, func(r feed.Ref) feed.Source { return r.Source })
}

// shownBefore returns for each item of an answer whether it was shown before; nil means none was.
func shownBefore(a engine.Answer) []bool {
	return marks(a, func(r feed.Ref) bool { return r.ShownBefore })
}

func marks[M comparable](a engine.Answer, of func(feed.Ref) M) (all []M) {
	for _, r := range a.Refs {
		all = append(all, of(r))
	}
	if !slices.ContainsFunc(all, func(mark M) bool { return mark != *new(M) }) {
		return nil
	}
	return all
}

func docIDs(a engine.Answer) []string {
	out := make([]string, len(a.Docs))
	for i, d := range a.Docs {
		out[i] = d.ID
	}
	return out
}

func refsOf(groups ...string) []feed.Ref {
	out := make([]feed.Ref, len(groups))
	for i, g := range groups {
		out[i] = feed.Ref{ID: g, Group: g}
	}
	return out
}

// noted is a recorder that remembers its impressions.
type noted struct {
	*dedup.Recorder
	mu    sync.Mutex
	given []dedup.Impression
}

func (n *noted) Deliver(agent string, groups []string) {
	n.note(agent, groups)
	n.Recorder.Deliver(agent, groups)
}

func (n *noted) Confirm(ctx context.Context, agent string, groups []string) error {
	n.note(agent, groups)
	return n.Recorder.Confirm(ctx, agent, groups)
}

func (n *noted) note(agent string, groups []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, g := range groups {
		n.given = append(n.given, dedup.Impression{Agent: agent, Group: g})
	}
}

func (n *noted) all() []dedup.Impression {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.given)
}

func (n *noted) groups() []string {
	out := []string{}
	for _, i := range n.all() {
		if i.Agent == "u_1" {
			out = append(out, i.Group)
		}
	}
	return out
}

// disk is a fallback that remembers its impressions.
type disk struct {
	kept []string
	err  error
}

func (d *disk) Keep(_ string, groups []string, _ time.Time) error {
	d.kept = append(d.kept, groups...)
	return d.err
}

// tally counts delivered items.
type tally struct {
	delivered []string
	explored  []string
	promoted  []events.Event
	acts      int
	sources   []string       // the sources of home that the acts also count for
	after     []events.Event // events that count after the delivery
	full      bool
}

func (c *tally) Delivered(_, _ string, docs []feed.Doc, refs []feed.Ref, promoted []events.Event, _ time.Time) {
	c.promoted = append(c.promoted, promoted...)
	for _, r := range refs {
		if r.Source == feed.SourceExplore {
			c.explored = append(c.explored, r.Group)
		}
	}
	for _, d := range docs {
		c.delivered = append(c.delivered, d.ID)
	}
}

func (c *tally) Acted(_ string, acts []events.Event, _ time.Time) bool {
	if c.full {
		return false
	}
	for _, a := range acts {
		if a.After != 0 {
			c.after = append(c.after, a)
			continue
		}
		c.acts++
		c.sources = append(c.sources, a.Also)
	}
	return true
}

// recovery states whether the stores were down, and what the filters have by now.
type recovery struct {
	recovering bool
	recorded   []string
	err        error
}

func (r *recovery) Recovering() bool { return r.recovering }

func (r *recovery) Recorded(_ context.Context, _ string, keys []string, _ time.Time) ([]bool, error) {
	out := make([]bool, len(keys))
	for i, key := range keys {
		out[i] = slices.Contains(r.recorded, key)
	}
	return out, r.err
}

var toAll = social.Audience{Public: true}
