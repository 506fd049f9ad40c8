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

// TestWatchLatePosts checks that a post below the last reported one counts as new if its
// date is recent: the clock of another server may be behind, and ids of one second have no order.
func TestWatchLatePosts(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]func(w *watching) (author string){
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
	} {
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
			for _, ago := range []time.Duration{time.Minute + time.Second, time.Hour} {
				w.arrive(author, ago)
				w.silent(watch)
			}
			w.posts.down.Store(true)
			w.arrive(author, time.Second)
			w.silent(watch)
			w.posts.down.Store(false)
			w.told(watch, 1, newest)

			second := w.watch("r", early.Position())
			require.Equal(t, timeline.News{Count: 6, Head: newest.Position()}, second.Take(), "two are below what it begins after, and two are old")
			<-second.Ready()
			w.arrive(author, time.Second)
			newest = w.publish(author, public)
			w.told(watch, 2, newest)
			require.Equal(t, timeline.News{Count: 2, Head: newest.Position()}, second.Take())
			<-second.Ready()
			w.Advance(2 * time.Minute)
			w.silent(watch)
			w.silent(second)
		})
	}
}
