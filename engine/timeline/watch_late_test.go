package timeline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/social"
)

// arrive adds a post to a timeline now. It has the given age, and an id that is lower than those of
// other posts of the same second.
func (w *watching) arrive(author string, ago time.Duration) social.Post {
	w.Helper()
	w.arrived++
	return w.PostAs(social.Post{
		ID: "post:-" + string(rune('a'+w.arrived)), Author: author, Caption: "late", Audience: public,
		CreatedAt: w.Now().Add(-ago).Unix(),
	})
}

// sourcesOfPosts put the posts of an author into the timeline of r, each in another way.
var sourcesOfPosts = map[string]func(w *watching) (author string){
	"list": func(w *watching) string {
		w.Follow("r", "a")
		return "a"
	},
	"outbox": func(w *watching) string {
		w.Follow("r", "star")
		w.celebrity("star")
		return "star"
	},
	"public": func(w *watching) string {
		w.Follow("r", social.Server)
		return "anybody"
	},
}

// TestWatchLatePosts checks that a post below the last reported one counts as new when it arrives: at
// once if its date is recent, because ids of one second have no order, and a moment later if it is a
// day old at most.
func TestWatchLatePosts(t *testing.T) {
	t.Parallel()
	for name, source := range sourcesOfPosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t, 0)
			author := source(w)
			w.publish(author, public)
			early := w.arrive(author, 10*time.Second)
			watch := w.watch("r")
			w.silent(watch)
			newest := w.publish(author, public)
			w.told(watch, 1, newest)
			for _, ago := range []time.Duration{0, 0, time.Second, 20 * time.Second, 59 * time.Second} {
				w.arrive(author, ago)
				w.told(watch, 1, newest)
				w.silent(watch)
			}
			for _, ago := range []time.Duration{time.Minute + time.Second, 4 * time.Minute, 24 * time.Hour} {
				w.arrive(author, ago)
				w.silent(watch)
				w.Advance(2 * time.Second)
				w.told(watch, 1, newest)
				w.silent(watch)
			}
			w.arrive(author, 24*time.Hour+time.Second)
			w.arrive("stranger", time.Hour)
			w.Advance(2 * time.Second)
			if name == "public" {
				w.told(watch, 1, newest)
			}
			w.silent(watch)
			w.posts.down.Store(true)
			newest = w.arrive(author, time.Second)
			w.silent(watch)
			w.posts.down.Store(false)
			w.told(watch, 1, newest)

			second := w.watch("r", early.Position())
			require.Equal(t, timeline.News{Count: 6, Head: newest.Position()}, taken(second), "two are below what it begins after, and two are old")
			<-second.Ready()
			w.arrive(author, time.Second)
			newest = w.publish(author, public)
			w.told(watch, 2, newest)
			require.Equal(t, timeline.News{Count: 2, Head: newest.Position()}, taken(second))
			<-second.Ready()
			w.Advance(2 * time.Minute)
			w.silent(watch)
			w.silent(second)
		})
	}
}

// TestWatchFromTheFuture checks that a watch from a point that cannot be one of its timeline begins at
// the present head: with the clock of another deployment, or one that was ahead, it would be silent
// until then. A post that is dated in the future is a point of its timeline.
func TestWatchFromTheFuture(t *testing.T) {
	t.Parallel()
	for name, source := range sourcesOfPosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t, 0)
			author := source(w)
			head := w.publish(author, public)
			ahead := social.Position{At: w.Now().Add(24 * time.Hour).Unix(), ID: "post:x"}
			for _, arrived := range []int64{0, ahead.At * 1e6} {
				w.Advance(10 * time.Minute)
				p := timeline.Point{Position: ahead, Arrived: arrived}
				watch, err := w.watcher.WatchFrom(t.Context(), "r", &p)
				require.NoError(t, err)
				require.Equal(t, head.Position(), watch.Start())
				require.LessOrEqual(t, watch.StartPoint().Arrived, w.Now().UnixMicro())
				w.silent(watch)
				head = w.publish(author, public)
				w.told(watch, 1, head)
				w.arrive(author, 3*time.Minute)
				w.Advance(2 * time.Second)
				w.told(watch, 1, head)
				watch.Close()
			}
			resumed, err := w.watcher.WatchFrom(t.Context(), "r", &timeline.Point{Position: head.Position(), Arrived: ahead.At * 1e6})
			require.NoError(t, err)
			t.Cleanup(resumed.Close)
			require.Equal(t, head.Position(), resumed.Start())
			w.silent(resumed)
			w.arrive(author, 3*time.Minute)
			w.Advance(2 * time.Second)
			w.told(resumed, 1, head)
			near := social.Position{At: w.Now().Add(4 * time.Minute).Unix(), ID: "post:x"}
			require.Equal(t, near, w.watch("r", near).Start(), "clocks differ")
		})
	}
}

// TestWatchResumesLatePosts checks that a watch that goes on from news reports each late post once,
// and one that goes on from a position alone none of before.
func TestWatchResumesLatePosts(t *testing.T) {
	t.Parallel()
	for name, source := range sourcesOfPosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t, 0)
			author := source(w)
			newest := w.publish(author, public)
			w.arrive(author, 5*time.Minute)
			w.Advance(2 * time.Second)
			watch := w.watch("r")
			start := watch.StartPoint()
			w.silent(watch)
			w.arrive(author, 4*time.Minute)
			w.Advance(2 * time.Second)
			w.watcher.Poll(t.Context())
			first := watch.Take()
			require.Equal(t, timeline.News{Count: 1, Head: newest.Position(), Arrived: first.Arrived}, first)

			w.arrive(author, time.Hour)
			newest = w.publish(author, public)
			w.Advance(2 * time.Second)
			resumed := func(p timeline.Point, count int) *timeline.Watch {
				t.Helper()
				again, err := w.watcher.WatchFrom(t.Context(), "r", &p)
				require.NoError(t, err)
				t.Cleanup(again.Close)
				require.Equal(t, timeline.News{Count: count, Head: newest.Position()}, taken(again))
				w.watcher.Poll(t.Context())
				require.Zero(t, again.Take())
				return again
			}
			last := timeline.Point{Position: first.Head, Arrived: first.Arrived}
			resumed(start, 3)
			again, position := resumed(last, 2), resumed(timeline.Point{Position: first.Head}, 1)
			w.arrive(author, 3*time.Minute)
			w.Advance(2 * time.Second)
			w.watcher.Poll(t.Context())
			require.Equal(t, 1, again.Take().Count)
			require.Equal(t, 1, position.Take().Count)

			w.Advance(10 * time.Minute) // the store has what the watcher does not know any more
			w.watcher.Poll(t.Context())
			resumed(start, 4)
			resumed(last, 3)
		})
	}
}

// TestWatchClocksApart checks that neither the clock of a server that makes posts nor that of the one
// with the streams decides what is reported.
func TestWatchClocksApart(t *testing.T) {
	t.Parallel()
	for _, apart := range []time.Duration{-4 * time.Minute, 4 * time.Minute} {
		t.Run(apart.String(), func(t *testing.T) {
			t.Parallel()
			w := newWatching(t, 0)
			w.watcher = timeline.NewWatcher(w.stores(), 0, timeline.Config{Clock: func() time.Time { return w.Now().Add(apart) }})
			w.Follow("r", "a")
			w.publish("a", public)
			w.Advance(2 * time.Second)
			watch := w.watch("r")
			newest := w.publish("a", public)
			w.told(watch, 1, newest)
			w.arrive("a", 20*time.Second)
			w.told(watch, 1, newest)
			w.arrive("a", 4*time.Minute)
			w.silent(watch)
			w.Advance(2 * time.Second)
			w.told(watch, 1, newest)
			w.silent(watch)
		})
	}
}
