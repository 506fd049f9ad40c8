package app

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

func TestLateUntilWhatWasDueIsDone(t *testing.T) {
	t.Parallel()
	now := at(noon)
	q, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: now.Now})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, q.Close()) })
	l := &late{queue: q, clock: now.Now}
	require.False(t, l.now())
	mark := func(key string) {
		dirty := []jobs.Dirty{{Kind: jobs.Deliver, Key: key}, {Kind: jobs.Index, Key: key, Priority: jobs.PriorityLater}}
		require.NoError(t, q.Mark(t.Context(), dirty...))
		now.Advance(time.Second)
	}
	mark("post:before")
	l.note()
	now.Advance(time.Second)
	mark("post:after")
	l.look(t.Context())
	require.True(t, l.now(), "what was due before waits")
	list, err := q.Lease(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "post:before", list[0].Key)
	require.Equal(t, jobs.Deliver, list[0].Kind)
	l.look(t.Context())
	require.True(t, l.now(), "it runs")
	_, err = q.Done(t.Context(), list[0])
	require.NoError(t, err)
	l.look(t.Context())
	require.False(t, l.now(), "what became due later does not count, nor what waits for the catalog")
}

// TestTimelinesAfterAnOutage reads on while Redis comes back from not answering:
// what was accepted meanwhile never disappears.
func TestTimelinesAfterAnOutage(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	r := testenv.StartRedis(t)
	cfg.Redis.URL = "redis://" + r.Addr
	brief(&cfg)
	a := open(t, cfg)
	store := a.network.fanout.Store()
	read := func() (ids []string) {
		page, err := a.network.timelines.Timeline(t.Context(), engine.TimelineRequest{Agent: "u", Limit: 100})
		// On a busy machine PostgreSQL may not answer in time. Such a page says so, and
		// has only posts whose cards are kept.
		for try := 0; try < 20 && err == nil && slices.Contains(page.Degraded, "social"); try++ {
			page, err = a.network.timelines.Timeline(t.Context(), engine.TimelineRequest{Agent: "u", Limit: 100})
		}
		require.NoError(t, err)
		require.NotContains(t, page.Degraded, "social")
		for _, c := range page.Posts {
			ids = append(ids, c.ID)
		}
		return ids
	}
	second := cfg
	second.DataDir = t.TempDir()
	other := open(t, second)
	_, err := store.Follow(t.Context(), "u", "ann", time.Time{})
	require.NoError(t, err)
	require.Empty(t, read())
	settled(t, a)
	r.Freeze()
	var want []string
	for _, author := range []string{"ann", "bob", "ann"} {
		p, _, err := store.CreatePost(t.Context(), social.Post{Author: author, Caption: "Hello", Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err)
		want = append(want, p.ID)
	}
	_, err = store.Follow(t.Context(), "u", "bob", time.Time{})
	require.NoError(t, err)
	require.ElementsMatch(t, want, read(), "the store answers")
	testenv.WaitFor(t, other.network.late.now, "a server that nobody reads from to be late")
	r.Thaw()
	for i := range 200 {
		require.ElementsMatch(t, want, read(), "read %d after the outage", i)
	}
	testenv.WaitFor(t, func() bool { return !a.network.late.now() }, "the lists to be up to date")
	settled(t, a)
	require.ElementsMatch(t, want, read())
}
