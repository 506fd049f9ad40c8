package fanout

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// TestEraseImmediate checks that the call after an erasure finds nothing of the agent.
func TestEraseImmediate(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f")
	e.follow("y", "x")
	e.publish("y", "y", 1, everybody)
	e.publish("x", "x", 1, everybody)
	_, _, err := e.store.Like(e.ctx, "x", "post:y")
	require.NoError(t, err)
	e.drain()
	s := e.a.Store()
	require.NoError(t, s.EraseAuthor(e.ctx, "x"))
	followers, err := s.Followers(e.ctx, "x", "", "", 9)
	require.NoError(t, err)
	assert.Empty(t, followers)
	require.NoError(t, s.EraseAgent(e.ctx, "x"))
	following, err := s.Following(e.ctx, "x", "", "", 9)
	require.NoError(t, err)
	assert.Empty(t, following)
	cards, err := s.Cards(e.ctx, "", []social.PostVersion{{ID: "post:y"}})
	require.NoError(t, err)
	assert.Zero(t, cards[0].Likes)
	assert.NotContains(t, e.open(), row{jobs.Erase, "x"})
}

func TestErase(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f")
	e.follow("y", "x")
	e.publish("y", "y", 1, everybody)
	for i := range 3 {
		e.publish(fmt.Sprint(i), "x", 1, everybody, "m")
	}
	e.build("x", "f", "m")
	e.drain()
	require.Equal(t, []string{"2", "1", "0"}, e.list("f"))
	require.Len(t, e.items.byID, 4)
	require.NoError(t, e.a.Store().EraseAgent(e.ctx, "x"))
	e.drain()
	assert.Equal(t, []string{"none"}, e.list("x"))
	assert.Equal(t, []string{}, e.list("f"))
	assert.Equal(t, []string{}, e.list("m"))
	assert.Len(t, e.items.byID, 1)
	e.build("x")
	assert.Equal(t, []string{}, e.list("x"), "the erased agent follows no one")
}

// TestEraseAuthorJobs checks that erasing an author creates one job for each post
// and none for each follower, whatever the delivery, and that no list retains the author's posts.
func TestEraseAuthorJobs(t *testing.T) {
	for name, c := range map[string]struct {
		followers []string
		delivery  social.Delivery
	}{
		"pushed": {[]string{"a", "b"}, social.Push},
		"pulled": {[]string{"a", "b", "c", "d", "e"}, social.Pull},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.follow("x", c.followers...)
			e.follow("y", "a", "b")
			e.drain()
			require.Equal(t, c.delivery, e.delivery("x"))
			e.build("a", "b")
			for i := range 4 {
				e.publish(fmt.Sprint("p", i), "x", int64(1+i), everybody)
			}
			e.publish("q", "y", 3, everybody)
			e.drain()
			require.NoError(t, e.a.Outbox(e.ctx, []string{"x"}))
			require.NoError(t, e.a.Store().EraseAgent(e.ctx, "x"))
			for r, j := range e.open() {
				assert.NotEqual(t, jobs.AuthorAgent, r.kind, r.key)
				assert.GreaterOrEqual(t, j.Priority, jobs.PriorityUpkeep, "%v runs after jobs of current changes", r)
			}
			e.drain()
			assert.Equal(t, []string{}, e.outbox("x"))
			assert.Equal(t, social.Push, e.delivery("x"))
			assert.Equal(t, []string{"q"}, e.list("a"))
			assert.Equal(t, []string{"q"}, e.list("b"))
		})
	}
}

// TestErasedAuthorReturns checks that a post created after the erasure exists, but is in no list
// of a former follower until they follow again.
func TestErasedAuthorReturns(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "a", "b")
	e.build("a", "b")
	e.publish("old", "x", 1, everybody)
	e.drain()
	require.NoError(t, e.store.EraseAuthor(e.ctx, "x"))
	e.publish("new", "x", 2, everybody)
	e.drain()
	assert.Equal(t, []string{}, e.list("a"))
	e.follow("x", "b")
	e.drain()
	assert.Equal(t, []string{"new"}, e.list("b"))
}
