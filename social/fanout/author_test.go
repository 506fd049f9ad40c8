package fanout

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

var fans = []string{"f1", "f2", "f3", "f4"}

func TestCelebritySwitch(t *testing.T) {
	e := newEnv(t)
	e.build("f1", "f4")
	e.publish("pushed", "x", 9, everybody)
	e.follow("x", fans[:3]...)
	e.drain()
	require.Equal(t, social.Push, e.delivery("x"))
	author := func() {
		t.Helper()
		require.NoError(t, e.run(e.a, e.ctx, jobs.Author, "x"))
	}

	e.follow("x", fans[3])
	author()
	require.Equal(t, social.Both, e.delivery("x"))
	author()
	require.Equal(t, social.Both, e.delivery("x"), "the grace period is not over")
	require.NoError(t, e.a.Outbox(e.ctx, []string{"x"})) // as a page that needs it does
	e.publish("both", "x", 8, everybody)
	require.NoError(t, e.run(e.a, e.ctx, jobs.Deliver, "post:both"))
	assert.Equal(t, []string{"both", "pushed"}, e.list("f1"))
	assert.Equal(t, []string{"both", "pushed"}, e.outbox("x"))
	e.advance(grace)
	author()
	require.Equal(t, social.Pull, e.delivery("x"))

	e.publish("pulled", "x", 7, everybody, "f4")
	e.publish("hidden", "x", 6, social.Audience{})
	e.drain()
	assert.Equal(t, []string{"both", "pushed"}, e.list("f1"))
	assert.Equal(t, []string{"pulled"}, e.list("f4"), "it mentions them; the job of the follow has removed the rest")
	assert.Equal(t, []string{"pulled", "both", "pushed"}, e.outbox("x"))
	require.NoError(t, e.store.DeletePost(e.ctx, "post:both", "x", zero))
	e.drain()
	assert.Equal(t, []string{"pushed"}, e.list("f1"), "removed from every list it was delivered to")
	assert.Equal(t, []string{"pulled", "pushed"}, e.outbox("x"))

	for _, fan := range fans[1:3] {
		_, err := e.store.Unfollow(e.ctx, fan, "x", zero)
		require.NoError(t, err)
	}
	author()
	require.Equal(t, social.Both, e.delivery("x"))
	e.advance(grace)
	author()
	require.Equal(t, social.Push, e.delivery("x"))
	assert.Equal(t, []string{"pulled", "pushed"}, e.list("f1"))
	assert.Equal(t, []string{"pulled", "pushed"}, e.list("f4"))

	// The old outbox does not get the post that follows.
	e.publish("later", "x", 5, everybody)
	e.drain()
	e.follow("x", fans...)
	e.drain()
	require.Equal(t, social.Pull, e.delivery("x"))
	assert.Equal(t, []string{"later", "pulled", "pushed"}, e.outbox("x"))
}

// TestCelebritySwitchFollowersReturn checks that the author returns to pull when followers come
// back during the switch to push.
func TestCelebritySwitchFollowersReturn(t *testing.T) {
	e := newEnv(t)
	e.follow("x", fans...)
	e.drain()
	require.Equal(t, social.Pull, e.delivery("x"))
	for _, fan := range fans[:2] {
		_, err := e.store.Unfollow(e.ctx, fan, "x", zero)
		require.NoError(t, err)
	}
	require.NoError(t, e.run(e.a, e.ctx, jobs.Author, "x"))
	require.Equal(t, social.Both, e.delivery("x"))
	e.follow("x", fans[:2]...)
	e.drain()
	assert.Equal(t, social.Pull, e.delivery("x"))
}

// TestPostDuringListFill publishes a post after the store was read and before the list is
// changed.
func TestPostDuringListFill(t *testing.T) {
	e := newEnv(t)
	e.follow("x", fans...)
	e.publish("old", "x", 9, everybody)
	e.drain()
	e.build("f1")
	for _, fan := range fans[2:] {
		_, err := e.store.Unfollow(e.ctx, fan, "x", zero)
		require.NoError(t, err)
	}
	require.NoError(t, e.run(e.a, e.ctx, jobs.Author, "x"))
	e.advance(grace)
	p := newProcess(e.ctx, "author", func(ctx context.Context) { assert.NoError(t, e.run(e.a, ctx, jobs.Author, "x")) })
	require.True(t, p.until("replace"))
	e.publish("new", "x", 1, everybody)
	require.NoError(t, e.run(e.b, e.ctx, jobs.Deliver, "post:new"))
	p.finish()
	require.Equal(t, social.Push, e.delivery("x"))
	assert.Equal(t, []string{"new", "old"}, e.list("f1"))
}
