package fanout

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

func TestBuild(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f")
	e.follow("celebrity", fans...)
	for i := range 6 {
		e.publish(fmt.Sprint(i), "x", int64(i), everybody)
	}
	e.publish("other", "celebrity", 0, everybody)
	e.drain()
	e.build("f", "f1", "nobody")
	assert.Equal(t, []string{"0", "1", "2", "3"}, e.list("f"))
	heads, err := e.lists.Heads(e.ctx, []string{"f", "nobody"})
	require.NoError(t, err)
	assert.Equal(t, "post:4", heads[0].Floor.ID)
	assert.Zero(t, heads[1].Floor)
	assert.Equal(t, []string{}, e.list("f1"), "posts of a celebrity are not pushed")
	e.build("f")
	now, err := e.lists.Heads(e.ctx, []string{"f"})
	require.NoError(t, err)
	assert.Equal(t, heads[0], now[0], "the list exists")

	require.NoError(t, e.a.Outbox(e.ctx, []string{"x", "celebrity", "unknown"}))
	assert.Equal(t, []string{"0", "1", "2"}, e.outbox("x"))
	assert.Equal(t, []string{"other"}, e.outbox("celebrity"))
	assert.Equal(t, []string{}, e.outbox("unknown"))
}

// countingStore counts pulls and blocks them until hold is closed.
type countingStore struct {
	social.Store
	mu    sync.Mutex
	pulls int
	hold  chan struct{}
}

func (s *countingStore) Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error) {
	s.mu.Lock()
	s.pulls++
	s.mu.Unlock()
	select {
	case <-s.hold:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.Store.Pull(ctx, q)
}

// TestBuildShared has many readers in two processes: only one of them reads the store, and
// the build goes on when its first reader cancels.
func TestBuildShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		e.publish("p", "f", 1, everybody)
		s := &countingStore{Store: e.store, hold: make(chan struct{})}
		d := e.a.d
		d.Store = s
		var servers []*Fanout
		for range 2 {
			f, err := New(d)
			require.NoError(t, err)
			servers = append(servers, f)
		}
		begun := time.Now()
		first, leave := context.WithCancel(e.ctx)
		left := make(chan error, 1)
		go func() { left <- servers[0].Build(first, "f") }()
		synctest.Wait()
		require.Equal(t, 1, s.pulls)
		var readers [2]sync.WaitGroup // of each server
		for i := range 20 {
			readers[i%2].Go(func() { assert.NoError(t, servers[i%2].Build(e.ctx, "f")) })
		}
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		close(s.hold)
		readers[0].Wait()
		assert.Zero(t, time.Since(begun))
		readers[1].Wait()
		assert.Equal(t, buildPoll, time.Since(begun), "the other server polls again")
		assert.Equal(t, 1, s.pulls)
		assert.Equal(t, []string{"p"}, e.list("f"))
	})
}

// TestBuildElsewhereHangs checks that a reader stops waiting for another server's
// build that does not end.
func TestBuildElsewhereHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		dead := newProcess(e.ctx, "build", func(ctx context.Context) { _ = e.b.timelines.run(ctx, "f") })
		require.True(t, dead.until("commit"))
		f, err := New(e.a.d)
		require.NoError(t, err)
		begun := time.Now()
		require.ErrorIs(t, f.Build(e.ctx, "f"), errBuilding)
		assert.Equal(t, patience, time.Since(begun))
		dead.kill()
	})
}

func TestBuildElsewhere(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f")
	e.publish("p", "x", 1, everybody)
	e.drain()
	dead := newProcess(e.ctx, "build", func(ctx context.Context) { _ = e.b.timelines.run(ctx, "f") })
	require.True(t, dead.until("commit"))
	require.ErrorIs(t, e.a.Build(e.ctx, "f"), errBuilding)
	dead.kill()
	require.ErrorIs(t, e.a.Build(e.ctx, "f"), errBuilding)
	e.advance(timeline.TakeOver)
	require.NoError(t, e.a.Build(e.ctx, "f"))
	assert.Equal(t, []string{"p"}, e.list("f"))
}

func builds(t *testing.T, result string) uint64 {
	t.Helper()
	var m dto.Metric
	require.NoError(t, buildSeconds.WithLabelValues("timeline", result).(prometheus.Histogram).Write(&m))
	return m.GetHistogram().GetSampleCount()
}

// TestBuildInvalidatedRepeatedly checks that a build gives up when changes to the list
// invalidate it again and again.
func TestBuildInvalidatedRepeatedly(t *testing.T) {
	e := newEnv(t)
	overtaken, ready := builds(t, "overtaken"), builds(t, "ready")
	var err error
	p := newProcess(e.ctx, "build", func(ctx context.Context) { err = e.a.timelines.run(ctx, "f") })
	for i := range 3 {
		require.True(t, p.until("commit"), i)
		require.NoError(t, e.lists.ClearToken(e.ctx, []string{"f"}))
		p.step(goOn)
	}
	p.finish()
	require.ErrorIs(t, err, errBuilding)
	require.NoError(t, e.a.Build(e.ctx, "f"), "at once")
	require.Equal(t, []uint64{overtaken + 3, ready + 1}, []uint64{builds(t, "overtaken"), builds(t, "ready")})
}

func TestBuildFailure(t *testing.T) {
	e := newEnv(t)
	failed := builds(t, "failed")
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	require.ErrorIs(t, e.a.Build(ctx, "f"), context.Canceled)
	for _, call := range []string{"begin", "commit"} {
		p := newProcess(e.ctx, "build", func(ctx context.Context) {
			assert.ErrorIs(t, e.a.timelines.run(ctx, "f"), timeline.ErrUnavailable)
		})
		require.True(t, p.until(call))
		p.step(failBefore)
		p.finish()
		assert.Equal(t, []string{"none"}, e.list("f"), "the next build may begin at once")
	}
	require.NoError(t, e.store.Close())
	require.ErrorIs(t, e.a.Build(e.ctx, "f"), social.ErrUnavailable)
	assert.Equal(t, []string{"none"}, e.list("f"))
	require.Equal(t, failed+2, builds(t, "failed"), "failures of the commit and the store; a build that could not begin is not counted")
}
