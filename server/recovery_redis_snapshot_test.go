package server

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// restored has two servers over a Redis that may be reset to an earlier state.
type restored struct {
	*testing.T
	clock *clock
	redis *testenv.OwnRedis
	a, b  *App
	store social.Store
}

var restoredReaders = []string{"r1", "r2", "r3", "r4"}

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

func (o *restored) follow(author string, readers ...string) {
	for _, r := range readers {
		_, err := o.store.Follow(o.Context(), r, author, time.Time{})
		require.NoError(o, err)
	}
}

func (o *restored) publish(author string, n int) {
	for range n {
		o.clock.Advance(time.Second)
		_, _, err := o.store.CreatePost(o.Context(), social.Post{Author: author, Caption: "Hello", Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(o, err)
	}
}

// stage waits until the author's delivery is d; a change of delivery takes time.
func (o *restored) stage(author string, d social.Delivery) {
	testenv.WaitFor(o, func() bool {
		o.clock.Advance(time.Second)
		c, err := o.store.Celebrity(o.Context(), author)
		return err == nil && c.Delivery == d
	}, "%s is delivered by %v", author, d)
}

// read returns a timeline as a server answers it.
func (o *restored) read(a *App, agent string) (ids []string) {
	page, err := a.network.timelines.Timeline(o.Context(), engine.TimelineRequest{Agent: agent, Limit: 100})
	require.NoError(o, err)
	for _, c := range page.Posts {
		ids = append(ids, c.ID)
	}
	return ids
}

// right reports whether an agent's list and the outboxes contain everything that is due, without
// the store as a fallback.
func (o *restored) right(agent string) bool {
	n := o.a.network
	want, err := n.store.Pull(o.Context(), social.PullQuery{Reader: agent, N: 1000, Whole: true})
	require.NoError(o, err)
	pulled, err := n.store.Celebrities(o.Context(), agent)
	require.NoError(o, err)
	pages, err := n.outboxes.ReadMany(o.Context(), pulled.Authors, timeline.Position{}, 1000)
	own, ownErr := n.lists.Read(o.Context(), agent, timeline.Position{}, 1000)
	if err != nil || ownErr != nil {
		return false
	}
	if own.State != timeline.Ready { // the next reader builds it
		return own.State == timeline.None
	}
	has := own.Entries
	for _, p := range pages {
		if p.State != timeline.Ready {
			return p.State == timeline.None
		}
		has = append(has, p.Entries...)
	}
	for _, e := range want {
		if !slices.Contains(has, e.Position) {
			return false
		}
	}
	return true
}

func (o *restored) allRight(when string) {
	settled(o.T, o.a)
	for _, r := range restoredReaders {
		testenv.WaitFor(o, func() bool { retryFailed(o.T, o.a); return o.right(r) }, "%s: the list of %s", when, r)
		for _, a := range []*App{o.a, o.b} {
			want, err := o.store.Pull(o.Context(), social.PullQuery{Reader: r, N: 100, Whole: true})
			require.NoError(o, err)
			var ids []string
			for _, e := range want {
				ids = append(ids, e.ID)
			}
			assert.Equal(o, ids, o.read(a, r), "%s: the timeline of %s", when, r)
		}
	}
}

// TestARedisThatComesBackOlder restarts Redis from a snapshot that lacks posts, deletions, follows,
// own posts, and changes of authors' delivery.
func TestARedisThatComesBackOlder(t *testing.T) {
	t.Parallel()
	o := startRestored(t)
	o.follow("ann", "r1", "r2")
	o.follow("up", "r1", "r2")
	o.follow("down", "r1", "r2", "r3")
	o.follow("again", "r1", "r2", "r3")
	o.stage("down", social.Pull)
	o.stage("again", social.Pull)
	for _, author := range []string{"ann", "up", "down", "again"} {
		o.publish(author, 3)
	}
	settled(t, o.a)
	for _, r := range restoredReaders { // builds lists and outboxes
		o.read(o.a, r)
	}
	// Another author who was pulled earlier: the snapshot has an outbox of that time, without the
	// posts pushed since.
	_, err := o.store.Unfollow(t.Context(), "r3", "again", time.Time{})
	require.NoError(t, err)
	o.stage("again", social.Push)
	o.publish("again", 3)
	o.allRight("before")
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
	o.stage("up", social.Pull)
	o.stage("again", social.Pull)
	o.stage("down", social.Push)
	o.publish("up", 2)
	o.publish("again", 2)
	o.publish("down", 2)
	o.allRight("later")
	o.clock.Advance(2 * time.Minute)

	o.redis.Kill()
	o.redis.Start()
	o.noticed()
	o.allRight("restored")
}

// noticed waits until both servers know the state of the data in Redis and have delivered what it
// lacks. That takes a second if no call fails meanwhile.
func (o *restored) noticed() {
	for _, a := range []*App{o.a, o.b} {
		testenv.WaitFor(o, func() bool {
			a.network.dataCheck.Check(o.Context())
			return !a.network.completeness.Incomplete()
		}, "the data that Redis has now is known")
	}
}

// TestListsOfAnUnknownTimeAreDropped checks that lists older than the queue's history, or without a
// stamp, are rebuilt. A Redis that does not permit to identify its data is used as it is, also
// after an outage.
func TestListsOfAnUnknownTimeAreDropped(t *testing.T) {
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
	settled(t, o.a)
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
				o.restamped(client, stamp)
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

// restamped waits until the stamp has the servers' time.
func (o *restored) restamped(client *redis.Client, stamp string) {
	testenv.WaitFor(o, func() bool { return o.stamped(client, stamp) }, "the stamp is of the servers' time")
}

// stamped reports whether the stamp has the current time of the clock.
func (o *restored) stamped(client *redis.Client, stamp string) bool {
	return strings.HasSuffix(client.Get(o.Context(), stamp).Val(), strconv.FormatInt(o.clock.Now().UnixMilli(), 10))
}
