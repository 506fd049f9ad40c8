package server

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestTimelinesAfterAnOutage reads while Redis recovers from an outage: posts accepted meanwhile
// never disappear.
func TestTimelinesAfterAnOutage(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	r := testenv.StartRedis(t)
	cfg.Redis.URL = "redis://" + r.Addr
	brief(&cfg)
	a := open(t, cfg)
	store := a.network.fanout.Store()
	read := func() (ids []string) {
		page, err := a.network.timelines.Timeline(t.Context(), timeline.Request{Agent: "u", Limit: 100})
		// On a busy machine PostgreSQL may not answer in time. Such a page says so, and has only
		// posts with cached cards.
		for try := 0; try < 20 && err == nil && slices.Contains(page.Degraded, "social"); try++ {
			page, err = a.network.timelines.Timeline(t.Context(), timeline.Request{Agent: "u", Limit: 100})
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
	testenv.WaitFor(t, other.network.completeness.Incomplete, "a server that nobody reads from to be late")
	r.Thaw()
	for i := range 200 {
		require.ElementsMatch(t, want, read(), "read %d after the outage", i)
	}
	testenv.WaitFor(t, func() bool { return !a.network.completeness.Incomplete() }, "the lists to be up to date")
	settled(t, a)
	require.ElementsMatch(t, want, read())
}

// TestNobodyWorksOnTheQueue checks that, when no server runs jobs, the timelines of the followers
// who have lists report that they are incomplete.
func TestNobodyWorksOnTheQueue(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	cfg.Jobs.Workers = 0
	a := open(t, cfg)
	read := func(agent string) []string {
		page, err := a.network.timelines.Timeline(t.Context(), timeline.Request{Agent: agent, Limit: 100})
		require.NoError(t, err)
		return page.Degraded
	}
	testenv.WaitFor(t, func() bool {
		// The call runs the job of the follow itself, but gives up soon on a busy machine. No
		// worker runs it, so the call is repeated.
		_, err := a.network.fanout.Store().Follow(t.Context(), "u", "ann", time.Time{})
		require.NoError(t, err)
		return len(read("u")) == 0
	}, "a list of all there is")
	p := social.Post{Author: "ann", Caption: "Hello", Audience: social.Audience{Public: true}}
	_, _, err := a.network.store.CreatePost(t.Context(), p, social.Creation{})
	require.NoError(t, err)
	testenv.WaitFor(t, func() bool { return slices.Contains(read("u"), "timeline") }, "the timeline to say what it lacks")
	require.False(t, a.network.completeness.Incomplete(), "the lists can be reached, and answer")
}
