package fanout

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
	"github.com/freshet/freshet/social/timeline"
)

// TestDeliverWakes checks whom the delivery of a post wakes: those into whose lists it was pushed, except
// its author, those who pull the author's posts, and those who follow the whole server.
func TestDeliverWakes(t *testing.T) {
	e := newEnv(t)
	var wakes []timeline.Wake
	e.a.d.Wake = func(w timeline.Wake) {
		if w.Names() > 0 {
			wakes = append(wakes, w)
		}
	}
	woken := func(id string) []timeline.Wake {
		t.Helper()
		wakes = nil
		require.NoError(t, e.run(e.a, e.ctx, jobs.Deliver, "post:"+id))
		return wakes
	}
	e.follow("x", "f", "away", "blocked")
	_, err := e.store.Block(e.ctx, "blocked", "x")
	require.NoError(t, err)
	socialtest.PutCircle(t, e.store, social.Circle{ID: "c", Owner: "x"}, []string{"m", "f"}, zero)
	e.build("x", "f", "m", "mentioned", "stranger", "blocked")
	server := timeline.Wake{Authors: []string{social.Server}}

	e.publish("open", "x", 9, everybody)
	assert.Equal(t, []timeline.Wake{{Agents: []string{"f"}}, server}, woken("open"))
	e.publish("circle", "x", 8, social.Audience{Circles: []string{"c"}}, "mentioned")
	assert.Equal(t, []timeline.Wake{{Agents: []string{"f", "m", "mentioned"}}}, woken("circle"))
	e.publish("alone", "x", 7, social.Audience{})
	assert.Empty(t, woken("alone"))
	require.NoError(t, e.store.DeletePost(e.ctx, "post:open", "x", zero))
	assert.Empty(t, woken("open"), "nobody has to be told that a post is gone")

	_, err = e.store.SetDelivery(e.ctx, "x", social.Push, social.Pull)
	require.NoError(t, err)
	e.publish("pulled", "x", 6, social.Audience{Followers: true}, "mentioned")
	assert.Equal(t, []timeline.Wake{{Agents: []string{"mentioned"}}, {Authors: []string{"x"}}}, woken("pulled"))
	e.publish("open2", "x", 5, everybody)
	assert.Equal(t, []timeline.Wake{{Authors: []string{social.Server, "x"}}}, woken("open2"))
}
