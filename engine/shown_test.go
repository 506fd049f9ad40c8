package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
)

func ofHome(r engine.Request) engine.Request {
	r.Feed = feed.HomeFeed
	return r
}

// twoFeeds makes home show the same items as for-you, with the stores as the only memory of
// deliveries.
func twoFeeds(s *engine.Stores, _ *engine.Config) {
	s.Fallback, s.Home.Pattern = nil, must(feed.ParsePattern(feed.DefaultPattern))
}

// shownOnce fails the test if an answer repeats an item of an earlier one.
type shownOnce map[string]string

func (s shownOnce) add(t *testing.T, where string, ids []string) {
	t.Helper()
	for _, id := range ids {
		if first, twice := s[id]; twice {
			t.Errorf("%s: %s has shown %s already", where, first, id)
		}
		s[id] = where
	}
}

// Two feeds page from sessions with the same items, one after the other, also after the grace
// period of the items that the other has shown.
func TestShownInOneFeedOnly(t *testing.T) {
	t.Parallel()
	for _, first := range []feed.Name{feed.ForYou, feed.HomeFeed} {
		t.Run(string(first), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 60, twoFeeds)
			of := map[feed.Name]func(engine.Request) engine.Request{
				feed.ForYou: func(q engine.Request) engine.Request { return q }, feed.HomeFeed: ofHome,
			}
			once := shownOnce{}
			ask := func(name feed.Name, q engine.Request) engine.Answer {
				a := r.ask(t, of[name](q))
				assert.Nil(t, a.Degraded)
				once.add(t, string(name), docIDs(a))
				return a
			}
			ask(first, refresh(5))
			ask(first.Other(), refresh(5))
			for range 3 {
				ask(first.Other(), loadMore(5))
			}
			r.settled(t)
			for range 4 {
				ask(first, loadMore(5))
			}
			r.settled(t)
			for ask(first.Other(), loadMore(10)).HasMore {
				r.settled(t)
			}
			assert.Len(t, once, 60, "and nothing is lost")
		})
	}
}

// Items shown by a page without a session are in no later page of a session, neither while they
// are pending nor when they are in a filter.
func TestShownElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, twoFeeds)
	r.wants(t, refresh(5), run(0, 5), true)
	r.wants(t, ofHome(refresh(5)), run(5, 10), true)
	noted, err := r.Shown(t.Context(), "u_1", []string{"i003", "i010", "i012", "i025"})
	require.NoError(t, err)
	assert.True(t, noted)
	assert.NotContains(t, r.verdicts(t, "i010", "i012", "i025"), dedup.Unseen)
	r.wants(t, loadMore(3), []string{"i011", "i013", "i014"}, true)
	r.settled(t)
	r.wants(t, ofHome(loadMore(10)), run(15, 25), true)
	r.wants(t, loadMore(10), run(26, 30), false)
	r.wants(t, refresh(10), []string{}, false)

	noted, err = r.Shown(t.Context(), "u_1", nil)
	require.NoError(t, err)
	assert.True(t, noted)
}

// With impressions.on: seen these items are withheld like delivered ones: as long as they are
// pending.
func TestShownElsewhereSeenMode(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10, func(s *engine.Stores, cfg *engine.Config) { s.Fallback, cfg.RecordServed = nil, false })
	r.wants(t, refresh(2), run(0, 2), true)
	_, err := r.Shown(t.Context(), "u_1", []string{"i002"})
	require.NoError(t, err)
	assert.Empty(t, r.recorder.groups())
	r.wants(t, loadMore(2), run(3, 5), true)
	assert.Equal(t, []dedup.Verdict{dedup.Pending}, r.verdicts(t, "i002"))
}

// Without the session store a page is still shown and reports it. The shown items are saved for
// when the store is back, and this process omits them until then.
func TestShownElsewhereStoresDown(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, nil)
	r.sessions.down(cache.ErrUnavailable)
	noted, err := r.Shown(t.Context(), "u_1", []string{"i001", "i002"})
	require.NoError(t, err)
	assert.False(t, noted)
	assert.Equal(t, []string{"i001", "i002"}, r.disk.kept)
	assert.Empty(t, r.recorder.groups(), "the disk is recorded")
	a := r.ask(t, refresh(3))
	assert.Equal(t, []string{"i000", "i003", "i004"}, docIDs(a))
	assert.Contains(t, a.Degraded, "session")

	r = newRig(t, 30, closed)
	r.sessions.set(rule{err: cache.ErrUnavailable, only: []string{"Withdraw"}})
	noted, err = r.Shown(t.Context(), "u_1", []string{"i001"})
	require.NoError(t, err)
	assert.False(t, noted)
	assert.Equal(t, []string{"i001"}, r.recorder.groups(), "what can still be done is")

	r.sessions.set(rule{err: errors.New("wrong type"), only: []string{"Withdraw"}})
	noted, err = r.Shown(t.Context(), "u_1", []string{"i002"})
	require.NoError(t, err)
	assert.False(t, noted)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.sessions.set(rule{err: ctx.Err(), only: []string{"Withdraw"}})
	_, err = r.Shown(ctx, "u_1", []string{"i003"})
	require.ErrorIs(t, err, ctx.Err())
}

// Items that a client reports are removed from the sessions of all feeds, including old items of a
// filter that are due to be shown again.
func TestReportedRemovedFromSessions(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, twoFeeds)
	r.wants(t, refresh(5), run(0, 5), true)
	r.wants(t, ofHome(refresh(5)), run(5, 10), true)
	require.NoError(t, r.Seen(t.Context(), "u_1", []string{"i010", "i011"}))
	r.settled(t)
	r.wants(t, loadMore(2), run(12, 14), true)
	r.wants(t, ofHome(loadMore(2)), run(14, 16), true)
	r.sessions.down(cache.ErrUnavailable)
	require.ErrorIs(t, r.Seen(t.Context(), "u_1", []string{"i020"}), cache.ErrUnavailable)

	again := yesterday(t, closed)
	again.wantsAgain(t, refresh(10), run(20, 30), 10, true)
	require.NoError(t, again.Seen(t.Context(), "u_1", []string{"i000", "i002"}))
	again.settled(t)
	again.wantsAgain(t, loadMore(3), []string{"i001", "i003", "i004"}, 0, true)
}

// A timeline shows items of a page while that page is being read. The page then cannot be
// delivered, and returning it to the session must not bring those items back.
func TestShownElsewhereDuringRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10, closed)
	r.wants(t, refresh(2), run(0, 2), true)
	r.catalog.down(catalog.ErrUnavailable, "Hydrate")
	r.catalog.before(func(string) {
		_, err := r.Shown(t.Context(), "u_1", []string{"i003"})
		require.NoError(t, err)
	})
	_, err := r.Feed(t.Context(), loadMore(4))
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	r.catalog.before(nil)
	r.catalog.up()
	r.settled(t)
	r.wants(t, loadMore(8), append([]string{"i002"}, run(4, 10)...), false)
}

// The items that timelines show are recorded by the engine that has the timelines as a part of
// home, or by the latest of several such engines.
func TestShownInTimelineRecordedByEngine(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetwork(t)
	n.Follow("u_1", "ann")
	p := n.Post("ann", toAll)
	alone := timeline.New(timeline.Stores{
		Posts: n.Store, Lists: n.Lists, Outboxes: n.Outboxes, Builder: n, Profiles: n,
	}, timeline.Config{Clock: n.Now})
	read := func(timelines *timeline.Timelines) {
		t.Helper()
		page, err := timelines.Timeline(t.Context(), timeline.Request{Agent: "u_1", Limit: 5})
		require.NoError(t, err)
		require.Len(t, page.Posts, 1)
	}
	read(alone) // no engine records it
	for range 2 {
		r := newRig(t, 10, func(s *engine.Stores, _ *engine.Config) { s.Home.Following = alone })
		assert.Equal(t, []dedup.Verdict{dedup.Unseen}, r.verdicts(t, p.ID))
		read(alone)
		assert.Equal(t, []dedup.Verdict{dedup.Pending}, r.verdicts(t, p.ID))
	}
}
