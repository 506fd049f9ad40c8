package timeline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

// told is a network of which an agent is notified.
type told struct{ *enginetest.Network }

func (n told) likes(post string, agents ...string) {
	n.Helper()
	for _, agent := range agents {
		n.Advance(time.Second)
		_, _, err := n.Store.Like(n.Context(), agent, post)
		require.NoError(n, err)
	}
}

// notices reads all pages of the notifications of r, n at a time.
func (n told) notices(limit int) (list []string, last social.NoticePage) {
	n.Helper()
	for cursor := ""; ; cursor = *last.NextCursor {
		var err error
		last, err = n.Timelines.Notifications(n.Context(), timeline.NoticesRequest{Agent: "r", After: cursor, Limit: limit})
		require.NoError(n, err)
		for _, notice := range last.Notices {
			text := fmt.Sprint(notice.Kind, " ", notice.Count)
			for _, actor := range notice.Actors {
				text += " " + actor.ID
			}
			if notice.Post != nil {
				text += " " + notice.Post.Caption
			}
			if notice.Reply != nil {
				text += " " + notice.Reply.Caption
			}
			if notice.Unread {
				text += " *"
			}
			list = append(list, text)
		}
		if last.NextCursor == nil {
			return list, last
		}
	}
}

func (n told) has(unread int, want ...string) {
	n.Helper()
	for _, limit := range []int{1, 2, 100} {
		got, page := n.notices(limit)
		require.Equal(n, want, got)
		require.Equal(n, unread, page.Unread)
	}
}

func (n told) caption(author, caption, answers string) string {
	n.Helper()
	p := social.Post{Author: author, Caption: caption, ReplyTo: answers}
	if answers == "" {
		p.Audience = public
	}
	return n.PostAs(p).ID
}

func TestNotificationsGrouped(t *testing.T) {
	t.Parallel()
	n := told{enginetest.NewNetwork(t)}
	snow, rain := n.caption("r", "snow", ""), n.caption("r", "rain", "")
	n.likes(snow, "a", "b", "c", "d")
	n.likes(rain, "a")
	n.Follow("a", "r")
	n.Follow("b", "r")
	n.Advance(24 * time.Hour)
	n.Follow("c", "r")
	n.caption("a", "first", snow)
	second := n.caption("b", "second", snow)
	n.likes(snow, "e")
	all := []string{"like 5 e d c snow *", "reply 2 b a snow second *", "follow 1 c *", "follow 2 b a *", "like 1 a rain *"}
	n.has(5, all...)

	_, page := n.notices(100)
	changed, err := n.Store.SeeNotifications(t.Context(), "r", page.Notices[2].Marker)
	require.NoError(t, err)
	require.True(t, changed)
	n.has(2, "like 5 e d c snow *", "reply 2 b a snow second *", "follow 1 c", "follow 2 b a", "like 1 a rain")
	_, err = n.Store.SeeNotifications(t.Context(), "r", page.Marker)
	require.NoError(t, err)
	n.likes(rain, "b")
	n.has(1, "like 2 b a rain *", "like 5 e d c snow", "reply 2 b a snow second", "follow 1 c", "follow 2 b a")

	n.Reader = feed.Profile{MutedAuthors: []string{"b"}}
	n.has(0, "like 4 e d c snow", "reply 1 a snow first", "follow 1 c", "follow 1 a", "like 1 a rain")
	n.Reader = feed.Profile{MutedItems: []string{snow}}
	n.has(1, "like 2 b a rain *", "follow 1 c", "follow 2 b a")
	n.Reader = feed.Profile{MutedItems: []string{second}}
	n.has(1, "like 2 b a rain *", "like 5 e d c snow", "reply 1 a snow first", "follow 1 c", "follow 2 b a")
	n.Reader = feed.Profile{MutedAuthors: []string{"a", "b", "c", "d", "e"}}
	n.has(0)

	n.Reader, n.ProfileErr = feed.Profile{}, catalog.ErrUnavailable
	list, page := n.notices(100)
	require.Len(t, list, 5)
	require.Equal(t, []string{"catalog"}, page.Degraded)
}

// TestNotificationsWithMutedContent checks that tags and words that the reader mutes leave out replies and
// mentions with them, but not what others do with the reader's own posts, on pages and in streams.
func TestNotificationsWithMutedContent(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	n := told{w.Network}
	own := n.PostAs(social.Post{Author: "r", Caption: "own zebra", Tags: []string{"Zoo"}, Audience: public}).ID
	n.likes(own, "a")
	n.Advance(time.Second)
	n.PostAs(social.Post{Author: "b", Caption: "look", Tags: []string{"zoo"}, ReplyTo: own})
	n.Advance(time.Second)
	n.PostAs(social.Post{Author: "c", Caption: "a zebra", Mentions: []string{"r"}, Audience: public})
	like, reply, mention := "like 1 a own zebra *", "reply 1 b own zebra look *", "mention 1 c a zebra *"
	for _, of := range []struct {
		mutes feed.Profile
		want  []string
	}{
		{feed.Profile{}, []string{mention, reply, like}},
		{feed.Profile{MutedTags: []string{"ZOO"}}, []string{mention, like}},
		{feed.Profile{MutedWords: []feed.MutedWord{{Term: "zebra"}}}, []string{reply, like}},
		{feed.Profile{MutedWords: []feed.MutedWord{{Term: "zoo"}}}, []string{mention, like}},
		{feed.Profile{MutedTags: []string{"zoo"}, MutedWords: []feed.MutedWord{{Term: "zebra"}}}, []string{like}},
	} {
		n.Reader = of.mutes
		n.has(len(of.want), of.want...)
		w.unread(w.watch("r"), len(of.want))
	}
}

func TestNotificationsBadCursor(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetwork(t)
	for _, cursor := range []string{"1", "x.like.", "0.like.post:x", "-1.like.", "1.likes.post:x", ".like.", "1.like", strings.Repeat("9", 30) + ".like."} {
		_, err := n.Timelines.Notifications(t.Context(), timeline.NoticesRequest{Agent: "r", After: cursor, Limit: 1})
		require.ErrorIs(t, err, feed.ErrInvalid, cursor)
	}
	_, err := n.Timelines.Notifications(t.Context(), timeline.NoticesRequest{Agent: "r", Limit: timeline.MaxLimit + 1})
	require.ErrorIs(t, err, feed.ErrBadLimit)
	_, err = n.Timelines.Notifications(t.Context(), timeline.NoticesRequest{Agent: "@server", Limit: 1})
	require.ErrorIs(t, err, feed.ErrBadID)
}

// unread requires what a watch has to take.
func (w *watching) unread(watch *timeline.Watch, want int) {
	w.Helper()
	got, changed := watch.TakeUnread()
	require.True(w, changed)
	require.Equal(w, want, got)
	_, changed = watch.TakeUnread()
	require.False(w, changed)
}

func (w *watching) noUnread(watches ...*timeline.Watch) {
	w.Helper()
	w.watcher.Poll(w.Context())
	for _, watch := range watches {
		_, changed := watch.TakeUnread()
		require.False(w, changed)
	}
}

// TestWatchNotifications checks that streams say how many notifications are unread: at their beginning, after
// a new one, and after some were seen; and nothing of what the agent may not know of.
func TestWatchNotifications(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	n := told{w.Network}
	post := n.caption("r", "snow", "")
	first := w.watch("r")
	w.noUnread(first)
	n.likes(post, "a")
	second, other := w.watch("r"), w.watch("other")
	w.unread(second, 1)
	w.watcher.Poll(t.Context())
	w.unread(first, 1)
	w.noUnread(first, second, other)

	n.likes(post, "b") // the number stays, but there is a new one
	w.watcher.Poll(t.Context())
	w.unread(first, 1)
	w.unread(second, 1)
	w.Follow("c", "r")
	w.watcher.Poll(t.Context())
	w.unread(first, 2)
	w.unread(second, 2)

	box, err := w.Store.Notifications(t.Context(), "r")
	require.NoError(t, err)
	_, err = w.Store.SeeNotifications(t.Context(), "r", box.Last)
	require.NoError(t, err)
	w.watcher.Poll(t.Context())
	w.unread(first, 0)
	w.unread(second, 0)

	w.Reader = feed.Profile{MutedAuthors: []string{"d"}}
	n.likes(post, "d")
	_, err = w.Store.Block(t.Context(), "r", "e")
	require.NoError(t, err)
	_, err = w.Store.Mute(t.Context(), "r", social.MuteNotification, "mention", time.Time{})
	require.NoError(t, err)
	w.PostAs(social.Post{Author: "f", Caption: "x", Audience: public, Mentions: []string{"r"}})
	w.noUnread(first, second, other)
	n.likes(post, "g")
	w.watcher.Poll(t.Context())
	w.unread(first, 1)
	w.unread(second, 1)
	w.noUnread(other)
}

// TestWakeOfNotification checks that a notification is reported as soon as the wakes of a moment are collected.
func TestWakeOfNotification(t *testing.T) {
	t.Parallel()
	woken(t, never, func(w *watching) {
		n := told{w.Network}
		post := n.caption("r", "snow", "")
		watch := w.watch("r")
		w.Notified = func(agents []string) { w.wake(collectFor, lists.Wake{Agents: agents}) }
		n.likes(post, "a")
		<-watch.Ready()
		w.unread(watch, 1)
	})
}
