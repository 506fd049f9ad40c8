package spool_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	cachememory "github.com/freshet/freshet/cache/memory"
	"github.com/freshet/freshet/dedup"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/dedup/spool"
	"github.com/freshet/freshet/feed"
)

// others is a store with sessions that logs the spool's calls and holds the markers that the spool
// leaves.
type others struct {
	*dedupmemory.Store
	sessions *cachememory.Sessions

	mu      sync.Mutex
	calls   []string
	markers map[string]bool
	fails   string // the call that fails

	takes time.Duration // duration of a recording
}

func newOthers(t *testing.T) *others {
	t.Helper()
	s := newStore(t).Store
	return &others{Store: s, sessions: cachememory.New(s, time.Hour, func() time.Time { return noon }), markers: map[string]bool{}}
}

func (o *others) did(what string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.calls) == 0 || o.calls[len(o.calls)-1] != what {
		o.calls = append(o.calls, what)
	}
	if o.fails == what {
		return fmt.Errorf("%w: %s fails", dedup.ErrUnavailable, what)
	}
	return nil
}

func (o *others) set(fails string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fails = fails
}

func (o *others) done() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls)
}

func (o *others) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	return errors.Join(o.did("withdraw"), o.sessions.Withdraw(ctx, agent, groups, at))
}

func (o *others) Record(ctx context.Context, batch []dedup.Impression, now time.Time) ([]dedup.Impression, error) {
	if err := o.did("record"); err != nil {
		return batch, err
	}
	select {
	case <-time.After(o.takes):
	case <-ctx.Done():
		return batch, fmt.Errorf("%w: %w", dedup.ErrUnavailable, ctx.Err())
	}
	return o.Store.Record(ctx, batch, now)
}

func (o *others) ClearPending(ctx context.Context, batch []dedup.Impression) error {
	return errors.Join(o.did("settle"), o.Store.ClearPending(ctx, batch))
}

func (o *others) Set(_ context.Context, server string) error {
	if err := o.did("note"); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.markers[server] = true
	return nil
}

func (o *others) Remove(_ context.Context, server string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.markers, server)
	return nil
}

func (o *others) marked() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.markers) > 0
}

// open opens a spool and waits for its first pass.
func (o *others) open(t *testing.T, dir string, cfg spool.Config) *spool.Spool {
	t.Helper()
	defer synctest.Wait()
	return o.start(t, dir, cfg)
}

func (o *others) start(t *testing.T, dir string, cfg spool.Config) *spool.Spool {
	t.Helper()
	cfg.Every = cmp.Or(cfg.Every, every)
	cfg.Withdraw, cfg.Markers = o.Withdraw, o
	sp, err := spool.Open(t.Context(), dir, confirm(t, o, cfg.Grace), func() time.Time { return noon }, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = sp.Close(context.Background()) })
	return sp
}

func (o *others) verdict(t *testing.T, group string) dedup.Verdict {
	t.Helper()
	out, err := o.Check(t.Context(), "u_1", []string{group}, noon)
	require.NoError(t, err)
	return out.Verdicts[0]
}

// seen reports whether a group is in a filter.
func (o *others) seen(t *testing.T, group string) bool {
	t.Helper()
	_, ok := o.verdict(t, group).DaysAgo()
	return ok
}

// pop returns the next page of the session.
func (o *others) pop(t *testing.T, limit int) []string {
	t.Helper()
	page, err := o.sessions.Pop(t.Context(), cache.Pop{Agent: "u_1", Limit: limit, Now: noon})
	require.NoError(t, err)
	return feed.Keys(page.Refs)
}

// session creates a session of names for u_1; the first one is already handed out.
func (o *others) session(t *testing.T, names ...string) {
	t.Helper()
	refs := make([]feed.Ref, len(names))
	for i, n := range names {
		refs[i] = feed.Ref{ID: n, Group: n}
	}
	_, err := o.sessions.Replace(t.Context(), cache.Replace{Agent: "u_1", Ranked: refs, Limit: 1, Now: noon})
	require.NoError(t, err)
}

// TestOutageMarkerWrittenFirst spools groups that are still in a session: the marker is left before the
// session is changed, and the session before the filter.
func TestOutageMarkerWrittenFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOthers(t)
		o.set("note")
		sp := o.open(t, t.TempDir(), spool.Config{})
		o.session(t, "a", "b", "c", "d", "e")
		require.NoError(t, sp.Keep("u_1", []string{"b", "d"}, noon))
		pass(5)
		assert.Equal(t, []string{"note"}, o.done(), "nothing else is tried while no note can be left")

		o.set("")
		pass(1)
		assert.True(t, o.marked())
		pass(2)
		assert.False(t, o.marked())
		time.Sleep(time.Minute) // until the recorder has settled the impression
		synctest.Wait()
		calls := slices.Compact(slices.DeleteFunc(o.done(), func(c string) bool { return c == "note" }))
		assert.Equal(t, []string{"withdraw", "record", "settle"}, calls)
		assert.Equal(t, dedup.SeenDaysAgo(0), o.verdict(t, "b"))
		assert.Equal(t, []string{"c", "e"}, o.pop(t, 5))
	})
}

// TestOutageMarkerKeptUntilWritten makes each step fail: the marker stays until all steps succeed, and the
// session hands out nothing meanwhile.
func TestOutageMarkerKeptUntilWritten(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"withdraw", "record"} {
		t.Run(step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, dir := newOthers(t), t.TempDir()
				o.set(step)
				sp := o.open(t, dir, spool.Config{})
				o.session(t, "a", "b", "c")
				require.NoError(t, sp.Keep("u_1", []string{"b"}, noon))
				pass(3)
				assert.Contains(t, o.done(), step)
				assert.True(t, o.marked())
				assert.NotEqual(t, dedup.Unseen, o.verdict(t, "b"))
				assert.Len(t, segments(t, dir), 1)

				o.set("")
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.False(t, o.marked())
				assert.Empty(t, segments(t, dir))
				assert.Equal(t, dedup.SeenDaysAgo(0), o.verdict(t, "b"))
				assert.Equal(t, []string{"c"}, o.pop(t, 5))
			})
		})
	}
}

// TestRecordedPendingForGrace: a refresh that checked the filters before the impression was
// recorded must still find it in the pending set.
func TestRecordedPendingForGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, dir := newOthers(t), t.TempDir()
		sp := o.open(t, dir, spool.Config{Grace: 10 * every})
		require.NoError(t, sp.Keep("u_1", []string{"b"}, noon))
		pass(1)
		time.Sleep(every / 50) // the recorder lingers
		assert.Contains(t, o.done(), "record")
		assert.Empty(t, segments(t, dir))
		o.session(t, "a", "b", "c")
		assert.Equal(t, []string{"c"}, o.pop(t, 5))
		pass(9)
		assert.NotContains(t, o.done(), "settle")
		pass(2)
		assert.True(t, o.marked(), "requests that began before the last was recorded may be under way")
		pass(1)
		assert.False(t, o.marked())
		pass(1)
		assert.Contains(t, o.done(), "settle")
	})
}

// TestOutageMarkerSetBeforeStart checks that the marker for impressions left by an earlier process is
// set before the first request.
func TestOutageMarkerSetBeforeStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, dir := newOthers(t), t.TempDir()
		o.set("record")
		sp := o.open(t, dir, spool.Config{})
		assert.False(t, o.marked(), "nothing was left")
		require.NoError(t, sp.Keep("u_1", []string{"b"}, noon))
		require.NoError(t, sp.Close(t.Context()))
		assert.False(t, o.marked(), "it was closed before the next pass")

		o.start(t, dir, spool.Config{})
		assert.True(t, o.marked())
		assert.Equal(t, "note", o.done()[0])
	})
}

// TestOutageMarkerOfKilledProcess kills a process that has recorded everything and still has its marker: the
// next one on the directory takes the marker over, wherever it runs, and others leave it alone.
func TestOutageMarkerOfKilledProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, dir, grace := newOthers(t), t.TempDir(), spool.Config{Grace: 10 * every}
		sp := o.open(t, dir, grace)
		require.NoError(t, sp.Keep("u_1", []string{"b"}, noon))
		pass(2)
		require.Empty(t, segments(t, dir))
		require.NoError(t, sp.Close(t.Context()), "its marker stays, as when it is killed")
		require.True(t, o.marked())

		o.open(t, t.TempDir(), grace)
		pass(20)
		assert.True(t, o.marked(), "the marker of another directory")

		o.open(t, dir, grace)
		pass(5)
		assert.True(t, o.marked(), "requests that began before the last was recorded may be under way")
		pass(10)
		assert.False(t, o.marked())
	})
}

// TestOfferedNotRecorded: if only items the reader has seen are impressions, spooled
// items become pending, as of the time they were handed out.
func TestOfferedNotRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, dir := newOthers(t), t.TempDir()
		sp := o.open(t, dir, spool.Config{OfferedOnly: true, MaxAge: 30 * time.Minute})
		o.session(t, "a", "b", "c", "d")
		require.NoError(t, sp.Keep("u_1", []string{"b"}, noon.Add(-time.Minute)))
		require.NoError(t, sp.Keep("u_1", []string{"c"}, noon.Add(-time.Hour)))
		pass(1)
		assert.Empty(t, segments(t, dir))
		pass(2)
		assert.False(t, o.marked())
		assert.Equal(t, dedup.Pending, o.verdict(t, "b"))
		assert.Equal(t, dedup.Unseen, o.verdict(t, "c"), "it may come again by now")
		assert.NotContains(t, o.done(), "record")
		assert.Equal(t, []string{"c", "d"}, o.pop(t, 5))
	})
}

// foreign is a store of sessions in which one agent's key belongs to another application.
type foreign struct{ *others }

func (f foreign) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	if agent == "u_foreign" {
		return fmt.Errorf("%w: %w", cache.ErrUnavailable, dedup.ErrForeign)
	}
	return f.others.Withdraw(ctx, agent, groups, at)
}

// TestForeignRedisKeyDelaysNoOthers checks that the impressions of all agents are recorded.
func TestForeignRedisKeyDelaysNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOthers(t)
		sp, err := spool.Open(t.Context(), t.TempDir(), confirm(t, o, 0), func() time.Time { return noon }, spool.Config{Every: every, Withdraw: foreign{o}.Withdraw, Markers: o})
		require.NoError(t, err)
		defer func() { _ = sp.Close(context.WithoutCancel(t.Context())) }()
		require.NoError(t, sp.Keep("u_foreign", []string{"a"}, noon))
		require.NoError(t, sp.Keep("u_1", []string{"b"}, noon))
		pass(2)
		for agent, group := range map[string]string{"u_foreign": "a", "u_1": "b"} {
			out, err := o.Check(t.Context(), agent, []string{group}, noon)
			require.NoError(t, err)
			assert.NotEqual(t, dedup.Unseen, out.Verdicts[0], agent)
		}
	})
}
