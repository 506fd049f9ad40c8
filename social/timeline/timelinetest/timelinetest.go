// Package timelinetest is the conformance suite for [timeline.Lists]. Every backend must pass it.
package timelinetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/timeline"
)

// Env holds the lists under test, which are empty and have the TTL [timeline.TTL].
type Env struct {
	// A and B are two servers with the same lists. They are the same value if the lists are in
	// the memory of one process.
	A, B timeline.Lists
	// Advance advances the clock of both.
	Advance func(d time.Duration)
}

// Open opens separate lists for a test, with a cap of most entries, and closes them with
// t.Cleanup.
type Open func(t *testing.T, most int) Env

// Start is the initial time of the clock of an [Env].
var Start = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

const agent = "u_10086"

// Run runs the suite.
func Run(t *testing.T, open func(t *testing.T, most int) Env) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Open)
	}{
		{"a list that does not exist", noList},
		{"build", build},
		{"build of nothing", buildOfNothing},
		{"paging", paging},
		{"paging below any position", pagingBelow},
		{"ids are compared by bytes", byteOrder},
		{"ten thousand posts of one second", oneSecond},
		{"the first and the last second", extremes},
		{"push", push},
		{"push keeps the order", pushOrder},
		{"push to another version", pushVersion},
		{"trimming raises the floor", trimming},
		{"nothing is added at or below the floor", belowFloor},
		{"removal", removal},
		{"removal does not lower the floor", removalKeepsFloor},
		{"push while it is built", pushBuilding},
		{"more pushes than the cap while it is built", manyPushesBuilding},
		{"the content's floor holds for pushes", floorOverPushes},
		{"more content than the cap", manyContent},
		{"removal while it is built", removeBuilding},
		{"removal and push while it is built", removeAndPushBuilding},
		{"one build at a time", oneBuild},
		{"a build is taken over", takenOver},
		{"a build whose token was cleared", cleared},
		{"clearing the token of a list that is ready", clearedReady},
		{"a build that takes too long", buildExpires},
		{"abandon", abandon},
		{"commit twice", commitTwice},
		{"replace", replace},
		{"replace of another version", replaceVersion},
		{"replace with a floor", replaceFloor},
		{"replace while it is built", replaceBuilding},
		{"replace trims", replaceTrims},
		{"heads", heads},
		{"many lists", manyLists},
		{"drop", drop},
		{"drop while it is built", dropBuilding},
		{"a read renews the TTL", readRenews},
		{"nothing else renews the TTL", writesDoNotRenew},
		{"cancelled context", cancelled},
		{"pushes, builds and reads at once", concurrent},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// fixture is an [Env] with calls that must succeed.
type fixture struct {
	Env
	t   *testing.T
	ctx context.Context
}

func open10(t *testing.T, open Open) *fixture { return opened(t, open, 10) }

func opened(t *testing.T, open Open, most int) *fixture {
	return &fixture{Env: open(t, most), t: t, ctx: t.Context()}
}

// at returns the positions of posts of one second.
func at(second int64, names ...string) []timeline.Position {
	list := make([]timeline.Position, len(names))
	for i, name := range names {
		list[i] = timeline.Position{At: second, ID: "post:" + name}
	}
	return list
}

// pos returns the position of one post.
func pos(second int64, name string) timeline.Position { return at(second, name)[0] }

// p returns the position of run's post of a second.
func p(second int64) timeline.Position { return pos(second, fmt.Sprintf("p%d", second)) }

// run returns the positions of posts of consecutive seconds, newest first.
func run(from, downTo int64) []timeline.Position {
	var list []timeline.Position
	for s := from; s >= downTo; s-- {
		list = append(list, p(s))
	}
	return list
}

func ids(list ...timeline.Position) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.ID
	}
	return names
}

func join(lists ...[]timeline.Position) []timeline.Position {
	var all []timeline.Position
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func (f *fixture) begin() string {
	f.t.Helper()
	token, state, err := f.A.Begin(f.ctx, agent)
	require.NoError(f.t, err)
	require.Equal(f.t, timeline.Building, state)
	require.NotEmpty(f.t, token)
	return token
}

func (f *fixture) commit(token string, floor timeline.Position, entries ...timeline.Position) bool {
	f.t.Helper()
	done, err := f.A.Commit(f.ctx, agent, token, timeline.Content{Entries: entries, Floor: floor})
	require.NoError(f.t, err)
	return done
}

// build builds the agent's list.
func (f *fixture) build(floor timeline.Position, entries ...timeline.Position) {
	f.t.Helper()
	require.True(f.t, f.commit(f.begin(), floor, entries...))
}

func (f *fixture) push(entries ...timeline.Position) int {
	f.t.Helper()
	held := f.pushTo([]string{agent}, entries)
	require.Len(f.t, held, 1)
	return held[0]
}

// pushTo pushes to lists at their current versions.
func (f *fixture) pushTo(lists []string, entries []timeline.Position) []int {
	f.t.Helper()
	held, err := f.B.Push(f.ctx, Additions(lists, f.versions(lists), entries...))
	require.NoError(f.t, err)
	return held
}

// Additions adds the same entries to each list.
func Additions(lists, versions []string, entries ...timeline.Position) []timeline.Addition {
	all := make([]timeline.Addition, len(lists))
	for i, list := range lists {
		all[i] = timeline.Addition{List: list, Version: versions[i], Entries: entries}
	}
	return all
}

func (f *fixture) versions(lists []string) []string {
	f.t.Helper()
	heads, err := f.A.Heads(f.ctx, lists)
	require.NoError(f.t, err)
	all := make([]string, len(heads))
	for i, h := range heads {
		all[i] = h.Version
	}
	return all
}

func (f *fixture) remove(names ...string) {
	f.t.Helper()
	require.NoError(f.t, f.B.Remove(f.ctx, []string{agent}, names))
}

func (f *fixture) head() timeline.Head {
	f.t.Helper()
	all, err := f.B.Heads(f.ctx, []string{agent})
	require.NoError(f.t, err)
	require.Len(f.t, all, 1)
	return all[0]
}

func (f *fixture) page(below timeline.Position, n int) timeline.Page {
	f.t.Helper()
	page, err := f.B.Read(f.ctx, agent, below, n)
	require.NoError(f.t, err)
	return page
}

// holds asserts that the agent's list is ready and has exactly these entries and this floor.
func (f *fixture) holds(floor timeline.Position, entries ...timeline.Position) {
	f.t.Helper()
	page := f.page(timeline.Position{}, 100_000)
	assert.Equal(f.t, timeline.Ready, page.State)
	assert.Equal(f.t, floor, page.Floor, "floor")
	if len(entries) == 0 {
		assert.Empty(f.t, page.Entries)
	} else {
		assert.Equal(f.t, entries, page.Entries)
	}
	assert.False(f.t, page.More)
}

func (f *fixture) state(want timeline.State) {
	f.t.Helper()
	assert.Equal(f.t, want, f.head().State)
}
