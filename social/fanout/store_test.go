package fanout

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
	"github.com/freshet/freshet/social/timeline"
)

// TestReadYourWrites checks that agents see their own changes in their next call, without any
// worker.
func TestReadYourWrites(t *testing.T) {
	e := newEnv(t)
	s := e.a.Store()
	e.publish("x", "x", 2, everybody)
	e.publish("c", "x", 1, everybody)
	e.drain()
	e.build("f", "x")

	p, _, err := s.CreatePost(e.ctx, post(e, "own", "f", 0, everybody), social.Creation{Key: "k"})
	require.NoError(t, err)
	assert.Equal(t, []string{"own"}, e.list("f"))
	assert.Contains(t, e.open(), row{jobs.Deliver, p.ID}, "the rest is left to the workers")
	_, err = s.Follow(e.ctx, "f", "x", zero)
	require.NoError(t, err)
	assert.Equal(t, []string{"own", "c", "x"}, e.list("f"))
	_, err = s.Unfollow(e.ctx, "f", "x", zero)
	require.NoError(t, err)
	assert.Equal(t, []string{"own"}, e.list("f"))
	require.NoError(t, s.DeletePost(e.ctx, p.ID, "f", zero))
	assert.Equal(t, []string{}, e.list("f"))

	_, err = s.Follow(e.ctx, "f", "x", zero)
	require.NoError(t, err)
	_, err = s.Follow(e.ctx, "x", "f", zero)
	require.NoError(t, err)
	p, _, err = s.CreatePost(e.ctx, post(e, "second", "f", 0, everybody), social.Creation{})
	require.NoError(t, err)
	require.NoError(t, e.run(e.a, e.ctx, jobs.Deliver, p.ID))
	assert.Equal(t, []string{"second", "c", "x"}, e.list("x"))
	_, err = s.Block(e.ctx, "f", "x")
	require.NoError(t, err)
	assert.Equal(t, []string{"second"}, e.list("f"))
	assert.Equal(t, []string{"c", "x"}, e.list("x"))
	_, err = s.Unblock(e.ctx, "f", "x")
	require.NoError(t, err)
	require.NoError(t, s.DeletePost(e.ctx, p.ID, "f", zero))
	assert.Equal(t, []string{}, e.list("f"))
	_, err = s.Follow(e.ctx, "f", social.Server, zero)
	require.NoError(t, err)
	for r := range e.open() {
		assert.NotContains(t, []jobs.Kind{jobs.AuthorAgent, jobs.Member}, r.kind)
	}
}

func TestCircleMembersReadTheirWrites(t *testing.T) {
	e := newEnv(t)
	s := e.a.Store()
	circle := social.Circle{ID: "c", Owner: "x"}
	socialtest.PutCircle(t, s, circle, []string{"m"}, zero)
	e.publish("p", "x", 1, social.Audience{Circles: []string{"c"}})
	e.drain()
	e.build("m", "n")
	socialtest.PutCircle(t, s, circle, []string{"n"}, zero)
	assert.Equal(t, []string{}, e.list("m"))
	assert.Equal(t, []string{"p"}, e.list("n"))
	_, err := s.AddMember(e.ctx, "c", "m", "x", zero)
	require.NoError(t, err)
	assert.Equal(t, []string{"p"}, e.list("m"))
	_, err = s.RemoveMember(e.ctx, "c", "n", "x", zero)
	require.NoError(t, err)
	assert.Equal(t, []string{}, e.list("n"))
	require.NoError(t, s.DropCircle(e.ctx, "c", "x", zero))
	assert.Equal(t, []string{}, e.list("m"))
	assert.NotContains(t, e.open(), row{jobs.Member, "c/m"})

	var many []string
	for i := range fewMembers + 1 {
		many = append(many, fmt.Sprint("many", i))
	}
	socialtest.PutCircle(t, s, circle, many, zero)
	assert.Len(t, e.open(), len(many), "many are left to the workers")
}

// TestEventsAppliedByWorkers checks that the changes of events are not applied to lists before the
// answer.
func TestEventsAppliedByWorkers(t *testing.T) {
	e := newEnv(t)
	_, err := e.a.Store().Follow(e.ctx, "f", "x", e.clock())
	require.NoError(t, err)
	assert.Contains(t, e.open(), row{jobs.AuthorAgent, "x/f"})
}

// TestWriteListsUnavailable checks that a list that cannot be changed in time is dropped, and
// that it is reported if that fails, too.
func TestWriteListsUnavailable(t *testing.T) {
	e := newEnv(t)
	late := 0
	e.a.d.ListsUnreachable = func() { late++ }
	e.publish("p", "x", 1, everybody)
	e.drain()
	e.build("f")
	p := newProcess(e.ctx, "follow", func(ctx context.Context) {
		changed, err := e.a.Store().Follow(ctx, "f", "x", zero)
		assert.NoError(t, err)
		assert.True(t, changed)
	})
	require.True(t, p.until("clear token"))
	p.step(failBefore)
	require.True(t, p.until("drop"))
	p.step(failBefore)
	p.finish()
	assert.Equal(t, 1, late)
	job := e.open()[row{jobs.AuthorAgent, "x/f"}]
	assert.Equal(t, jobs.Pending, job.State)
	assert.Zero(t, job.Attempts)
	assert.Equal(t, []string{}, e.list("f"))
	assert.Contains(t, e.open(), row{jobs.AuthorAgent, "*/f"}, "other servers learn of it, too")
	changed, err := e.b.Store().Follow(e.ctx, "f", "x", zero)
	require.NoError(t, err)
	assert.False(t, changed)
	assert.Equal(t, []string{"p"}, e.list("f"), "repeating the call completes it")
	e.drain()
	assert.Equal(t, []string{"none"}, e.list("f"), "the list is built by the next read")
}

// TestWriteWaitBounded checks the case that a slow server has leased the job of the write.
func TestWriteWaitBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		e.publish("p", "x", 1, everybody)
		e.follow("x", "f")
		e.drain()
		e.build("f")
		require.Equal(t, []string{"p"}, e.list("f"))
		_, err := e.store.Unfollow(e.ctx, "f", "x", zero)
		require.NoError(t, err)
		_, err = e.store.LeaseKey(e.ctx, jobs.AuthorAgent, "x/f", time.Minute)
		require.NoError(t, err)
		e.a.limit = beforeAnswerLimit
		begun := time.Now()
		_, err = e.a.Store().Unfollow(e.ctx, "f", "x", zero)
		require.NoError(t, err)
		assert.Equal(t, beforeAnswerLimit, time.Since(begun))
		assert.Equal(t, []string{"none"}, e.list("f"))
		assert.False(t, e.late)
	})
}

// TestWriteWaitsForWorker checks that a write waits for the worker that has leased its
// job.
func TestWriteWaitsForWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		e.publish("p", "x", 1, everybody)
		e.drain()
		e.build("f")
		e.follow("x", "f")
		worker := newProcess(e.ctx, "worker", func(ctx context.Context) { assert.NoError(t, e.run(e.b, ctx, jobs.AuthorAgent, "x/f")) })
		require.True(t, worker.until("done"))
		begun := time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := e.a.Store().Unfollow(e.ctx, "f", "x", zero)
			done <- err
		}()
		time.Sleep(10*takenPoll - time.Nanosecond)
		synctest.Wait()
		require.Greater(t, e.open()[row{jobs.AuthorAgent, "x/f"}].Generation, int64(1))
		require.Empty(t, done)
		worker.finish()
		require.NoError(t, <-done)
		assert.Equal(t, 10*takenPoll, time.Since(begun), "the next poll")
		assert.Equal(t, []string{}, e.list("f"))
	})
}

// TestCrashBetweenCommitAndJob checks that a worker runs the job when the writer dies after the
// commit.
func TestCrashBetweenCommitAndJob(t *testing.T) {
	e := newEnv(t)
	e.publish("p", "x", 1, everybody)
	e.drain()
	e.build("f")
	p := newProcess(e.ctx, "follow", func(ctx context.Context) { _, _ = e.a.Store().Follow(ctx, "f", "x", zero) })
	p.kill()
	assert.Equal(t, []string{}, e.list("f"))
	e.drain()
	assert.Equal(t, []string{"p"}, e.list("f"))
}

// TestWriteJobNotCompleted checks that workers get such a job soon after the write was
// answered: until it is done, any timeline may report itself as incomplete.
func TestWriteJobNotCompleted(t *testing.T) {
	e := newEnv(t)
	e.publish("p", "x", 1, everybody)
	e.drain()
	e.build("f")
	p := newProcess(e.ctx, "follow", func(ctx context.Context) { _, _ = e.a.Store().Follow(ctx, "f", "x", zero) })
	require.True(t, p.until("done"))
	p.kill()
	require.Equal(t, jobs.Running, e.open()[row{jobs.AuthorAgent, "x/f"}].State)
	e.advance(2*time.Second + time.Millisecond)
	list, err := e.store.Lease(e.ctx, 10, time.Minute, jobs.AuthorAgent)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "x/f", list[0].Key)
}

// TestPostDeletedBeforeOwnPush deletes a post after its creation and before it is pushed
// to the author's list.
func TestPostDeletedBeforeOwnPush(t *testing.T) {
	e := newEnv(t)
	e.build("x")
	p := newProcess(e.ctx, "post", func(ctx context.Context) {
		_, _, err := e.a.Store().CreatePost(ctx, post(e, "p", "x", 0, everybody), social.Creation{})
		assert.NoError(t, err)
	})
	require.True(t, p.until("push"))
	require.NoError(t, e.store.DeletePost(e.ctx, "post:p", "x", zero))
	e.drain()
	p.finish()
	assert.Equal(t, []string{}, e.list("x"))
}

func TestErrorsOfStore(t *testing.T) {
	e := newEnv(t)
	s := e.a.Store()
	_, err := s.Follow(e.ctx, "f", "f", zero)
	require.ErrorIs(t, err, feed.ErrInvalid)
	require.ErrorIs(t, s.DeletePost(e.ctx, "post:p", "f", zero), feed.ErrNotFound)
	require.ErrorIs(t, s.DropCircle(e.ctx, "c", "f", zero), feed.ErrNotFound)
	_, _, err = s.CreatePost(e.ctx, social.Post{Author: "f"}, social.Creation{})
	require.ErrorIs(t, err, feed.ErrRule)
}

func TestLostDeliveries(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "f")
	e.build("f")
	e.publish("old", "x", 3, everybody)
	e.drain()
	e.advance(10 * time.Minute)
	since := e.clock()
	e.advance(10 * time.Minute)
	e.publish("new", "x", 2, everybody)
	e.drain()
	require.NoError(t, e.lists.Remove(e.ctx, []string{"f"}, []string{"post:new"}))
	n, err := e.a.Redeliver(e.ctx, since)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	e.drain()
	assert.Equal(t, []string{"new", "old"}, e.list("f"))
}

// TestLostDeliveryChanges has lists and an outbox that are older than a change of the author's
// delivery.
func TestLostDeliveryChanges(t *testing.T) {
	e := newEnv(t)
	e.follow("x", "a", "b", "c", "d")
	e.drain()
	require.Equal(t, social.Pull, e.delivery("x"))
	e.publish("p", "x", 3, everybody)
	e.drain()
	require.NoError(t, e.a.Outbox(e.ctx, []string{"x"}))
	e.build("a")
	require.Equal(t, []string{"p"}, e.outbox("x"))
	e.advance(10 * time.Minute)
	since := e.clock()
	for _, agent := range []string{"b", "c"} {
		_, err := e.store.Unfollow(e.ctx, agent, "x", zero)
		require.NoError(t, err)
	}
	e.drain()
	require.Equal(t, social.Push, e.delivery("x"))
	require.Equal(t, []string{"p"}, e.list("a"))
	lose := func(lists timeline.Lists, name string) {
		require.NoError(t, lists.Remove(e.ctx, []string{name}, []string{"post:p"}))
		_, err := e.a.Redeliver(e.ctx, since)
		require.NoError(t, err)
		e.drain()
	}
	lose(e.lists, "a")
	assert.Equal(t, []string{"p"}, e.list("a"), "pushed, as if the list had never been filled")
	e.follow("x", "b", "c")
	e.drain()
	require.Equal(t, social.Pull, e.delivery("x"))
	lose(e.outboxes, "x")
	assert.Equal(t, []string{"p"}, e.outbox("x"), "pulled, and the outbox is an old one")
}

func TestNewMissingDependency(t *testing.T) {
	_, err := New(Deps{})
	require.ErrorContains(t, err, "fanout needs")
}

func TestErrorsThatWait(t *testing.T) {
	for _, err := range []error{social.ErrUnavailable, timeline.ErrUnavailable, feed.ErrUnavailable} {
		require.ErrorIs(t, waits(fmt.Errorf("%w: x", err)), jobs.ErrWait)
	}
	require.NotErrorIs(t, waits(errors.New("x")), jobs.ErrWait)
	require.NoError(t, waits(nil))
}
