package timeline_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
)

// watching is a network with a watcher. It counts the watcher's calls and can make them fail.
type watching struct {
	*enginetest.Network
	watcher *timeline.Watcher
	posts   *countedPosts
	lists   *countedLists
	wakes   *timelinememory.Wakes
	arrived int // number of late posts
}

type countedPosts struct {
	timeline.WatchPosts
	cards, pulls, followed, public atomic.Int64
	down                           atomic.Bool
}

func (p *countedPosts) CardsOf(ctx context.Context, asked []social.Asked) ([]social.Card, error) {
	p.cards.Add(1)
	if p.down.Load() {
		return nil, social.ErrUnavailable
	}
	return p.WatchPosts.CardsOf(ctx, asked)
}

func (p *countedPosts) Late(ctx context.Context, after int64, n int) ([]social.LatePost, int64, error) {
	if p.down.Load() {
		return nil, 0, social.ErrUnavailable
	}
	return p.WatchPosts.Late(ctx, after, n)
}

func (p *countedPosts) Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error) {
	p.pulls.Add(1)
	if p.down.Load() {
		return nil, social.ErrUnavailable
	}
	return p.WatchPosts.Pull(ctx, q)
}

func (p *countedPosts) CelebritiesOf(ctx context.Context, readers []string) ([]social.Pulled, error) {
	p.followed.Add(1)
	return p.WatchPosts.CelebritiesOf(ctx, readers)
}

func (p *countedPosts) NewestPublic(ctx context.Context, n int) ([]social.Entry, error) {
	p.public.Add(1)
	return p.WatchPosts.NewestPublic(ctx, n)
}

type countedLists struct {
	lists.Lists
	heads atomic.Int64
	slow  atomic.Int64 // duration of a call
	down  atomic.Bool
	hangs atomic.Bool
}

func (l *countedLists) Heads(ctx context.Context, names []string) ([]lists.Head, error) {
	l.heads.Add(1)
	time.Sleep(time.Duration(l.slow.Load()))
	if l.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if l.down.Load() {
		return nil, lists.ErrUnavailable
	}
	return l.Lists.Heads(ctx, names)
}

func newWatching(t *testing.T, most int) *watching {
	n := enginetest.NewNetworkOf(t, lists.Cap, lists.OutboxCap)
	w := &watching{Network: n, posts: &countedPosts{WatchPosts: n.Store}, lists: &countedLists{Lists: n.Lists}, wakes: timelinememory.NewWakes()}
	w.watcher = timeline.NewWatcher(w.stores(), most, timeline.Config{Clock: w.Now})
	return w
}

func (w *watching) stores() timeline.WatchStores {
	return timeline.WatchStores{Posts: w.posts, Lists: w.lists, Outboxes: w.Outboxes, Builder: w, Profiles: w, Wakes: w.wakes, Notifications: w.Store}
}

func (w *watching) watch(agent string, since ...social.Position) *timeline.Watch {
	w.Helper()
	var from *social.Position
	if len(since) > 0 {
		from = &since[0]
	}
	watch, err := w.watcher.Watch(w.Context(), agent, from)
	require.NoError(w, err)
	w.Cleanup(watch.Close)
	return watch
}

// publish creates a post one second after the previous one.
func (w *watching) publish(author string, a social.Audience) social.Post {
	w.Helper()
	w.Advance(time.Second)
	return w.Post(author, a)
}

// told runs a check and verifies what the watch reports.
func (w *watching) told(watch *timeline.Watch, count int, newest social.Post) {
	w.Helper()
	w.watcher.Poll(w.Context())
	require.Equal(w, timeline.News{Count: count, Head: newest.Position()}, taken(watch))
	<-watch.Ready()
}

// taken takes the news of a watch without the arrival.
func taken(watch *timeline.Watch) timeline.News {
	news := watch.Take()
	news.Arrived = 0
	return news
}

func (w *watching) silent(watch *timeline.Watch) {
	w.Helper()
	w.watcher.Poll(w.Context())
	require.Zero(w, watch.Take())
	require.Empty(w, watch.Ready())
}

// celebrity makes an author's posts pulled.
func (w *watching) celebrity(author string) {
	w.Helper()
	require.NoError(w, w.Store.PutAuthor(w.Context(), social.Author{ID: author}, time.Time{}))
	w.Deliver(author, social.Push, social.Pull)
	require.NoError(w, w.Outbox(w.Context(), []string{author}))
}

var public, followers = social.Audience{Public: true}, social.Audience{Followers: true}

func TestWatchNewPosts(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	w.Follow("r", "a")
	old := w.publish("a", public)
	watch := w.watch("r")
	require.Equal(t, old.Position(), watch.Start())
	w.silent(watch)
	first := w.publish("a", followers)
	w.told(watch, 1, first)
	w.silent(watch)
	w.publish("a", public)
	w.told(watch, 2, w.publish("a", public))
	w.publish("stranger", public)
	w.silent(watch)

	t.Run("from a position on", func(t *testing.T) {
		again := w.watch("r", first.Position())
		require.Equal(t, first.Position(), again.Start())
		news := again.Take()
		require.Equal(t, 2, news.Count)
		<-again.Ready()
		w.silent(again)
		w.silent(w.watch("r", news.Head))
		require.Equal(t, 4, w.watch("r", social.Position{}).Take().Count)
	})
	t.Run("what was not taken is added up", func(t *testing.T) {
		for range 60 {
			w.publish("a", public)
			w.watcher.Poll(t.Context())
		}
		last := w.publish("a", public)
		w.told(watch, 61, last)
		for range 120 {
			last = w.publish("a", public)
			w.watcher.Poll(t.Context())
		}
		w.told(watch, timeline.MostNew, last)
	})
}

// TestWatcherPolls checks that the watcher polls until it ends, and that a hanging
// check does not block it for long.
func TestWatcherPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t, 0)
		w.Follow("r", "a")
		watch := w.watch("r")
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan struct{})
		go func() { defer close(running); w.watcher.Run(ctx) }()
		begun, before := time.Now(), w.lists.heads.Load()
		looks := func(want int64, after time.Duration) {
			t.Helper()
			time.Sleep(time.Until(begun.Add(after)))
			synctest.Wait()
			require.Equal(t, want, w.lists.heads.Load()-before)
		}
		looks(0, timeline.PollEvery-time.Nanosecond)
		looks(1, timeline.PollEvery)
		looks(1, 2*timeline.PollEvery-time.Nanosecond)
		newest := w.publish("a", public)
		require.Zero(t, watch.Take())
		<-watch.Ready()
		require.Equal(t, 2*timeline.PollEvery, time.Since(begun), "the next check notifies")
		require.Equal(t, timeline.News{Count: 1, Head: newest.Position()}, taken(watch))

		w.lists.hangs.Store(true)
		const lookLimit = 10 * time.Second
		hangs := 3 * timeline.PollEvery
		looks(3, hangs+lookLimit-time.Nanosecond)
		w.lists.hangs.Store(false)
		newest = w.publish("a", public)
		<-watch.Ready()
		require.Equal(t, hangs+lookLimit, time.Since(begun), "the ticks of meanwhile are one")
		require.Equal(t, timeline.News{Count: 1, Head: newest.Position()}, taken(watch))
		stop()
		<-running
		require.Equal(t, hangs+lookLimit, time.Since(begun))
	})
}

func TestWatchEmptyTimeline(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	watch := w.watch("r")
	require.Zero(t, watch.Start())
	w.silent(watch)
	w.publish("r", public)
	w.silent(watch) // the reader's own posts are not news
	w.Follow("r", "a")
	w.told(watch, 1, w.publish("a", public))
}

// TestWatchPulledAuthors watches authors with posts in no list.
func TestWatchPulledAuthors(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	w.Follow("r", "star")
	w.celebrity("star")
	before := w.publish("star", public)
	watch, late, server := w.watch("r"), w.watch("late"), w.watch("s")
	require.Equal(t, before.Position(), watch.Start())
	w.told(watch, 1, w.publish("star", followers))
	w.silent(late)

	// A follow changes the version of the list, which triggers a new query of the follows.
	for agent, author := range map[string]string{"late": "star", "s": social.Server} {
		w.Follow(agent, author)
		require.NoError(t, w.lists.ClearToken(t.Context(), []string{agent}))
	}
	w.watcher.Poll(t.Context())
	late.Take()
	server.Take()
	for _, watch := range []*timeline.Watch{late, server} {
		select {
		case <-watch.Ready():
		default:
		}
	}
	news := w.publish("star", public)
	w.told(watch, 1, news)
	require.Equal(t, timeline.News{Count: 1, Head: news.Position()}, taken(late))
	require.Equal(t, timeline.News{Count: 1, Head: news.Position()}, taken(server))
	<-late.Ready()
	<-server.Ready()
	w.told(server, 1, w.publish("stranger", public))
	w.publish("stranger", followers)
	w.silent(server)

	// An author who becomes pulled is noticed in time even if the list does not change.
	w.Follow("r", "rising")
	require.NoError(t, w.lists.ClearToken(t.Context(), []string{"r"}))
	w.silent(watch)
	w.celebrity("rising")
	w.Advance(time.Minute)
	w.told(watch, 1, w.publish("rising", public))
}

// TestWatchInvisiblePosts checks posts that lists still contain, each only once.
func TestWatchInvisiblePosts(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(w *watching, p social.Post) error{
		"deleted": func(w *watching, p social.Post) error {
			return w.Store.DeletePost(w.Context(), p.ID, "a", time.Time{})
		},
		"unfollowed": func(w *watching, _ social.Post) error {
			_, err := w.Store.Unfollow(w.Context(), "r", "a", time.Time{})
			return err
		},
		"blocked": func(w *watching, _ social.Post) error {
			_, err := w.Store.Block(w.Context(), "a", "r")
			return err
		},
		"muted author": func(w *watching, _ social.Post) error {
			w.Reader = feed.Profile{MutedAuthors: []string{"a"}}
			return nil
		},
		"muted tag": func(w *watching, _ social.Post) error {
			w.Reader = feed.Profile{MutedTags: []string{"tag"}}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t, 0)
			w.Follow("r", "a", "b")
			watch := w.watch("r")
			require.NoError(t, hide(w, w.publish("a", public)))
			w.silent(watch)
			asked := w.posts.cards.Load()
			require.Positive(t, asked)
			w.silent(watch)
			require.Equal(t, asked, w.posts.cards.Load(), "it is asked about again")
			if name != "muted tag" {
				w.told(watch, 1, w.publish("b", public))
			}
		})
	}
}

func TestWatchDependenciesDown(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	w.Follow("r", "a")
	old := w.publish("a", public)
	watch := w.watch("r")
	w.lists.down.Store(true)
	w.silent(watch)
	second := w.watch("r")
	require.Equal(t, old.Position(), second.Start(), "the store knows")
	third := w.watch("r", old.Position())
	first := w.publish("a", public)
	w.silent(third)
	w.lists.down.Store(false)
	w.posts.down.Store(true)
	w.silent(watch)
	w.posts.down.Store(false)
	w.told(watch, 1, first)
	for _, watch := range []*timeline.Watch{second, third} {
		require.Equal(t, timeline.News{Count: 1, Head: first.Position()}, taken(watch))
	}

	w.lists.down.Store(true)
	w.posts.down.Store(true)
	_, err := w.watcher.Watch(t.Context(), "r", nil)
	require.ErrorIs(t, err, social.ErrUnavailable)
	w.lists.down.Store(false)
	w.posts.down.Store(false)

	// No post is pushed to an expired list, so the list is rebuilt.
	require.NoError(t, w.lists.Drop(t.Context(), []string{"r"}))
	w.Advance(time.Second)
	_, _, err = w.Store.CreatePost(t.Context(), social.Post{Author: "a", Caption: "x", Audience: public}, social.Creation{})
	require.NoError(t, err)
	w.watcher.Poll(t.Context())
	require.Equal(t, 1, watch.Take().Count)
}

// TestWatchTwoStreamsOfAgent has two streams of one agent. One resumes at an older
// post, and its first check failed: it must not use the position of the other.
func TestWatchTwoStreamsOfAgent(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	agents := []string{"r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"} // streams are checked in any order
	for _, r := range agents {
		w.Follow(r, "a")
	}
	old := w.publish("a", public)
	for range 20 {
		w.publish("a", public)
	}
	w.Advance(time.Hour) // none of the posts counts as late
	var late, current []*timeline.Watch
	for _, r := range agents {
		current = append(current, w.watch(r))
	}
	w.lists.down.Store(true)
	for _, r := range agents {
		late = append(late, w.watch(r, old.Position()))
	}
	w.lists.down.Store(false)
	last := w.publish("a", public)
	w.watcher.Poll(t.Context())
	for i := range agents {
		require.Equal(t, timeline.News{Count: 21, Head: last.Position()}, taken(late[i]))
		require.Equal(t, timeline.News{Count: 1, Head: last.Position()}, taken(current[i]))
	}
}

func TestWatchBounds(t *testing.T) {
	t.Parallel()
	w := newWatching(t, timeline.AgentWatches+1)
	var open []*timeline.Watch
	for range timeline.AgentWatches {
		watch, err := w.watcher.Watch(t.Context(), "r", nil)
		require.NoError(t, err)
		open = append(open, watch)
	}
	_, err := w.watcher.Watch(t.Context(), "r", nil)
	require.ErrorIs(t, err, feed.ErrTooMany)
	last := w.watch("other")
	_, err = w.watcher.Watch(t.Context(), "another", nil)
	require.ErrorIs(t, err, feed.ErrBusy)
	_, err = w.watcher.Watch(t.Context(), social.Server, nil)
	require.ErrorIs(t, err, feed.ErrBadID)
	open[3].Close()
	w.watch("another")
	for i, watch := range open {
		if i != 3 {
			watch.Close()
		}
	}
	w.Follow("other", "a")
	w.told(last, 1, w.publish("a", public))
	w.watcher.End()
	<-last.Ended()
	w.watcher.End()
	_, err = w.watcher.Watch(t.Context(), "r", nil)
	require.ErrorIs(t, err, feed.ErrBusy)
}

// TestWatchQueriesPerCheck counts the queries of one check of many agents.
func TestWatchQueriesPerCheck(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	const agents = 1200
	w.celebrity("star")
	for _, author := range []string{"star", social.Server} {
		var edges []social.Edge
		for i := range agents {
			edges = append(edges, social.Edge{Agent: fmt.Sprint("r", i), Author: author})
		}
		_, _, err := w.Store.FollowAll(t.Context(), edges, w.Now())
		require.NoError(t, err)
	}
	for i := range agents {
		w.watch(fmt.Sprint("r", i))
	}
	count := func() [5]int64 {
		return [5]int64{w.lists.heads.Load(), w.posts.followed.Load(), w.posts.public.Load(), w.posts.cards.Load(), w.posts.pulls.Load()}
	}
	w.watcher.Poll(t.Context()) // queries once more whom the agents follow
	before := count()
	w.watcher.Poll(t.Context())
	after := count()
	for i := range after {
		after[i] -= before[i]
	}
	assert.Equal(t, [5]int64{1, 0, 1, 0, 0}, after)
	w.Advance(time.Minute)
	before = count()
	w.watcher.Poll(t.Context())
	assert.Equal(t, int64(3), count()[1]-before[1], "500 agents a statement")
}

// TestWatchOneQueryForManyAgents checks that the store is queried for hundreds of agents at once.
func TestWatchOneQueryForManyAgents(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	const agents = 1200
	var edges []social.Edge
	for i := range agents {
		edges = append(edges, social.Edge{Agent: fmt.Sprint("r", i), Author: "a"})
	}
	_, _, err := w.Store.FollowAll(t.Context(), edges, w.Now())
	require.NoError(t, err)
	var watches []*timeline.Watch
	for _, e := range edges {
		watches = append(watches, w.watch(e.Agent))
	}
	_, err = w.Store.Block(t.Context(), "a", "r7")
	require.NoError(t, err)
	w.Advance(time.Second)
	p, _, err := w.Store.CreatePost(t.Context(), social.Post{Author: "a", Caption: "x", Audience: followers}, social.Creation{})
	require.NoError(t, err)
	for i := range agents { // the list of r7 has the post although r7 may not see it
		w.Push(w.lists, fmt.Sprint("r", i), p.Post)
	}
	w.watcher.Poll(t.Context())
	for i, watch := range watches {
		want := timeline.News{Count: 1, Head: p.Position()}
		if i == 7 {
			want = timeline.News{}
		}
		require.Equal(t, want, taken(watch), i)
	}
	require.LessOrEqual(t, w.posts.cards.Load(), int64(3), "statements")
}
