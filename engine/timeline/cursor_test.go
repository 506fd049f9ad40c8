package timeline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/social"
)

// namesOnlyVisible checks that a cursor names a post that the reader may see, or no post.
func namesOnlyVisible(n *enginetest.Network, reader string, p social.Position) {
	n.Helper()
	if p.Zero() || p.ID == "post:-" {
		return
	}
	cards, err := n.Store.Cards(n.Context(), reader, []social.PostVersion{{ID: p.ID}})
	require.NoError(n, err)
	require.True(n, cards[0].Visible, "the cursor %v names a post that %s may not see", p, reader)
}

// TestCursorOfVisiblePosts reads timelines whose lists still have posts that were deleted or
// hidden from the reader, many of them in one second.
func TestCursorOfVisiblePosts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			n, rnd := enginetest.NewNetworkOf(t, 100, 20), rand.New(rand.NewPCG(seed, 0))
			n.Follow("r", "a", "b", "c", "star")
			n.Follow("f1", "star")
			n.Follow("f2", "star")
			n.Deliver("star", social.Push, social.Pull)
			n.Page("r", social.Position{}, 1)
			n.Page("star", social.Position{}, 1)
			var posts []social.Post
			for range 70 {
				author := []string{"a", "a", "b", "c", "star"}[rnd.IntN(5)]
				posts = append(posts, n.Post(author, social.Audience{Public: rnd.IntN(2) == 0, Followers: true}))
				if rnd.Uint64N(12) >= seed {
					n.Advance(time.Second)
				}
			}
			for _, p := range posts { // the lists keep everything: no job runs
				if rnd.IntN(10) < 7 {
					require.NoError(t, n.Store.DeletePost(t.Context(), p.ID, p.Author, time.Time{}))
				}
			}
			_, err := n.Store.Block(t.Context(), "b", "r")
			require.NoError(t, err)
			for _, limit := range []int{1, 2, 3, 7, 100} {
				scrollsTo(n, n.Truth("r"), "r", limit)
			}
		})
	}
}

// scrollsTo pages to the end and compares what was shown.
func scrollsTo(n *enginetest.Network, want []string, reader string, limit int) {
	n.Helper()
	var got []string
	for below, pages := (social.Position{}), 0; ; pages++ {
		require.Less(n, pages, 500)
		p := n.Page(reader, below, limit)
		got = append(got, enginetest.PostIDs(p)...)
		namesOnlyVisible(n, reader, p.Next)
		if !p.HasMore {
			break
		}
		require.True(n, p.Next.Below(below) && !p.Next.Zero(), "from %v to %v", below, p.Next)
		below = p.Next
	}
	require.Equal(n, want, got, "limit %d", limit)
}

// vanishing has posts that are deleted right after they were proposed.
type vanishing struct {
	timeline.Posts
	n    *enginetest.Network
	gone func(i int) bool
}

func (v vanishing) remove(ctx context.Context, list []social.Entry, err error) ([]social.Entry, error) {
	for i, e := range list {
		if err == nil && v.gone(i) {
			err = v.n.Store.DeletePost(ctx, e.ID, "", time.Time{})
		}
	}
	return list, err
}

func (v vanishing) Grid(ctx context.Context, reader, author string, below social.Position, n int) ([]social.Entry, error) {
	list, err := v.Posts.Grid(ctx, reader, author, below, n)
	return v.remove(ctx, list, err)
}

func (v vanishing) Replies(ctx context.Context, q social.RepliesQuery) ([]social.Entry, error) {
	list, err := v.Posts.Replies(ctx, q)
	return v.remove(ctx, list, err)
}

func (v vanishing) Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error) {
	list, err := v.Posts.Pull(ctx, q)
	return v.remove(ctx, list, err)
}

// TestCursorPostsDeletedConcurrently reads pages of posts that are deleted while the page is made.
func TestCursorPostsDeletedConcurrently(t *testing.T) {
	t.Parallel()
	which := map[string]func(i int) bool{
		"all":       func(int) bool { return true },
		"the last":  func(i int) bool { return i >= 1 },
		"the first": func(i int) bool { return i == 0 },
	}
	type ask func(ctx context.Context, tl *timeline.Timelines, root string, from social.Position) (timeline.Page, error)
	replies := func(oldest bool) ask {
		return func(ctx context.Context, tl *timeline.Timelines, root string, from social.Position) (timeline.Page, error) {
			return tl.Replies(ctx, timeline.RepliesRequest{Reader: "r", Post: root, After: from, Limit: 3, Oldest: oldest})
		}
	}
	author := func(ctx context.Context, tl *timeline.Timelines, _ string, from social.Position) (timeline.Page, error) {
		return tl.Author(ctx, timeline.AuthorRequest{Reader: "r", Author: "a", Below: from, Limit: 3})
	}
	for page, read := range map[string]ask{
		"author": author, "replies": replies(false), "oldest replies": replies(true),
		"timeline without a list": func(ctx context.Context, tl *timeline.Timelines, _ string, from social.Position) (timeline.Page, error) {
			return tl.Timeline(ctx, timeline.Request{Agent: "server", Below: from, Limit: 3})
		},
	} {
		for name, gone := range which {
			for _, step := range []time.Duration{0, time.Second} {
				t.Run(fmt.Sprint(page, "/", name, "/", step), func(t *testing.T) {
					t.Parallel()
					n := enginetest.NewNetwork(t)
					n.Follow("server", social.Server)
					root := n.Post("other", social.Audience{Public: true})
					for range 16 {
						n.Post("a", social.Audience{Public: true})
						n.PostAs(social.Post{Author: "a", Caption: "x", ReplyTo: root.ID})
						n.Advance(step)
					}
					tl := timeline.New(timeline.Stores{
						Posts: vanishing{n.Store, n, gone}, Lists: n.Lists, Outboxes: n.Outboxes, Builder: n, Profiles: n,
					}, timeline.Config{Clock: n.Now})
					var from social.Position
					for pages := 0; ; pages++ {
						require.Less(t, pages, 50)
						p, err := read(t.Context(), tl, root.ID, from)
						require.NoError(t, err)
						namesOnlyVisible(n, "r", p.Next)
						if !p.HasMore {
							break
						}
						from = p.Next
					}
				})
			}
		}
	}
}

// TestStreamStartsAtVisiblePost opens a stream of a timeline whose newest post was deleted.
func TestStreamStartsAtVisiblePost(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	w.Follow("r", "a", "b")
	old := w.publish("a", public)
	require.Equal(t, old.Position(), w.watch("r").Start())
	for _, hide := range []func(social.Post) error{
		func(p social.Post) error { return w.Store.DeletePost(t.Context(), p.ID, "", time.Time{}) },
		func(social.Post) error {
			_, err := w.Store.Block(t.Context(), "b", "r")
			return err
		},
	} {
		require.NoError(t, hide(w.publish("b", followers)))
		watch := w.watch("r")
		namesOnlyVisible(w.Network, "r", watch.Start())
		require.Positive(t, watch.Start().Compare(old.Position()), "nothing that was there is reported again")
		first := w.publish("a", public)
		w.told(watch, 1, first)
		require.Equal(t, 1, w.watch("r", watch.Start()).Take().Count, "it resumes there")
		old = first
	}
}
