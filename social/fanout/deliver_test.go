package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
	"github.com/freshet/freshet/social/timeline"
)

func TestDeliver(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	e.a.d.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e.follow("x", "f", "away")
	socialtest.PutCircle(t, e.store, social.Circle{ID: "c", Owner: "x"}, []string{"m", "f"}, zero)
	e.build("x", "f", "m", "mentioned", "stranger")
	e.publish("open", "x", 5, everybody)
	e.publish("circle", "x", 4, social.Audience{Circles: []string{"c"}}, "mentioned")
	e.publish("alone", "x", 3, social.Audience{})
	for _, id := range []string{"open", "circle", "alone"} {
		for range 2 { // a repetition changes nothing
			require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.Deliver, Key: "post:" + id}))
			require.NoError(t, e.run(e.a, e.ctx, jobs.Deliver, "post:"+id))
		}
	}
	assert.Equal(t, []string{"alone", "circle", "open"}, e.list("x"))
	assert.Equal(t, []string{"circle", "open"}, e.list("f"))
	assert.Equal(t, []string{"circle"}, e.list("m"))
	assert.Equal(t, []string{"circle"}, e.list("mentioned"))
	assert.Equal(t, []string{}, e.list("stranger"))
	assert.Equal(t, []string{"none"}, e.list("away"), "an agent who does not read has no list")
	for _, line := range []string{"post=post:open list=f reason=follow", "list=m reason=audience", "list=mentioned reason=mention", "list=x reason=self"} {
		assert.Contains(t, log.String(), line)
	}
	assert.NotContains(t, log.String(), "list=away")

	require.NoError(t, e.store.DeletePost(e.ctx, "post:circle", "", zero))
	require.NoError(t, e.run(e.b, e.ctx, jobs.Deliver, "post:circle"))
	assert.Equal(t, []string{"alone", "open"}, e.list("x"))
	assert.Equal(t, []string{"open"}, e.list("f"))
	assert.Equal(t, []string{}, e.list("m"))
	assert.Equal(t, []string{}, e.list("mentioned"))

	require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.Deliver, Key: "post:unknown"}))
	require.NoError(t, e.run(e.a, e.ctx, jobs.Deliver, "post:unknown"))
}

func TestRemovalLogged(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	e.a.d.Log = slog.New(slog.NewTextHandler(&log, nil))
	e.follow("x", "f", "g")
	e.publish("p", "x", 1, everybody)
	require.NoError(t, e.store.DeletePost(e.ctx, "post:p", "x", zero))
	require.NoError(t, e.run(e.a, e.ctx, jobs.Deliver, "post:p"))
	assert.Regexp(t, `level=INFO .*post=post:p lists=3 took=\S+`, log.String())
}

// TestDeliverManyPages has more receivers than fit one page, and agents who follow between two
// reads of the same page.
func TestDeliverManyPages(t *testing.T) {
	e := newEnv(t)
	e.a.d.Options.CelebrityAt = 1 << 30
	var edges []social.Edge
	for i := range page + 20 {
		edges = append(edges, social.Edge{Agent: fmt.Sprintf("f%04d", i), Author: "x"})
	}
	_, _, err := e.store.FollowAll(e.ctx, edges, e.clock())
	require.NoError(t, err)
	first, last := "f0000", fmt.Sprintf("f%04d", page+19)
	e.build(first, "f0999", last)
	e.publish("p", "x", 1, everybody)
	p := newProcess(e.ctx, "deliver", func(ctx context.Context) {
		assert.NoError(t, e.run(e.a, ctx, jobs.Deliver, "post:p"))
	})
	require.True(t, p.until("versions"))
	e.follow("x", "f0000a", "f0000b") // the page now ends earlier
	p.finish()
	for _, agent := range []string{first, "f0999", last} {
		assert.Equal(t, []string{"p"}, e.list(agent), agent)
	}
}

// TestDeliverDuringUnfollow suspends a delivery before each of its steps. Then a receiver
// unfollows, the job of the unfollow completes, and the delivery goes on or is killed. The post
// must not end up in the receiver's list.
func TestDeliverDuringUnfollow(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for _, after := range []string{"versions", "states", "receivers", "push"} {
			t.Run(fmt.Sprint("before ", after, ", killed ", killed), func(t *testing.T) {
				e := newEnv(t)
				e.follow("x", "f", "other")
				e.build("f", "other")
				e.drain()
				e.publish("p", "x", 1, everybody)
				p := newProcess(e.ctx, "deliver", func(ctx context.Context) { _ = e.run(e.a, ctx, jobs.Deliver, "post:p") })
				require.True(t, p.until("versions"))
				require.True(t, p.until(after))
				_, err := e.b.Store().Unfollow(e.ctx, "f", "x", zero)
				require.NoError(t, err)
				require.NotContains(t, e.open(), row{jobs.AuthorAgent, "x/f"})
				if killed {
					p.step(goOn)
					p.kill()
				}
				p.finish()
				assert.Equal(t, []string{}, e.list("f"))
				e.drain()
				assert.Equal(t, []string{}, e.list("f"))
				assert.Equal(t, []string{"p"}, e.list("other"))
			})
		}
	}
}

// TestDeliverDuringDelete is the same with a post that is deleted and removed from lists in the
// meantime.
func TestDeliverDuringDelete(t *testing.T) {
	for _, after := range []string{"versions", "states", "receivers", "push", "done"} {
		t.Run("before "+after, func(t *testing.T) {
			e := newEnv(t)
			e.follow("x", "f")
			e.build("f")
			e.drain()
			e.publish("p", "x", 1, everybody)
			p := newProcess(e.ctx, "deliver", func(ctx context.Context) { _ = e.run(e.a, ctx, jobs.Deliver, "post:p") })
			require.True(t, p.until("versions"))
			require.True(t, p.until(after))
			require.NoError(t, e.store.DeletePost(e.ctx, "post:p", "x", zero))
			e.advance(31e9) // the lease expires
			require.NoError(t, e.run(e.b, e.ctx, jobs.Deliver, "post:p"))
			assert.Equal(t, []string{}, e.list("f"))
			p.finish()
			assert.Equal(t, []string{}, e.list("f"))
		})
	}
}

// TestDeliverRecreatedPost deletes a post and creates it again, as events do, while a job is about
// to remove it from a list.
func TestDeliverRecreatedPost(t *testing.T) {
	for _, kind := range []jobs.Kind{jobs.Deliver, jobs.AuthorAgent} {
		t.Run(string(kind), func(t *testing.T) {
			e := newEnv(t)
			e.follow("x", "f")
			e.build("f")
			again := e.publish("p", "x", 1, everybody)
			e.drain()
			require.NoError(t, e.store.DeletePost(e.ctx, "post:p", "x", zero))
			key, call := "post:p", "remove"
			if kind == jobs.AuthorAgent {
				key, call = "x/f", "replace"
				require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: kind, Key: key}))
			}
			p := newProcess(e.ctx, "late", func(ctx context.Context) { _ = e.run(e.a, ctx, kind, key) })
			require.True(t, p.until(call))
			_, _, err := e.store.CreatePost(e.ctx, again, social.Creation{})
			require.NoError(t, err)
			e.advance(31e9)
			if kind == jobs.AuthorAgent {
				require.NoError(t, e.run(e.b, e.ctx, jobs.Deliver, "post:p"))
			}
			p.finish()
			e.drain()
			assert.Equal(t, []string{"p"}, e.list("f"))
		})
	}
}

// TestDeliverDuringBuild checks that a list built during the delivery of a post contains it.
func TestDeliverDuringBuild(t *testing.T) {
	for _, built := range []string{"begin", "pull", "commit"} {
		for _, pushed := range []string{"states", "receivers", "versions", "push"} {
			t.Run(built+" and "+pushed, func(t *testing.T) {
				e := newEnv(t)
				e.follow("x", "f")
				e.drain()
				build := newProcess(e.ctx, "build", func(ctx context.Context) { assert.NoError(t, e.b.timelines.run(ctx, "f")) })
				require.True(t, build.until(built))
				e.publish("p", "x", 1, everybody)
				deliver := newProcess(e.ctx, "deliver", func(ctx context.Context) {
					assert.NoError(t, e.run(e.a, ctx, jobs.Deliver, "post:p"))
				})
				deliver.until(pushed)
				build.finish()
				deliver.finish()
				assert.Equal(t, []string{"p"}, e.list("f"))
			})
		}
	}
}

func TestDeliverBelowFloor(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f")
	for i := range testCap + 1 {
		e.publish(fmt.Sprint(i), "x", int64(i), everybody)
	}
	e.build("f")
	e.drain()
	e.publish("old", "x", 100, everybody)
	e.drain()
	assert.Equal(t, []string{"0", "1", "2", "3"}, e.list("f"))
}

// TestJobsRedisDown checks that the job waits and that this does not count as a failed attempt.
func TestJobsRedisDown(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f")
	e.build("f")
	e.drain()
	e.publish("p", "x", 1, everybody)
	for _, v := range []verdict{failBefore, failAfter} {
		p := newProcess(e.ctx, "deliver", func(ctx context.Context) {
			err := e.run(e.a, ctx, jobs.Deliver, "post:p")
			assert.ErrorIs(t, err, jobs.ErrWait)
			assert.ErrorIs(t, err, timeline.ErrUnavailable)
		})
		require.True(t, p.until("push"))
		p.step(v)
		p.finish()
	}
	assert.Zero(t, e.open()[row{jobs.Deliver, "post:p"}].Attempts)
	e.drain()
	assert.Equal(t, []string{"p"}, e.list("f"))
}

// TestRemovalTimeFromDeletion checks that the time of a removal includes the job's time in
// the queue.
func TestRemovalTimeFromDeletion(t *testing.T) {
	e := newEnv(t)
	var log bytes.Buffer
	e.a.d.Log = slog.New(slog.NewTextHandler(&log, nil))
	e.follow("x", "f")
	e.build("f")
	p := e.publish("p", "x", 5, everybody)
	e.drain()
	require.NoError(t, e.store.DeletePost(e.ctx, p.ID, "x", zero))
	e.advance(7 * time.Second)
	e.drain()
	require.Contains(t, log.String(), `msg="a deleted post was removed from all lists" post=post:p lists=2 took=7s`)
}

// TestDeliverTogether has one run deliver posts of every kind, as if each had its own.
func TestDeliverTogether(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f", "g")
	e.follow("y", "f")
	socialtest.PutCircle(t, e.store, social.Circle{ID: "c", Owner: "x"}, []string{"m"}, zero)
	e.build("x", "f", "g", "m", "mentioned")
	e.publish("deleted", "y", 9, everybody)
	e.drain()
	require.Equal(t, []string{"deleted"}, e.list("f"))
	require.NoError(t, e.store.DeletePost(e.ctx, "post:deleted", "y", zero))
	e.publish("a", "x", 5, everybody)
	e.publish("b", "y", 7, everybody)
	e.publish("c", "x", 6, social.Audience{Circles: []string{"c"}}, "mentioned")
	e.publish("alone", "x", 3, social.Audience{})
	require.Empty(t, deliverTogether(t, e, "post:c", "post:deleted", "post:none", "post:b", "post:alone", "post:a"))
	assert.Equal(t, []string{"a", "b"}, e.list("f"))
	assert.Equal(t, []string{"a"}, e.list("g"))
	assert.Equal(t, []string{"c"}, e.list("m"))
	assert.Equal(t, []string{"c"}, e.list("mentioned"))
	assert.Equal(t, []string{"alone", "a", "c"}, e.list("x"))
}

// deliverTogether runs the jobs of posts in one run, and returns those that failed.
func deliverTogether(t *testing.T, e *env, ids ...string) (failed []string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.Deliver, Key: id}))
	}
	list, err := e.store.Lease(e.ctx, len(ids), time.Minute, jobs.Deliver)
	require.NoError(t, err)
	require.Len(t, list, len(ids))
	for i, err := range e.a.handlers[jobs.Deliver].Run(e.ctx, list) {
		if err != nil {
			failed = append(failed, list[i].Key)
		}
	}
	return failed
}

// oneUnusable are lists of which one has a foreign value.
type oneUnusable struct {
	timeline.Lists
	name string
}

func (l oneUnusable) Versions(ctx context.Context, lists []string) ([]string, error) {
	if slices.Contains(lists, l.name) {
		return nil, errors.New("WRONGTYPE")
	}
	return l.Lists.Versions(ctx, lists)
}

// TestDeliverOneListUnusable checks that a list which cannot be written fails only the jobs of its own
// posts.
func TestDeliverOneListUnusable(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f", "unusable")
	e.follow("y", "f")
	e.build("f", "unusable")
	e.publish("a", "x", 1, everybody)
	e.publish("b", "y", 2, everybody)
	e.publish("c", "y", 3, everybody)
	lists := e.a.d.Lists
	e.a.d.Lists = oneUnusable{lists, "unusable"}
	assert.Equal(t, []string{"post:a"}, deliverTogether(t, e, "post:a", "post:b", "post:c"))
	e.a.d.Lists = lists
	assert.Equal(t, []string{"b", "c"}, e.list("f"))
}
