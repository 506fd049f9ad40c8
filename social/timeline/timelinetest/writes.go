package timelinetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/timeline"
)

func push(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, pos(5, "a"))
	for range 2 { // the second time changes nothing and returns the same
		assert.Equal(t, 2, f.push(pos(6, "b"), pos(5, "a")))
		f.holds(none, pos(6, "b"), pos(5, "a"))
	}
}

func pushOrder(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, pos(5, "m"))
	for _, p := range join(at(9, "c"), at(5, "a", "z"), at(1, "b"), at(9, "d")) {
		assert.Equal(t, 1, f.push(p))
	}
	f.holds(none, join(at(9, "d", "c"), at(5, "z", "m", "a"), at(1, "b"))...)
}

func trimming(t *testing.T, open Open) {
	f := opened(t, open, 3)
	f.build(none, run(5, 3)...)
	assert.Equal(t, 1, f.push(p(6)))
	f.holds(p(3), run(6, 4)...)
	assert.Zero(t, f.push(pos(3, "z")), "the oldest of four is removed")
	f.holds(pos(3, "z"), run(6, 4)...)
	assert.Equal(t, 3, f.push(run(10, 7)...), "one of four does not fit")
	f.holds(p(7), run(10, 8)...)
	assert.Equal(t, 1, f.push(pos(9, "a")), "in the middle")
	f.holds(p(8), p(10), p(9), pos(9, "a"))
}

func belowFloor(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(pos(5, "m"), pos(9, "a"))
	assert.Zero(t, f.push(pos(5, "m")))
	assert.Zero(t, f.push(pos(5, "a"), pos(4, "z")))
	assert.Equal(t, 1, f.push(pos(5, "n"), pos(5, "l")))
	f.holds(pos(5, "m"), pos(9, "a"), pos(5, "n"))
}

func removal(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, run(5, 1)...)
	_ = f.push(pos(6, "q"))
	for range 2 {
		f.remove("post:q", "post:absent")
		f.holds(none, run(5, 1)...)
	}
	f.remove()
	f.build2(t, "other", pos(9, "q"), pos(8, "r"))
	require.NoError(t, f.A.Remove(f.ctx, []string{agent, "absent", "other"}, []string{"post:q", "post:p4"}))
	f.holds(none, join(run(5, 5), run(3, 1))...)
	page, err := f.A.Read(f.ctx, "other", none, 5)
	require.NoError(t, err)
	assert.Equal(t, at(8, "r"), page.Entries)
}

// build2 builds another list.
func (f *fixture) build2(t *testing.T, list string, entries ...timeline.Position) {
	t.Helper()
	token, _, err := f.A.Begin(f.ctx, list)
	require.NoError(t, err)
	done, err := f.A.Commit(f.ctx, list, token, timeline.Content{Entries: entries})
	require.NoError(t, err)
	require.True(t, done)
}

func removalKeepsFloor(t *testing.T, open Open) {
	f := opened(t, open, 3)
	f.build(none, run(5, 3)...)
	f.push(p(6))
	f.remove(ids(run(6, 4)...)...)
	f.holds(p(3))
	assert.Zero(t, f.push(p(2), p(3)))
	f.holds(p(3))
}

func (f *fixture) replace(c timeline.Change) bool {
	f.t.Helper()
	done, err := f.B.Replace(f.ctx, agent, c)
	require.NoError(f.t, err)
	return done
}

func replace(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(pos(2, "f"), run(6, 3)...)
	head := f.head()
	c := timeline.Change{
		Version: head.Version, Remove: []string{"post:p5", "post:p3", "post:p6", "post:absent"},
		Add: join(at(9, "new"), at(6, "p6"), at(4, "n"), at(2, "f"), at(1, "z")),
	}
	assert.True(t, f.replace(c))
	f.holds(pos(2, "f"), join(at(9, "new"), at(6, "p6"), at(4, "p4", "n"))...)
	assert.NotEqual(t, head.Version, f.head().Version)
	assert.True(t, f.replace(timeline.Change{Version: f.head().Version}), "an empty change")
	f.holds(pos(2, "f"), join(at(9, "new"), at(6, "p6"), at(4, "p4", "n"))...)
}

// replaceVersion checks that a caller with an older read of the store cannot replace after one with
// a newer read.
func replaceVersion(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, pos(5, "a"))
	before := f.head().Version
	f.push(pos(6, "b"))
	assert.Equal(t, before, f.head().Version, "pushes do not change the version")
	f.remove("post:b")
	assert.NotEqual(t, before, f.head().Version, "the store may have been read before that")
	before = f.head().Version
	assert.True(t, f.replace(timeline.Change{Version: before, Add: at(7, "c")}))
	assert.False(t, f.replace(timeline.Change{Version: before, Remove: []string{"post:c"}}))
	assert.False(t, f.replace(timeline.Change{Remove: []string{"post:c"}}))
	f.holds(none, pos(7, "c"), pos(5, "a"))
	now := f.head().Version
	require.NoError(t, f.A.Drop(f.ctx, []string{agent}))
	assert.False(t, f.replace(timeline.Change{Version: now, Add: at(9, "x")}))
	f.build(none, pos(7, "c"))
	assert.False(t, f.replace(timeline.Change{Version: now, Add: at(9, "x")}), "the list was built again")
	f.holds(none, pos(7, "c"))
}

// pushVersion checks that a push based on a read of the store from before a change adds nothing.
func pushVersion(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, pos(5, "a"))
	one := []string{agent}
	late := func(version string) int {
		held, err := f.A.Push(f.ctx, []timeline.Addition{{List: agent, Version: version, Entries: at(9, "late")}})
		require.NoError(t, err)
		return held[0]
	}
	version := f.head().Version
	for name, change := range map[string]func(){
		"clear token": func() { require.NoError(t, f.B.ClearToken(f.ctx, one)) },
		"remove":      func() { f.remove("post:late") },
		"replace":     func() { assert.True(t, f.replace(timeline.Change{Version: f.head().Version})) },
		"drop and build": func() {
			require.NoError(t, f.B.Drop(f.ctx, one))
			f.build(none, pos(5, "a"))
		},
	} {
		change()
		assert.NotEqual(t, version, f.head().Version, name)
		assert.Zero(t, late(version), name)
		f.holds(none, pos(5, "a"))
		version = f.head().Version
	}
	assert.Zero(t, late(""))
	assert.Equal(t, 1, late(version))
	assert.Equal(t, 1, late(version), "the same result again")
	assert.Equal(t, version, f.head().Version)
	require.NoError(t, f.B.Drop(f.ctx, one))
	token := f.begin()
	version = f.head().Version
	require.NoError(t, f.B.ClearToken(f.ctx, one))
	assert.Zero(t, late(version))
	require.NoError(t, f.A.Abandon(f.ctx, agent, token))
}

func replaceFloor(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, join(at(9, "a"), at(5, "n", "m", "l"), at(3, "z"))...)
	c := timeline.Change{Version: f.head().Version, Add: at(7, "y", "x"), Floor: pos(5, "m")}
	assert.True(t, f.replace(c))
	f.holds(pos(5, "m"), join(at(9, "a"), at(7, "y", "x"), at(5, "n"))...)
	c = timeline.Change{Version: f.head().Version, Floor: pos(5, "a")}
	assert.True(t, f.replace(c))
	f.holds(pos(5, "m"), join(at(9, "a"), at(7, "y", "x"), at(5, "n"))...)
	c = timeline.Change{Version: f.head().Version, Floor: pos(20, "a")}
	assert.True(t, f.replace(c))
	f.holds(pos(20, "a"))
}

func replaceTrims(t *testing.T, open Open) {
	f := opened(t, open, 3)
	f.build(none, run(5, 4)...)
	assert.True(t, f.replace(timeline.Change{Version: f.head().Version, Add: run(9, 7), Remove: []string{"post:p5"}}))
	f.holds(p(4), run(9, 7)...)
}

func replaceBuilding(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.push(pos(8, "pushed"), pos(2, "low"))
	version := f.head().Version
	c := timeline.Change{Version: version, Remove: []string{"post:pushed", "post:read"}, Add: at(7, "added"), Floor: pos(3, "f")}
	assert.True(t, f.replace(c))
	assert.False(t, f.replace(timeline.Change{Version: version, Add: at(9, "late")}))
	assert.True(t, f.commit(token, pos(1, "f"), join(at(9, "own"), at(6, "read"), at(2, "low"))...))
	f.holds(pos(3, "f"), join(at(9, "own"), at(7, "added"))...)
}

func drop(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, pos(5, "a"))
	for range 2 {
		require.NoError(t, f.B.Drop(f.ctx, []string{agent, "absent"}))
		f.state(timeline.None)
	}
	f.build(none)
	f.holds(none)
}

func cancelled(t *testing.T, open Open) {
	f := open10(t, open)
	f.build(none, pos(5, "a"))
	version := f.head().Version
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	one := []string{agent}
	for name, call := range map[string]func() error{
		"Read":     func() error { _, err := f.A.Read(ctx, agent, none, 1); return err },
		"ReadMany": func() error { _, err := f.A.ReadMany(ctx, one, none, 1); return err },
		"Heads":    func() error { _, err := f.A.Heads(ctx, one); return err },
		"Versions": func() error { _, err := f.A.Versions(ctx, one); return err },
		"Push": func() error {
			_, err := f.A.Push(ctx, []timeline.Addition{{List: agent, Version: version, Entries: at(9, "x")}})
			return err
		},
		"Remove":     func() error { return f.A.Remove(ctx, one, []string{"post:a"}) },
		"ClearToken": func() error { return f.A.ClearToken(ctx, one) },
		"Drop":       func() error { return f.A.Drop(ctx, one) },
		"Begin":      func() error { _, _, err := f.A.Begin(ctx, agent); return err },
		"Commit":     func() error { _, err := f.A.Commit(ctx, agent, "x", timeline.Content{}); return err },
		"Abandon":    func() error { return f.A.Abandon(ctx, agent, "x") },
		"Replace": func() error {
			_, err := f.A.Replace(ctx, agent, timeline.Change{Version: version, Add: at(9, "x")})
			return err
		},
	} {
		err := call()
		require.ErrorIs(t, err, context.Canceled, name)
		assert.NotErrorIs(t, err, timeline.ErrUnavailable, name)
	}
	f.holds(none, pos(5, "a"))
}

// concurrent pushes from two servers while the list is rebuilt repeatedly. No entries may be lost
// that were pushed after a build began or are in its content.
func concurrent(t *testing.T, open Open) {
	f := opened(t, open, 1000)
	const pushers, posts = 4, 50
	var store sync.Map // the posts of the store, as builds read them
	var work sync.WaitGroup
	for n := range pushers {
		work.Go(func() {
			lists := f.A
			if n%2 == 1 {
				lists = f.B
			}
			for i := range posts {
				p := pos(int64(i), fmt.Sprintf("%d-%d", n, i))
				store.Store(p, true)
				heads, err := lists.Heads(f.ctx, []string{agent})
				assert.NoError(t, err)
				_, err = lists.Push(f.ctx, []timeline.Addition{{List: agent, Version: heads[0].Version, Entries: []timeline.Position{p}}})
				assert.NoError(t, err)
			}
		})
	}
	for n := range 2 {
		work.Go(func() {
			for range 10 {
				token, state, err := f.B.Begin(f.ctx, agent)
				assert.NoError(t, err)
				if state == timeline.Ready && n == 0 {
					assert.NoError(t, f.B.Drop(f.ctx, []string{agent}))
				}
				if token == "" {
					continue
				}
				_, err = f.B.Commit(f.ctx, agent, token, content(&store))
				assert.NoError(t, err)
			}
		})
	}
	work.Wait()
	if f.head().State != timeline.Ready {
		require.NoError(t, f.A.Drop(f.ctx, []string{agent}))
		f.build(none, content(&store).Entries...)
	}
	page := f.page(none, 1000)
	assert.Len(t, page.Entries, pushers*posts)
	for i := 1; i < len(page.Entries); i++ {
		assert.Positive(t, page.Entries[i-1].Compare(page.Entries[i]))
	}
}

func content(store *sync.Map) (c timeline.Content) {
	store.Range(func(p, _ any) bool {
		c.Entries = append(c.Entries, p.(timeline.Position))
		return true
	})
	return c
}
