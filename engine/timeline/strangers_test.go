package timeline_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/social"
)

// mention creates a post that mentions the reader.
func mention(n *enginetest.Network, author string) social.Post {
	n.Helper()
	n.Advance(time.Second)
	return n.PostAs(social.Post{Author: author, Caption: "Hey!", Audience: toAll, Mentions: []string{"reader"}})
}

// strangersOn returns the positions of posts by others than pal.
func strangersOn(posts []social.Card) (at []int) {
	for i, c := range posts {
		if c.Author.ID != "pal" {
			at = append(at, i)
		}
	}
	return at
}

// TestTimelineStrangers checks that mentions by people whom the reader does not follow are a quarter
// of a page at most, half of these by one of them, and have others between them.
func TestTimelineStrangers(t *testing.T) {
	t.Parallel()
	for name, strangers := range map[string]int{"one": 1, "many": 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := enginetest.NewNetworkOf(t, 200, 200)
			n.Follow("reader", "pal")
			var pals []string
			for range 40 {
				n.Advance(time.Second)
				pals = append(pals, n.Post("pal", toAll).ID)
			}
			for i := range 30 {
				mention(n, fmt.Sprint("stranger", i%strangers))
			}
			want := map[int][]int{1: {0, 4}, 30: {0, 4, 8, 12, 16}}[strangers]
			page := n.Page("reader", social.Position{}, 20)
			require.Len(t, page.Posts, 20)
			assert.Equal(t, want, strangersOn(page.Posts))
			var got []string
			for _, id := range n.Scroll("reader", 20) {
				if slices.Contains(pals, id) {
					got = append(got, id)
				}
			}
			slices.Reverse(got)
			assert.Equal(t, pals, got, "each post of the followed author once, in order")
		})
	}
}

// TestTimelineOfMentions checks that a reader whom only strangers mention reads all of it in order,
// and that a single mention stays where it is.
func TestTimelineOfMentions(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetworkOf(t, 200, 200)
	for i := range 50 {
		mention(n, fmt.Sprint("stranger", i%7))
	}
	for _, limit := range []int{1, 7, 20, 100} {
		assert.Equal(t, n.Truth("reader"), n.Scroll("reader", limit), limit)
	}
	n.Follow("reader", "pal")
	for i := range 60 {
		n.Advance(time.Second)
		n.Post("pal", toAll)
		if i%15 == 7 {
			mention(n, "kim")
		}
	}
	page := n.Page("reader", social.Position{}, 50)
	assert.Equal(t, n.Truth("reader")[:50], enginetest.PostIDs(page))
}

// TestWatchStrangers checks that a watch counts no more mentions by people whom the reader does not
// follow than a page of the timeline has, whether they arrive at once or one after the other.
func TestWatchStrangers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ strangers, count int }{"one": {1, 2}, "many": {30, 5}} {
		for _, atOnce := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", at once: ", atOnce), func(t *testing.T) {
				t.Parallel()
				w := newWatching(t, 0)
				w.Follow("reader", "pal")
				for range 40 {
					w.publish("pal", toAll)
				}
				watch := w.watch("reader")
				before := w.Page("reader", social.Position{}, 20).Posts
				count := 0
				check := func() {
					w.watcher.Poll(t.Context())
					count += watch.Take().Count
				}
				for i := range 20 {
					mention(w.Network, fmt.Sprint("stranger", i%tt.strangers))
					if !atOnce {
						check()
					}
				}
				check()
				assert.Equal(t, tt.count, count)
				shown := 0
				for _, c := range w.Page("reader", social.Position{}, 20).Posts {
					if !slices.ContainsFunc(before, func(b social.Card) bool { return b.ID == c.ID }) {
						shown++
					}
				}
				assert.Equal(t, count, shown, "new on the first page")

				// Others count, all of them, and make room for mentions.
				for range 20 {
					w.publish("pal", toAll)
				}
				check()
				mention(w.Network, "stranger0")
				check()
				assert.Equal(t, tt.count+20+1, count)
			})
		}
	}
}
