package timeline_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

// An agent's own posts are in their timeline, whatever they have muted, and do not count as news
// of a stream.
func TestTimelineOwnPosts(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	w.Follow("r", "a")
	watch := w.watch("r")
	own := w.publish("r", public)
	circle := w.publish("r", followers)
	w.silent(watch)
	other := w.publish("a", public)
	w.publish("r", public)
	w.told(watch, 1, other)
	w.silent(watch)
	for name, mutes := range map[string]feed.Profile{
		"nothing": {}, "their tag": {MutedTags: []string{"tag"}}, "themselves": {MutedAuthors: []string{"r"}}, "the post": {MutedItems: []string{own.ID, circle.ID}},
		"all of it": {MutedTags: []string{"tag"}, MutedAuthors: []string{"r", "a"}, MutedItems: []string{own.ID}},
	} {
		w.Reader = mutes
		ids := w.Scroll("r", 2)
		assert.Contains(t, ids, own.ID, name)
		assert.Contains(t, ids, circle.ID, name)
		assert.Equal(t, name == "nothing" || name == "themselves" || name == "the post", slices.Contains(ids, other.ID), name)
	}
}
