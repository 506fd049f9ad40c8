package fanout

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
)

func TestPair(t *testing.T) {
	e := newEnv(t)
	e.publish("old", "x", 9, everybody)
	e.publish("new", "x", 1, everybody)
	e.publish("for-f", "x", 5, social.Audience{}, "f")
	e.publish("other", "y", 3, everybody)
	e.follow("y", "f")
	e.build("f")
	e.drain()
	require.Equal(t, []string{"other", "for-f"}, e.list("f"))
	pair := func() {
		t.Helper()
		require.NoError(t, e.run(e.a, e.ctx, jobs.AuthorAgent, "x/f"))
	}
	e.follow("x", "f")
	pair()
	assert.Equal(t, []string{"new", "other", "for-f", "old"}, e.list("f"))
	_, err := e.store.Unfollow(e.ctx, "f", "x", zero)
	require.NoError(t, err)
	pair()
	assert.Equal(t, []string{"other", "for-f"}, e.list("f"), "posts due for another reason stay")
	_, err = e.store.Block(e.ctx, "x", "f")
	require.NoError(t, err)
	pair()
	assert.Equal(t, []string{"other"}, e.list("f"))
	_, err = e.store.Unblock(e.ctx, "x", "f")
	require.NoError(t, err)
	pair()
	assert.Equal(t, []string{"other", "for-f"}, e.list("f"))

	require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.AuthorAgent, Key: "nonsense"}))
	require.ErrorContains(t, e.run(e.a, e.ctx, jobs.AuthorAgent, "nonsense"), "is not a pair")
	require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.AuthorAgent, Key: "x/nobody"}))
	require.NoError(t, e.run(e.a, e.ctx, jobs.AuthorAgent, "x/nobody"))
	assert.Equal(t, []string{"none"}, e.list("nobody"), "a job creates no list")
}

// TestPairAboveFloor has a list with room for four entries, and an author with six posts that
// are newer than all of them.
func TestPairAboveFloor(t *testing.T) {
	e := newEnv(t)
	e.follow("y", "f")
	for i := range 6 {
		e.publish(fmt.Sprint("y", i), "y", int64(50+i), everybody)
		e.publish(fmt.Sprint("x", i), "x", int64(i), everybody)
	}
	e.publish("low", "x", 1000, everybody)
	e.build("f")
	e.follow("x", "f")
	e.drain()
	assert.Equal(t, []string{"x0", "x1", "x2", "x3"}, e.list("f"))
	heads, err := e.lists.Heads(e.ctx, []string{"f"})
	require.NoError(t, err)
	assert.Equal(t, "post:x4", heads[0].Floor.ID)
}

func TestMember(t *testing.T) {
	e := newEnv(t)
	socialtest.PutCircle(t, e.store, social.Circle{ID: "c", Owner: "x"}, []string{}, zero)
	e.publish("p", "x", 1, social.Audience{Circles: []string{"c"}})
	e.publish("both", "x", 2, social.Audience{Circles: []string{"c"}}, "m")
	e.build("m")
	e.drain()
	require.Equal(t, []string{"both"}, e.list("m"))
	member := func() {
		t.Helper()
		require.NoError(t, e.run(e.a, e.ctx, jobs.Member, "c/m"))
	}
	_, err := e.store.AddMember(e.ctx, "c", "m", "x", zero)
	require.NoError(t, err)
	member()
	assert.Equal(t, []string{"p", "both"}, e.list("m"))
	_, err = e.store.RemoveMember(e.ctx, "c", "m", "x", zero)
	require.NoError(t, err)
	member()
	assert.Equal(t, []string{"both"}, e.list("m"))
	_, err = e.store.AddMember(e.ctx, "c", "m", "x", zero)
	require.NoError(t, err)
	member()
	require.NoError(t, e.store.DropCircle(e.ctx, "c", "x", zero))
	member()
	assert.Equal(t, []string{"both"}, e.list("m"))
}

// TestPairConcurrent runs two jobs of one list, one of which is suspended after it has queried the
// store.
func TestPairConcurrent(t *testing.T) {
	e := newEnv(t)
	e.publish("x", "x", 1, everybody)
	e.publish("y", "y", 2, everybody)
	e.build("f")
	e.drain()
	e.follow("x", "f")
	p := newProcess(e.ctx, "pair", func(ctx context.Context) { assert.NoError(t, e.run(e.a, ctx, jobs.AuthorAgent, "x/f")) })
	require.True(t, p.until("replace"))
	e.follow("y", "f")
	_, err := e.store.Unfollow(e.ctx, "f", "x", zero)
	require.NoError(t, err)
	require.NoError(t, e.run(e.b, e.ctx, jobs.AuthorAgent, "y/f"))
	p.finish()
	assert.Equal(t, []string{"y"}, e.list("f"), "it read the store again")
	e.drain()
	assert.Equal(t, []string{"y"}, e.list("f"))
}

// TestPairDuringBuild suspends a build that has read the store, and then the agent follows an
// author.
func TestPairDuringBuild(t *testing.T) {
	e := newEnv(t)
	e.publish("p", "x", 1, everybody)
	e.drain()
	p := newProcess(e.ctx, "build", func(ctx context.Context) { assert.NoError(t, e.b.timelines.run(ctx, "f")) })
	require.True(t, p.until("commit"))
	e.follow("x", "f")
	e.drain()
	p.finish()
	assert.Equal(t, []string{"p"}, e.list("f"))
}

// TestGroupRemovalLeavesLists checks that a post leaves the lists of the members of a group that
// it was removed from and, without any other audience, of those whom it mentions; not its
// author's.
func TestGroupRemovalLeavesLists(t *testing.T) {
	e := newEnv(t)
	group := social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}}
	socialtest.PutCircle(t, e.store, group, []string{"a", "m", "f"}, zero)
	e.follow("a", "f")
	inGroup := social.Audience{Circles: []string{"g"}}
	only := e.publish("only", "a", 1, inGroup, "f", "x")
	wide := e.publish("wide", "a", 2, social.Audience{Followers: true, Circles: []string{"g"}})
	e.publish("other", "a", 3, inGroup)
	e.drain()
	e.build("a", "o", "m", "f", "x")
	require.Equal(t, []string{"only"}, e.list("x"))
	for _, p := range []social.Post{only, wide} {
		require.NoError(t, e.store.RemovePost(e.ctx, p.ID, "o", "", ""))
	}
	e.drain()
	for agent, want := range map[string][]string{
		"a": {"only", "wide", "other"}, "o": {"other"}, "m": {"other"}, "f": {"wide", "other"}, "x": {},
	} {
		assert.Equal(t, want, append([]string{}, e.list(agent)...), agent)
	}
}
