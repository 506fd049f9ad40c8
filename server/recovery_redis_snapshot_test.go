package server

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

func startRestored(t *testing.T) *restored {
	cfg := withoutElastic(t)
	o := &restored{T: t, clock: at(noon), redis: testenv.StartRedis(t)}
	cfg.Redis.URL = "redis://" + o.redis.Addr
	cfg.Timeline.CelebrityAt = 3
	o.a = open(t, cfg, WithClock(o.clock.Now))
	cfg.DataDir = t.TempDir()
	cfg.Jobs.Workers = 0 // this server runs no jobs
	o.b = open(t, cfg, WithClock(o.clock.Now))
	o.store = o.a.network.fanout.Store()
	return o
}

// waitDelivery waits until the author's delivery is d; a change of delivery takes time.
func (o *restored) waitDelivery(author string, d social.Delivery) {
	testenv.WaitFor(o, func() bool {
		o.clock.Advance(time.Second)
		c, err := o.store.Celebrity(o.Context(), author)
		return err == nil && c.Delivery == d
	}, "%s is delivered by %v", author, d)
}

// TestRedisOldSnapshotIsBroughtUpToDate restarts Redis from a snapshot that lacks posts, deletions,
// follows, own posts, and changes of authors' delivery.
func TestRedisOldSnapshotIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	o := startRestored(t)
	o.follow("ann", "r1", "r2")
	o.follow("up", "r1", "r2")
	o.follow("down", "r1", "r2", "r3")
	o.follow("again", "r1", "r2", "r3")
	o.waitDelivery("down", social.Pull)
	o.waitDelivery("again", social.Pull)
	for _, author := range []string{"ann", "up", "down", "again"} {
		o.publish(author, 3)
	}
	waitSettled(t, o.a)
	for _, r := range restoredReaders { // builds lists and outboxes
		o.read(o.a, r)
	}
	// Another author who was pulled earlier: the snapshot has an outbox of that time, without the
	// posts pushed since.
	_, err := o.store.Unfollow(t.Context(), "r3", "again", time.Time{})
	require.NoError(t, err)
	o.waitDelivery("again", social.Push)
	o.publish("again", 3)
	o.allComplete("before")
	o.redis.Save()

	o.clock.Advance(2 * time.Minute)
	o.publish("ann", 3)
	o.publish("r1", 1)
	o.follow("up", "r3")
	o.follow("again", "r4")
	o.follow("again", "r3")
	_, err = o.store.Unfollow(t.Context(), "r3", "down", time.Time{})
	require.NoError(t, err)
	_, err = o.store.Unfollow(t.Context(), "r2", "ann", time.Time{})
	require.NoError(t, err)
	o.follow("ann", "r4")
	o.waitDelivery("up", social.Pull)
	o.waitDelivery("again", social.Pull)
	o.waitDelivery("down", social.Push)
	o.publish("up", 2)
	o.publish("again", 2)
	o.publish("down", 2)
	o.allComplete("later")
	o.clock.Advance(2 * time.Minute)

	o.redis.Kill()
	o.redis.Start()
	o.waitDataChecked()
	o.allComplete("restored")
}

// TestRedisSnapshotOfUnknownAgeDropsLists checks that lists older than the queue's history, or
// without a stamp, are rebuilt. A Redis that does not permit to identify its data is used as it is,
// also after an outage.
func TestRedisSnapshotOfUnknownAgeDropsLists(t *testing.T) {
	t.Parallel()
	o := startRestored(t)
	client := redis.NewClient(&redis.Options{Addr: o.redis.Addr})
	t.Cleanup(func() { _ = client.Close() })
	stamp := rediskeys.New(o.a.cfg.Redis.KeyPrefix, false).Stamps()[0]
	state := func() timeline.State {
		heads, err := o.a.network.lists.Heads(t.Context(), []string{"r1"})
		if err != nil {
			return timeline.Building
		}
		return heads[0].State
	}
	o.follow("ann", "r1")
	o.publish("ann", 3)
	o.read(o.a, "r1")
	waitSettled(t, o.a)
	require.Equal(t, timeline.Ready, state())

	require.NoError(t, client.Del(t.Context(), stamp).Err())
	testenv.WaitFor(t, func() bool { return client.Exists(t.Context(), stamp).Val() == 1 }, "there is a stamp again")
	require.Equal(t, timeline.Ready, state(), "it is the data of before: a stamp that was taken away says nothing")

	for name, make := range map[string]func(){
		"a stamp of the day before yesterday": func() { o.redis.Save(); o.clock.Advance(48 * time.Hour) },
		"a stamp of tomorrow": func() {
			o.clock.Advance(24 * time.Hour)
			// A server that read the clock earlier may write its stamp after another one.
			for saved := false; !saved; saved = o.stamped(client, stamp) {
				o.waitStamped(client, stamp)
				require.NoError(t, client.Save(t.Context()).Err())
			}
			o.redis.Saved()
			o.clock.Advance(-24 * time.Hour)
		},
		"no stamp": func() {
			// A server may have stamped the data again before it was saved.
			for there := int64(1); there > 0; {
				client.Del(t.Context(), stamp)
				require.NoError(t, client.Save(t.Context()).Err())
				there = client.Exists(t.Context(), stamp).Val()
			}
			o.redis.Saved()
		},
	} {
		testenv.WaitFor(t, func() bool {
			o.read(o.a, "r1")
			retryFailed(t, o.a)
			return state() == timeline.Ready
		}, "%s: the list is built", name)
		make()
		o.redis.Kill()
		o.redis.Start()
		testenv.WaitFor(t, func() bool { return state() == timeline.None }, "%s: the list is dropped", name)
		assert.Len(t, o.read(o.b, "r1"), 3, name)
	}

	require.NoError(t, client.Do(t.Context(), "ACL", "SETUSER", "default", "-info").Err())
	o.a.network.completeness.Unreachable()
	require.True(t, o.a.network.completeness.Incomplete())
	testenv.WaitFor(t, func() bool { return !o.a.network.completeness.Incomplete() }, "the lists are taken as they are")
}

// waitStamped waits until the stamp has the servers' time.
func (o *restored) waitStamped(client *redis.Client, stamp string) {
	testenv.WaitFor(o, func() bool { return o.stamped(client, stamp) }, "the stamp is of the servers' time")
}

// stamped reports whether the stamp has the current time of the clock.
func (o *restored) stamped(client *redis.Client, stamp string) bool {
	return strings.HasSuffix(client.Get(o.Context(), stamp).Val(), strconv.FormatInt(o.clock.Now().UnixMilli(), 10))
}

// TestRedisOldSnapshotHidesDeletedPosts restores a snapshot of Redis with cards of posts that have
// since been deleted. They must not be shown, neither while PostgreSQL is down nor afterwards.
func TestRedisOldSnapshotHidesDeletedPosts(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	p, r := testenv.StartPostgres(t), testenv.StartRedis(t)
	cfg.Postgres.URL, cfg.Redis.URL = p.URL, "redis://"+r.Addr
	shortTimeouts(&cfg)
	s := &httpSystem{t, open(t, cfg)}
	for _, id := range []string{"post:kept", "post:deleted"} {
		s.publish(social.Post{ID: id, Author: "ann", Audience: social.Audience{Public: true}})
	}
	waitSettled(t, s.a)
	s.waitCached("post:kept", "post:deleted")
	r.Save()
	require.Equal(t, 200, s.call("ann", "DELETE", "/v1/posts/post:deleted", "").status)
	waitSettled(t, s.a)
	p.Crash()
	testenv.WaitFor(t, func() bool { return s.call("", "GET", "/v1/posts/post:kept", "").status == 200 }, "the kept card to be shown")
	r.Kill()
	r.Start()
	testenv.WaitFor(t, s.a.network.completeness.HasOldData, "the older Redis to be noticed")
	for _, id := range []string{"post:kept", "post:deleted"} {
		require.Equal(t, 503, s.call("", "GET", "/v1/posts/"+id, "").status, id)
	}
	p.Start()
	testenv.WaitFor(t, func() bool { return !s.a.network.completeness.HasOldData() }, "what was lost to be done again")
	cards, err := s.a.network.kept.Cached(t.Context(), []string{"post:kept", "post:deleted"})
	require.NoError(t, err)
	require.False(t, cards[1].Visible, "its deletion was done again")
}

// TestRedisFailoverCleansOldSession has a new master with a session from before the last pages. The
// server that delivered those pages removes their items, so that no other server delivers them
// again when they are no longer pending.
func TestRedisFailoverCleansOldSession(t *testing.T) {
	cfg := services(t)
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	cfg.DataDir = t.TempDir()
	other := open(t, cfg, WithClock(clock.Now))
	put(t, a, madeItems(60)...)
	ask(t, a, refresh("u_1", 5))
	lost := ids(ask(t, a, loadMore("u_1", 10)))
	waitRecorded(t, a)

	// The state of the new master: the session without the last pop, and none of its items pending.
	var batch []dedup.Impression
	refs := make([]feed.Ref, len(lost))
	for i, id := range lost {
		batch = append(batch, dedup.Impression{Agent: "u_1", Group: id})
		refs[i] = feed.Ref{ID: id, Group: id}
	}
	require.NoError(t, a.stores.sessions.Restore(t.Context(), "u_1", refs, cache.Call{}))
	next, err := a.stores.sessions.Next(t.Context(), "u_1", feed.ForYou, 10)
	require.NoError(t, err)
	require.Equal(t, refs, next)

	withdraw := a.newWithdraw(a.clients.masters.Client())
	require.NoError(t, a.stores.recorder.Reclaim(t.Context(), withdraw, time.Time{}))
	waitRecorded(t, a)
	require.NoError(t, a.stores.dedup.ClearPending(t.Context(), batch)) // the grace period is over
	again := ask(t, other, loadMore("u_1", 20))
	require.Len(t, again.Docs, 20)
	for _, id := range ids(again) {
		assert.NotContains(t, lost, id)
	}
}
