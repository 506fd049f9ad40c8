package app

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// TestRoundTripsOfTwoFeeds holds the budget of a reader who reads both feeds, and a
// timeline: what a page hands out leaves the other session in the same round trip, and a
// timeline costs one to note what it shows.
func TestRoundTripsOfTwoFeeds(t *testing.T) {
	held := WithRecorder(dedup.RecorderConfig{Linger: time.Hour}) // the recorder's own trips are not counted
	a := open(t, withPostgres(t), WithClock(at(noon).Now), held)
	fillHome(t, a)
	ofHome := func(r engine.Request) engine.Request {
		r.Feed = feed.HomeFeed
		return r
	}
	read := func(ctx context.Context, reader string, limit int) {
		page, err := a.network.timelines.Timeline(ctx, engine.TimelineRequest{Agent: reader, Limit: limit})
		require.NoError(t, err)
		require.Len(t, page.Posts, limit)
		require.Empty(t, page.Degraded)
	}
	// Lists are built, contents and cards cached, scripts loaded.
	for _, author := range []string{"ann", "bob"} {
		_, err := a.network.fanout.Store().Follow(t.Context(), "warm", author, time.Time{})
		require.NoError(t, err)
	}
	settled(t, a)
	marks, err := a.clients.redis.Keys(t.Context(), a.cfg.Redis.KeyPrefix+"feed:item:*").Result() // see TestRoundTrips
	require.NoError(t, err)
	require.NoError(t, a.clients.redis.Del(t.Context(), marks...).Err())
	for _, reader := range []string{"warm", "u"} {
		ask(t, a, refresh(reader, 5))
		ask(t, a, ofHome(refresh(reader, 5)))
		ask(t, a, loadMore(reader, 5))
	}
	for range 4 {
		ask(t, a, loadMore("warm", 100))
	}
	read(t.Context(), "warm", 60)
	read(t.Context(), "u", 2)
	h := &trips{}
	a.clients.redis.AddHook(h)
	h.ask(t, a, loadMore("u", 5))
	h.atMost(t, 2, "load_more: page, hydrate: %v")
	h.ask(t, a, ofHome(loadMore("u", 5)))
	h.atMost(t, 2, "load_more of home: page, hydrate: %v")
	read(context.WithValue(t.Context(), requested{}, true), "u", 20)
	sent := h.take()
	assert.Len(t, sent, 3, "a timeline: profile, list, what it shows: %v", sent)
}
