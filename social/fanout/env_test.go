package fanout

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
)

var zero time.Time // the time of changes made locally

// TestMain holds the test files in memory: no test here depends on the disk.
func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

// env has two servers that share a store and lists.
type env struct {
	t        *testing.T
	ctx      context.Context
	store    *socialsqlite.Store // also the queue; calls to it and to the lists are not staged
	lists    timeline.Lists
	outboxes timeline.Lists
	items    *fakeItems
	a, b     *Fanout

	late bool // whether a write could neither change a list nor drop it

	mu  sync.Mutex
	now time.Time
}

const (
	testCap       = 4
	testOutboxCap = 3
)

// openLists opens timelines and outboxes of the capacities under test.
type openLists func(t *testing.T, clock feed.Clock) (lists, outboxes timeline.Lists)

func inMemory(_ *testing.T, clock feed.Clock) (lists, outboxes timeline.Lists) {
	return timelinememory.New(timelinememory.Config{Cap: testCap, Clock: clock}), timelinememory.New(timelinememory.Config{Cap: testOutboxCap, Clock: clock})
}

func newEnv(t *testing.T) *env { return openEnv(t, inMemory) }

func openEnv(t *testing.T, open openLists) *env {
	t.Helper()
	e := &env{t: t, ctx: t.Context(), now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC), items: &fakeItems{byID: map[string]feed.Item{}}}
	opts := social.Options{Clock: e.clock, CelebrityAt: 4, CelebrityUntil: 3, KeepJobs: true}
	var err error
	e.store, err = socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.store.Close()) })
	e.lists, e.outboxes = open(t, e.clock)
	for _, f := range []**Fanout{&e.a, &e.b} {
		*f, err = New(Deps{
			Store: stagedStore{e.store}, Queue: stagedQueue{e.store}, Lists: stagedLists{e.lists}, Outboxes: stagedLists{e.outboxes},
			Items: e.items, Cap: testCap, OutboxCap: testOutboxCap, Clock: e.clock, Options: opts,
			ListsUnreachable: func() { e.late = true },
		})
		require.NoError(t, err)
		(*f).limit = time.Hour
		(*f).timelines.patience, (*f).outboxes.patience = 0, 0
	}
	return e
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *env) advance(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

var everybody = social.Audience{Public: true}

// publish stores a post without the wrapper, so its job stays pending.
func (e *env) publish(id, author string, age int64, to social.Audience, mentions ...string) social.Post {
	e.t.Helper()
	p, created, err := e.store.CreatePost(e.ctx, post(e, id, author, age, to, mentions...), social.Creation{})
	require.NoError(e.t, err)
	require.True(e.t, created)
	return p.Post
}

func post(e *env, id, author string, age int64, to social.Audience, mentions ...string) social.Post {
	return social.Post{ID: "post:" + id, Author: author, CreatedAt: e.clock().Unix() - age, Caption: "c", Audience: to, Mentions: mentions}
}

// follow has agents follow an author, without the wrapper.
func (e *env) follow(author string, agents ...string) {
	e.t.Helper()
	for _, agent := range agents {
		_, err := e.store.Follow(e.ctx, agent, author, zero)
		require.NoError(e.t, err)
	}
}

func (e *env) build(agents ...string) {
	e.t.Helper()
	for _, agent := range agents {
		require.NoError(e.t, e.a.Build(e.ctx, agent))
	}
}

// run runs one job, whether it is due or not, and returns its error.
func (e *env) run(f *Fanout, ctx context.Context, kind jobs.Kind, key string) error { //nolint:revive // like a method of f
	j, err := f.d.Queue.LeaseKey(ctx, kind, key, 30*time.Second)
	if err != nil {
		return err
	}
	return finish(f, ctx, j)
}

// finish runs leased jobs of one kind together and completes or fails each, as the workers do. It
// returns the first error.
func finish(f *Fanout, ctx context.Context, list ...jobs.Job) (failed error) { //nolint:revive // like a method of f
	var done []jobs.Job
	for i, err := range f.handlers[list[0].Kind].Run(ctx, list) {
		if err == nil {
			done = append(done, list[i])
			continue
		}
		failed = cmp.Or(failed, err)
		failure := jobs.Failure{Reason: err.Error(), After: time.Second, Wait: isWait(err)}
		_, _ = f.d.Queue.Fail(ctx, list[i], failure)
	}
	if len(done) > 0 {
		_, err := f.d.Queue.Done(ctx, done...)
		failed = cmp.Or(failed, err)
	}
	return failed
}

// drain runs jobs until none is left, including those that are not yet due.
func (e *env) drain() {
	e.t.Helper()
	for range 1000 {
		list, err := e.store.Lease(e.ctx, 1, 30*time.Second)
		require.NoError(e.t, err)
		if len(list) == 0 {
			if len(e.open()) == 0 {
				return
			}
			e.advance(10 * time.Second)
			continue
		}
		require.NoError(e.t, finish(e.a, e.ctx, list[0]))
	}
	e.t.Fatalf("jobs are left: %v", e.open())
}

// open returns the jobs that are not completed, by kind and key.
func (e *env) open() map[row]jobs.Job {
	e.t.Helper()
	all := map[row]jobs.Job{}
	for _, state := range []jobs.State{jobs.Pending, jobs.Running, jobs.Failed, jobs.Dead} {
		list, err := e.store.List(e.ctx, jobs.Filter{State: state, Limit: 10_000})
		require.NoError(e.t, err)
		for _, j := range list {
			all[row{j.Kind, j.Key}] = j
		}
	}
	return all
}

// list returns the entries of an agent's list, without the prefix of posts.
func (e *env) list(agent string) []string { return contents(e, e.lists, agent) }

func (e *env) outbox(author string) []string { return contents(e, e.outboxes, author) }

func contents(e *env, lists timeline.Lists, name string) []string {
	e.t.Helper()
	p, err := lists.Read(e.ctx, name, timeline.Position{}, 1000)
	require.NoError(e.t, err)
	if p.State != timeline.Ready {
		return []string{p.State.String()}
	}
	ids := []string{}
	for _, entry := range p.Entries {
		ids = append(ids, strings.TrimPrefix(entry.ID, social.PostPrefix))
	}
	return ids
}

func (e *env) delivery(author string) social.Delivery {
	e.t.Helper()
	c, err := e.store.Celebrity(e.ctx, author)
	require.NoError(e.t, err)
	return c.Delivery
}

// fakeItems is the items of a catalog, with answers that a test can set.
type fakeItems struct {
	catalog.Writer // the methods that fan-out does not call

	mu      sync.Mutex
	byID    map[string]feed.Item
	err     error           // returned by every call
	refuse  map[string]bool // ids
	before  func()          // called before a Put
	batches []int
	removed []string
}

var _ catalog.Writer = (*fakeItems)(nil)

func (f *fakeItems) Put(_ context.Context, items []feed.Item) ([]error, error) {
	if f.before != nil {
		f.before()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	f.batches = append(f.batches, len(items))
	errs := make([]error, len(items))
	for i, it := range items {
		if f.refuse[it.ID] {
			errs[i] = context.DeadlineExceeded
			continue
		}
		f.byID[it.ID] = it
	}
	return errs, nil
}

func (f *fakeItems) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	all := make([]catalog.Updated, len(ids))
	for i, id := range ids {
		f.mu.Lock()
		it, found := f.byID[id]
		f.mu.Unlock()
		if all[i].Err = feed.ErrNotFound; !found {
			continue
		}
		if all[i].Item, all[i].Err = change(it); errors.Is(all[i].Err, catalog.RemoveItem) {
			all[i] = catalog.Updated{Removed: true, Err: f.Remove(ctx, id)}
		}
	}
	return all, f.err
}

func (f *fakeItems) Remove(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	if _, ok := f.byID[id]; !ok {
		return feed.ErrNotFound
	}
	delete(f.byID, id)
	f.removed = append(f.removed, id)
	return nil
}

func sorted(ids ...string) []string { return slices.Sorted(slices.Values(ids)) }
