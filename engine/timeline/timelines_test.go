package timeline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

var toAll, toFollowers = social.Audience{Public: true}, social.Audience{Followers: true}

// TestTimelineEqualsPull scrolls through lists, outboxes and the store, some of which may be
// missing, and compares the result with a query of the store.
func TestTimelineEqualsPull(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testenv.Schedules(40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			n, random := enginetest.NewNetwork(t), rand.New(rand.NewPCG(seed, 0))
			for _, fan := range []string{"f1", "f2", "f3"} {
				n.Follow(fan, "star", "idol")
			}
			authors := []string{"star", "idol", "ann", "bob", "reader"}
			for _, author := range authors[:4] {
				if random.IntN(4) > 0 {
					n.Follow("reader", author)
				}
			}
			if seed%8 == 0 {
				n.Follow("reader", social.Server)
			}
			for i := range random.IntN(120) {
				switch i {
				case 30:
					n.Deliver("star", social.Push, social.Both)
					n.Deliver("idol", social.Push, social.Both)
				case 50:
					n.Deliver("star", social.Both, social.Pull)
				}
				n.Post(authors[random.IntN(len(authors))], []social.Audience{toAll, toFollowers}[random.IntN(2)])
				switch random.IntN(12) {
				case 0:
					n.Advance(time.Duration(random.IntN(3)) * time.Second)
				case 1:
					n.Page("reader", social.Position{}, 1)
				case 2:
					_ = n.Lists.Drop(t.Context(), []string{"reader"})
				case 3:
					_ = n.Outboxes.Drop(t.Context(), []string{"star"})
				}
			}
			limit := 1 + random.IntN(7)
			want := n.Truth("reader")
			if diff := slices.Compare(want, n.Scroll("reader", limit)); diff != 0 {
				require.Equal(t, want, n.Scroll("reader", limit), "pages of %d", limit)
				t.Fatal("it differs the first time only")
			}
		})
	}
}

// TestTimelineRefills checks that deleted and muted posts are replaced with older ones.
func TestTimelineRefills(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetwork(t)
	n.Follow("reader", "ann", "bob")
	keep := n.Post("ann", toAll)
	n.Advance(time.Second)
	for range 30 {
		n.Post("bob", toAll)
	}
	n.Reader.MutedAuthors = []string{"bob"}
	first := n.Page("reader", social.Position{}, 5)
	assert.Equal(t, []string{keep.ID}, enginetest.PostIDs(first), "no page is empty while there is a post")
	assert.Equal(t, []string{keep.ID}, n.Scroll("reader", 5))
	n.Reader = feed.Profile{MutedTags: []string{"tag"}}
	assert.Empty(t, n.Scroll("reader", 5))
	n.Reader = feed.Profile{MutedItems: []string{keep.ID}}
	assert.Len(t, n.Scroll("reader", 5), 30)
	n.Reader = feed.Profile{}
	n.ShownIDs = nil
	require.NoError(t, n.Store.DeletePost(t.Context(), keep.ID, "ann", time.Time{}))
	assert.Len(t, n.Scroll("reader", 4), 30, "a deleted post is in the list, and not shown")
	assert.Len(t, n.ShownIDs, 30, "what was shown is noted, nothing else")
}

// TestTimelineRecordsShown checks that pages record the shown posts of signed-in readers, and
// report when they could not.
func TestTimelineRecordsShown(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetwork(t)
	n.Follow("reader", "ann")
	group(n, "g", "ann", "reader")
	var posts []string
	for range 3 {
		posts = append(posts, n.Post("ann", social.Audience{Public: true, Circles: []string{"g"}}).ID)
		n.Advance(time.Second)
	}
	require.NoError(t, n.Store.DeletePost(t.Context(), posts[1], "ann", time.Time{}))
	author := timeline.AuthorRequest{Reader: "reader", Author: "ann", Limit: 2}
	for name, read := range map[string]func() (timeline.Page, error){
		"timeline": func() (timeline.Page, error) {
			return n.Timelines.Timeline(t.Context(), timeline.Request{Agent: "reader", Limit: 2})
		},
		"author": func() (timeline.Page, error) { return n.Timelines.Author(t.Context(), author) },
		"group": func() (timeline.Page, error) {
			return n.Timelines.Circle(t.Context(), timeline.CircleRequest{Reader: "reader", Circle: "g", Limit: 2})
		},
	} {
		for _, n.Unnoted = range []bool{false, true} {
			n.ShownIDs = nil
			page, err := read()
			require.NoError(t, err, name)
			assert.Equal(t, []string{posts[2], posts[0]}, enginetest.PostIDs(page), name)
			assert.Equal(t, enginetest.PostIDs(page), n.ShownIDs, name)
			assert.False(t, page.HasMore, name)
			if n.Unnoted {
				assert.Equal(t, []string{"session"}, page.Degraded, name)
			} else {
				assert.Empty(t, page.Degraded, name)
			}
		}
	}
	n.ShownIDs = nil
	author.Reader, author.Limit = "", 1
	page, err := n.Timelines.Author(t.Context(), author)
	require.NoError(t, err)
	assert.Equal(t, []string{posts[2]}, enginetest.PostIDs(page))
	assert.True(t, page.HasMore)
	assert.Empty(t, page.Degraded)
	author.Below = page.Next
	page, err = n.Timelines.Author(t.Context(), author)
	require.NoError(t, err)
	assert.Equal(t, []string{posts[0]}, enginetest.PostIDs(page))
	assert.Empty(t, n.ShownIDs, "nobody in particular is shown anything")

	author.Limit = 101
	_, err = n.Timelines.Author(t.Context(), author)
	require.ErrorIs(t, err, feed.ErrBadLimit)
	_, err = n.Timelines.Author(t.Context(), timeline.AuthorRequest{Author: social.Server, Limit: 1})
	require.ErrorIs(t, err, feed.ErrBadID)
}

func TestTimelineEdges(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetwork(t)
	assert.Equal(t, timeline.Page{Posts: []social.Card{}}, n.Page("reader", social.Position{}, 20))
	for _, limit := range []int{0, -1, 101} {
		_, err := n.Timelines.Timeline(t.Context(), timeline.Request{Agent: "reader", Limit: limit})
		require.ErrorIs(t, err, feed.ErrBadLimit)
	}
	_, err := n.Timelines.Timeline(t.Context(), timeline.Request{Agent: social.Server, Limit: 1})
	require.ErrorIs(t, err, feed.ErrBadID)
	n.Follow("reader", "ann")
	p := n.Post("ann", toAll)
	n.ProfileErr = catalog.ErrUnavailable
	page := n.Page("reader", social.Position{}, 20)
	assert.Equal(t, []string{p.ID}, enginetest.PostIDs(page))
	assert.Equal(t, []string{"catalog"}, page.Degraded, "mutes are not known")
	n.ProfileErr = feed.ErrNotFound
	assert.Empty(t, n.Page("reader", social.Position{}, 20).Degraded)
	assert.Empty(t, n.Page("reader", p.Position(), 20).Posts)
	require.NoError(t, n.Timelines.Warm(t.Context(), "other"))
	heads, err := n.Lists.Heads(t.Context(), []string{"other"})
	require.NoError(t, err)
	assert.Equal(t, lists.Ready, heads[0].State)
}

// unreachable has the lists of a Redis that is down.
type unreachable struct{ lists.Reader }

func (unreachable) Read(context.Context, string, lists.Position, int) (lists.Page, error) {
	return lists.Page{}, fmt.Errorf("%w: refused", lists.ErrUnavailable)
}

func (unreachable) ReadMany(context.Context, []string, lists.Position, int) ([]lists.Page, error) {
	return nil, fmt.Errorf("%w: refused", lists.ErrUnavailable)
}

func TestTimelineWithoutLists(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetwork(t)
	for _, fan := range []string{"f1", "f2", "reader"} {
		n.Follow(fan, "star")
	}
	n.Follow("reader", "ann")
	n.Deliver("star", social.Push, social.Pull)
	for range 30 {
		n.Post("star", toAll)
		n.Post("ann", toFollowers)
	}
	for name, stores := range map[string]timeline.Stores{
		"all":      {Lists: unreachable{}, Outboxes: unreachable{}},
		"lists":    {Lists: unreachable{}, Outboxes: n.Outboxes},
		"outboxes": {Lists: n.Lists, Outboxes: unreachable{}},
	} {
		stores.Posts, stores.Builder, stores.Profiles = n.Store, n, n
		n.Timelines = timeline.New(stores, timeline.Config{})
		assert.Equal(t, n.Truth("reader"), n.Scroll("reader", 7), name)
		assert.Equal(t, []string{"timeline"}, n.Page("reader", social.Position{}, 7).Degraded, name)
	}
}
