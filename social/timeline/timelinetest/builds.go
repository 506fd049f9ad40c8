package timelinetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/timeline"
)

func build(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.state(timeline.Building)
	assert.Equal(t, timeline.Page{State: timeline.Building}, f.page(none, 10))
	assert.True(t, f.commit(token, pos(1, "f"), run(9, 2)...))
	f.holds(pos(1, "f"), run(9, 2)...)
	token, state, err := f.B.Begin(f.ctx, agent)
	require.NoError(t, err)
	assert.Empty(t, token, "the list is already ready")
	assert.Equal(t, timeline.Ready, state)
	f.holds(pos(1, "f"), run(9, 2)...)
}

func buildOfNothing(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none)
	f.holds(none)
	assert.Equal(t, 1, f.push(pos(1, "a")), "the list is ready and accepts pushes")
	f.holds(none, pos(1, "a"))
}

func pushBuilding(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	assert.Equal(t, 3, f.push(p(9), p(5), pos(2, "backdated")))
	assert.Equal(t, timeline.Page{State: timeline.Building}, f.page(none, 10))
	assert.True(t, f.commit(token, none, run(8, 4)...))
	f.holds(none, join(run(9, 4), at(2, "backdated"))...)
}

func manyPushesBuilding(t *testing.T, open Open) {
	f := opened(t, open, 3)
	token := f.begin()
	assert.Equal(t, 3, f.push(run(9, 6)...))
	f.push(p(10))
	assert.True(t, f.commit(token, none, p(2), p(1)))
	f.holds(p(7), run(10, 8)...)
}

func floorOverPushes(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.push(join(at(9, "a"), at(5, "n", "m", "l"), at(1, "z"))...)
	assert.True(t, f.commit(token, pos(5, "m"), p(8), p(7)))
	f.holds(pos(5, "m"), join(at(9, "a"), run(8, 7), at(5, "n"))...)
}

// manyContent commits content with more entries than the cap, and content with entries below its
// floor.
func manyContent(t *testing.T, open Open) {
	f := opened(t, open, 3)
	f.build(none, run(9, 2)...)
	f.holds(p(6), run(9, 7)...)
	require.NoError(t, f.A.Drop(f.ctx, []string{agent}))
	f.build(p(8), run(9, 2)...)
	f.holds(p(8), p(9))
}

func removeBuilding(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.push(p(9), p(8))
	for range 2 {
		f.remove(ids(p(9), p(4), p(99))...)
	}
	assert.True(t, f.commit(token, none, run(6, 3)...), "the content was read before the removal")
	f.holds(none, p(8), p(6), p(5), p(3))
	assert.Equal(t, 1, f.push(p(4)), "the list does not remember them")
}

func removeAndPushBuilding(t *testing.T, open Open) {
	f := opened(t, open, 3)
	token := f.begin()
	f.remove(ids(p(9), p(8), p(7), p(6))...)
	f.push(p(9), p(5))
	f.push(p(10), p(4))
	assert.True(t, f.commit(token, none, run(9, 3)...))
	f.holds(p(4), p(10), p(9), p(5))
}

func (f *fixture) beginB(want timeline.State) string {
	f.t.Helper()
	token, state, err := f.B.Begin(f.ctx, agent)
	require.NoError(f.t, err)
	assert.Equal(f.t, want, state)
	return token
}

func oneBuild(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.push(p(9))
	f.Advance(timeline.TakeOver - time.Millisecond)
	assert.Empty(t, f.beginB(timeline.Building))
	assert.False(t, f.commit("another", none, p(1)))
	f.state(timeline.Building)
	assert.True(t, f.commit(token, none, p(8)))
	f.holds(none, p(9), p(8))
}

func takenOver(t *testing.T, open Open) {
	f := open10(t, open)
	old := f.begin()
	f.push(p(9))
	f.remove(ids(p(5))...)
	f.Advance(timeline.TakeOver)
	token := f.beginB(timeline.Building)
	require.NotEmpty(t, token)
	f.push(p(7))
	assert.False(t, f.commit(old, none, p(8)))
	require.NoError(t, f.A.Abandon(f.ctx, agent, old))
	assert.True(t, f.commit(token, none, p(8), p(5)))
	f.holds(none, p(8), p(7), p(5)) // the store does not deliver 9
	assert.False(t, f.commit(old, none, p(1)))
}

func cleared(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.push(p(9))
	require.NoError(t, f.B.ClearToken(f.ctx, []string{"absent", agent}))
	assert.False(t, f.commit(token, none, p(8)))
	f.state(timeline.Building)
	assert.Equal(t, 1, f.push(p(7)))
	again := f.beginB(timeline.Building)
	require.NotEmpty(t, again, "at once")
	assert.NotEqual(t, token, again)
	f.push(p(6))
	assert.False(t, f.commit(token, none, p(8)))
	assert.True(t, f.commit(again, none, p(5)))
	f.holds(none, p(6), p(5))

	require.NoError(t, f.A.Drop(f.ctx, []string{agent}))
	token = f.begin()
	require.NoError(t, f.B.ClearToken(f.ctx, []string{agent}))
	require.NoError(t, f.A.Abandon(f.ctx, agent, token))
	f.state(timeline.None)
}

func clearedReady(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	assert.True(t, f.commit(token, none, p(5)))
	version := f.head().Version
	require.NoError(t, f.B.ClearToken(f.ctx, []string{agent}))
	f.holds(none, p(5))
	assert.True(t, f.commit(token, none, p(5)))
	assert.False(t, f.replace(timeline.Change{Version: version, Remove: []string{"post:p5"}}), "the store was read before")
	assert.Equal(t, 1, f.push(p(6)))
}

func buildExpires(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.Advance(timeline.BuildTTL - time.Second)
	f.push(p(9))
	f.page(none, 1)
	f.state(timeline.Building)
	f.Advance(time.Second)
	f.state(timeline.None)
	assert.Zero(t, f.push(p(8)))
	assert.False(t, f.commit(token, none, p(7)), "what was pushed is lost")
	f.build(none, p(9))
	f.holds(none, p(9))
}

func abandon(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	require.NoError(t, f.B.Abandon(f.ctx, agent, "another"))
	f.state(timeline.Building)
	for range 2 {
		require.NoError(t, f.B.Abandon(f.ctx, agent, token))
		f.state(timeline.None)
	}
	assert.False(t, f.commit(token, none, p(1)))
	token = f.begin()
	assert.True(t, f.commit(token, none, p(1)))
	require.NoError(t, f.B.Abandon(f.ctx, agent, token))
	f.holds(none, p(1)) // a ready list stays
}

func commitTwice(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	assert.True(t, f.commit(token, p(3), p(5), p(4)))
	f.push(p(9))
	f.remove(ids(p(4))...)
	assert.True(t, f.commit(token, p(3), p(5), p(4)))
	f.holds(p(3), p(9), p(5)) // the second time changes nothing
}

func dropBuilding(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	require.NoError(t, f.B.Drop(f.ctx, []string{agent}))
	assert.False(t, f.commit(token, none, p(1)))
	f.state(timeline.None)
}

func readRenews(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, p(1))
	f.Advance(timeline.TTL - time.Minute)
	f.page(none, 0)
	f.Advance(timeline.TTL - time.Minute)
	_, err := f.A.ReadMany(f.ctx, []string{agent}, p(1), 1)
	require.NoError(t, err)
	f.Advance(timeline.TTL - time.Minute)
	f.holds(none, p(1))
	f.Advance(timeline.TTL)
	assert.Equal(t, timeline.Page{}, f.page(none, 10))
	assert.Zero(t, f.push(p(2)), "the list has expired")
}

func writesDoNotRenew(t *testing.T, open Open) {
	f := opened(t, open, 2)
	token := f.begin()
	f.commit(token, none, p(1))
	f.Advance(timeline.TTL - time.Minute)
	f.push(run(9, 3)...)
	f.remove(ids(run(9, 3)...)...)
	assert.True(t, f.replace(timeline.Change{Version: f.head().Version, Add: run(9, 3), Floor: p(4)}))
	require.NoError(t, f.A.ClearToken(f.ctx, []string{agent}))
	assert.True(t, f.commit(token, none, p(1)))
	assert.Empty(t, f.beginB(timeline.Ready))
	f.Advance(time.Minute)
	f.state(timeline.None)
}
