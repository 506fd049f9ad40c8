package server

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	timelines "github.com/freshet/freshet/engine/timeline"
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

// read returns a timeline as a server answers it.
func (o *restored) read(a *App, agent string) (ids []string) {
	page, err := a.network.timelines.Timeline(o.Context(), timelines.Request{Agent: agent, Limit: 100})
	require.NoError(o, err)
	for _, c := range page.Posts {
		ids = append(ids, c.ID)
	}
	return ids
}

// complete reports whether an agent's list and the outboxes contain everything that is due, without
// the store as a fallback.
func (o *restored) complete(agent string) bool {
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

func (o *restored) allComplete(when string) {
	waitSettled(o.T, o.a)
	for _, r := range restoredReaders {
		testenv.WaitFor(o, func() bool { retryFailed(o.T, o.a); return o.complete(r) }, "%s: the list of %s", when, r)
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

// waitDataChecked waits until both servers know the state of the data in Redis and have delivered
// what it lacks. That takes a second if no call fails meanwhile.
func (o *restored) waitDataChecked() {
	for _, a := range []*App{o.a, o.b} {
		testenv.WaitFor(o, func() bool {
			a.network.dataCheck.Check(o.Context())
			return !a.network.completeness.Incomplete()
		}, "the data that Redis has now is known")
	}
}
