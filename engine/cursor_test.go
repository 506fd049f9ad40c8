package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/social"
)

// namesOnlyVisible checks that a cursor names a post that the reader may see, or no post.
func (n *network) namesOnlyVisible(reader string, p social.Position) {
	n.Helper()
	if p.Zero() || p.ID == "post:-" {
		return
	}
	cards, err := n.store.Cards(n.Context(), reader, []social.PostVersion{{ID: p.ID}})
	require.NoError(n, err)
	require.True(n, cards[0].Visible, "the cursor %v names a post that %s may not see", p, reader)
}

// TestCursorsNameWhatTheReaderSees reads timelines whose lists still have posts that were deleted or
// hidden from the reader, many of them in one second.
func TestCursorsNameWhatTheReaderSees(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			n, rnd := newNetworkOf(t, 100, 20), rand.New(rand.NewPCG(seed, 0))
			n.follow("r", "a", "b", "c", "star")
			n.follow("f1", "star")
			n.follow("f2", "star")
			n.deliver("star", social.Push, social.Pull)
			n.page("r", social.Position{}, 1)
			n.page("star", social.Position{}, 1)
			var posts []social.Post
			for range 70 {
				author := []string{"a", "a", "b", "c", "star"}[rnd.IntN(5)]
				posts = append(posts, n.post(author, social.Audience{Public: rnd.IntN(2) == 0, Followers: true}))
				if rnd.Uint64N(12) >= seed {
					n.advance(time.Second)
				}
			}
			for _, p := range posts { // the lists keep everything: no job runs
				if rnd.IntN(10) < 7 {
					require.NoError(t, n.store.DeletePost(t.Context(), p.ID, p.Author, time.Time{}))
				}
			}
			_, err := n.store.Block(t.Context(), "b", "r")
			require.NoError(t, err)
			for _, limit := range []int{1, 2, 3, 7, 100} {
				n.scrollsTo(n.truth("r"), "r", limit)
			}
		})
	}
}

// scrollsTo pages to the end and compares what was shown.
func (n *network) scrollsTo(want []string, reader string, limit int) {
	n.Helper()
	var got []string
	for below, pages := (social.Position{}), 0; ; pages++ {
		require.Less(n, pages, 500)
		p := n.page(reader, below, limit)
		got = append(got, postIDs(p)...)
		n.namesOnlyVisible(reader, p.Next)
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
	engine.TimelinePosts
	n    *network
	gone func(i int) bool
}

func (v vanishing) remove(ctx context.Context, list []social.Entry, err error) ([]social.Entry, error) {
	for i, e := range list {
		if err == nil && v.gone(i) {
			err = v.n.store.DeletePost(ctx, e.ID, "", time.Time{})
		}
	}
	return list, err
}

func (v vanishing) Grid(ctx context.Context, reader, author string, below social.Position, n int) ([]social.Entry, error) {
	list, err := v.TimelinePosts.Grid(ctx, reader, author, below, n)
	return v.remove(ctx, list, err)
}

func (v vanishing) Replies(ctx context.Context, q social.RepliesQuery) ([]social.Entry, error) {
	list, err := v.TimelinePosts.Replies(ctx, q)
	return v.remove(ctx, list, err)
}

func (v vanishing) Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error) {
	list, err := v.TimelinePosts.Pull(ctx, q)
	return v.remove(ctx, list, err)
}

// TestCursorsWhilePostsVanish reads pages of posts that are deleted while the page is made.
func TestCursorsWhilePostsVanish(t *testing.T) {
	t.Parallel()
	which := map[string]func(i int) bool{
		"all":       func(int) bool { return true },
		"the last":  func(i int) bool { return i >= 1 },
		"the first": func(i int) bool { return i == 0 },
	}
	type ask func(ctx context.Context, tl *engine.Timelines, root string, from social.Position) (engine.TimelinePage, error)
	replies := func(oldest bool) ask {
		return func(ctx context.Context, tl *engine.Timelines, root string, from social.Position) (engine.TimelinePage, error) {
			return tl.Replies(ctx, engine.RepliesRequest{Reader: "r", Post: root, After: from, Limit: 3, Oldest: oldest})
		}
	}
	author := func(grid bool) ask {
		return func(ctx context.Context, tl *engine.Timelines, _ string, from social.Position) (engine.TimelinePage, error) {
			return tl.Author(ctx, engine.AuthorRequest{Reader: "r", Author: "a", Below: from, Limit: 3, Grid: grid})
		}
	}
	for page, read := range map[string]ask{
		"author": author(false), "grid": author(true), "replies": replies(false), "oldest replies": replies(true),
		"timeline without a list": func(ctx context.Context, tl *engine.Timelines, _ string, from social.Position) (engine.TimelinePage, error) {
			return tl.Timeline(ctx, engine.TimelineRequest{Agent: "server", Below: from, Limit: 3})
		},
	} {
		for name, gone := range which {
			for _, step := range []time.Duration{0, time.Second} {
				t.Run(fmt.Sprint(page, "/", name, "/", step), func(t *testing.T) {
					t.Parallel()
					n := newNetwork(t)
					n.follow("server", social.Server)
					root := n.post("other", social.Audience{Public: true})
					for range 16 {
						n.post("a", social.Audience{Public: true})
						n.postAs(social.Post{Author: "a", Caption: "x", ReplyTo: root.ID})
						n.advance(step)
					}
					tl := engine.NewTimelines(engine.TimelineStores{
						Posts: vanishing{n.store, n, gone}, Lists: n.lists, Outboxes: n.outboxes, Builder: n, Profiles: n,
					}, engine.Config{Clock: n.now})
					var from social.Position
					for pages := 0; ; pages++ {
						require.Less(t, pages, 50)
						p, err := read(t.Context(), tl, root.ID, from)
						require.NoError(t, err)
						n.namesOnlyVisible("r", p.Next)
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

// TestAStreamBeginsAtAPostThatIsSeen opens a stream of a timeline whose newest post was deleted.
func TestAStreamBeginsAtAPostThatIsSeen(t *testing.T) {
	t.Parallel()
	w := newWatching(t, 0)
	w.follow("r", "a", "b")
	old := w.publish("a", public)
	require.Equal(t, old.Position(), w.watch("r").Start())
	for _, hide := range []func(social.Post) error{
		func(p social.Post) error { return w.store.DeletePost(t.Context(), p.ID, "", time.Time{}) },
		func(social.Post) error {
			_, err := w.store.Block(t.Context(), "b", "r")
			return err
		},
	} {
		require.NoError(t, hide(w.publish("b", followers)))
		watch := w.watch("r")
		w.namesOnlyVisible("r", watch.Start())
		require.Positive(t, watch.Start().Compare(old.Position()), "nothing that was there is reported again")
		first := w.publish("a", public)
		w.told(watch, 1, first)
		require.Equal(t, 1, w.watch("r", watch.Start()).Take().Count, "it resumes there")
		old = first
	}
}
