package server

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

// TestDedupConcurrentCalls has one agent make 64 calls at once: no two answers have the same item.
func TestDedupConcurrentCalls(t *testing.T) {
	t.Parallel()
	for _, coalesce := range []time.Duration{0, time.Second} {
		t.Run(fmt.Sprint("coalesce ", coalesce), func(t *testing.T) {
			a := open(t, embedded(t), WithClock(at(noon).Now), func(s *settings) { s.coalesce = coalesce })
			put(t, a, madeItems(800)...)
			seen := newOnce()
			var wg sync.WaitGroup
			for i := range 64 {
				r := refresh("u_1", 10)
				if i%3 != 0 {
					r = loadMore("u_1", 10)
				}
				wg.Go(func() {
					answer, err := a.Engine.Feed(t.Context(), r)
					if assert.NoError(t, err) {
						seen.add(t, fmt.Sprintf("call %d", i), ids(answer))
						assert.NotEmpty(t, answer.Docs)
					}
				})
			}
			wg.Wait()
			assert.GreaterOrEqual(t, seen.len(), 500)
		})
	}
}

// TestDedupRefreshBeforeRecording delays the recorder, so that no impression reaches a filter: only
// the pending set keeps the answers disjoint.
func TestDedupRefreshBeforeRecording(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now), WithRecorder(dedup.RecorderConfig{Linger: time.Hour}))
	put(t, a, madeItems(200)...)
	seen := newOnce()
	for i := range 4 {
		answer := ask(t, a, refresh("u_1", 20))
		require.Len(t, answer.Docs, 20)
		seen.add(t, fmt.Sprintf("refresh %d", i), ids(answer))
	}
	assert.Zero(t, a.Totals().Recorded, "the recorder was to be held up")
}

// TestDedupExhaustedShowsOldestAgain checks that the configuration lets items be shown again, and
// that of posts these are only those that the reader may still see.
func TestDedupExhaustedShowsOldestAgain(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Dedup.WhenExhausted = configs.ExhaustedOldest
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	put(t, a, feed.Item{ID: "a", Title: "About a", UpdateTime: noon.Unix() - 3600})
	store := a.network.fanout.Store()
	for id, author := range map[string]string{"post:1": "ann", "post:2": "bob"} {
		_, _, err := store.CreatePost(t.Context(), social.Post{ID: id, Author: author, Caption: "By " + author, Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err)
	}
	waitSettled(t, a)
	shown := ids(ask(t, a, refresh("u_1", 3)))
	require.ElementsMatch(t, []string{"a", "post:1", "post:2"}, shown)
	waitRecorded(t, a)
	batch := make([]dedup.Impression, len(shown))
	for i, id := range shown {
		batch[i] = dedup.Impression{Agent: "u_1", Group: id}
	}
	require.NoError(t, a.stores.dedup.ClearPending(t.Context(), batch))
	clock.Advance(24 * time.Hour)
	_, err := store.Block(t.Context(), "bob", "u_1")
	require.NoError(t, err)
	again := ask(t, a, refresh("u_1", 3))
	require.ElementsMatch(t, []string{"a", "post:1"}, ids(again))
	require.True(t, again.Refs[0].ShownBefore && again.Refs[1].ShownBefore)
}

// TestDedupGroupChangeKeepsSeen has a clustering job assign, change and remove groups later. An
// item that was shown, reported or hidden in one group is not shown in the other.
func TestDedupGroupChangeKeepsSeen(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	all := madeItems(10)
	regroup := func(prefix string) {
		for i := range all {
			all[i].GroupID = ""
			if prefix != "" {
				all[i].GroupID = prefix + all[i].ID
			}
		}
		put(t, a, all...)
	}
	want := []string{all[4].ID, all[6].ID, all[8].ID, all[9].ID}
	for _, before := range []string{"", "story_"} {
		regroup(before)
		agents := map[string]string{"u_1" + before: "", "u_2" + before: "story_", "u_3" + before: "another_"}
		for agent := range agents {
			require.Equal(t, []string{all[0].ID, all[1].ID, all[2].ID, all[3].ID}, ids(ask(t, a, refresh(agent, 4))))
			require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{all[5].ID}))
			react(t, a, agent, act(events.Hide, all[7].ID))
		}
		waitRecorded(t, a)
		for agent, after := range agents {
			regroup(after)
			assert.Equal(t, api.EventsTaken{Accepted: 1}, react(t, a, agent, act(events.Click, all[0].ID)), "it was shown, whatever its group is now")
			assert.Equal(t, want, ids(ask(t, a, refresh(agent, 10))), "%q, then %q", before, after)
			assert.Empty(t, ids(ask(t, a, refresh(agent, 10))))
			profile, err := a.Engine.Profile(t.Context(), agent)
			require.NoError(t, err)
			assert.True(t, profile.Refusals().Ref(feed.Ref{ID: all[7].ID, Group: "whatever"}))
		}
	}
}

// TestDedupAuthorPage reads an author's posts over HTTP: no feed repeats a post shown there, and
// acts on it count. For readers who are not signed in nothing is recorded.
func TestDedupAuthorPage(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	fillHome(t, a)
	s := &httpSystem{t, a}
	read := func(reader string) []string {
		answer := s.call(reader, "GET", "/v1/authors/ann/posts?limit=10", "")
		require.Equal(t, 200, answer.status, answer.body)
		require.Empty(t, answer.Data.Degraded)
		require.Len(t, answer.ids(), 10)
		return answer.ids()
	}
	ask(t, a, refresh("u", 1))
	page := read("u")
	waitRecorded(t, a)
	var feeds []string
	for _, name := range []feed.Name{feed.ForYou, feed.HomeFeed} {
		for more := true; more; {
			answer := ask(t, a, engine.Request{Agent: "u", Feed: name, Action: engine.ActionLoadMore, Limit: 50})
			feeds, more = append(feeds, ids(answer)...), len(answer.Docs) > 0
		}
	}
	assert.Greater(t, len(feeds), 50)
	assert.False(t, slices.ContainsFunc(feeds, func(id string) bool { return slices.Contains(page[1:], id) }), "%v in %v", page, feeds)
	require.Equal(t, api.EventsTaken{Accepted: 1}, react(t, a, "u", act(events.Click, page[5])))

	public := read("")
	require.Equal(t, api.EventsTaken{NotShown: 1}, react(t, a, "nobody", act(events.Click, public[5])))
}
