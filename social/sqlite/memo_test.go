package sqlite_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// world is a store with posts for every audience, circles and some agents.
type world struct {
	*testing.T
	*socialsqlite.Store
	r       *rand.Rand
	agents  []string
	circles []string
	posts   []social.PostVersion
}

func newWorld(t *testing.T) *world {
	w := &world{
		T: t, Store: open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{}), r: rand.New(rand.NewPCG(1, 2)),
		agents: []string{"ann", "bob", "cy"}, circles: []string{"c1", "c2"},
	}
	for i, id := range w.circles {
		socialtest.PutCircle(t, w, social.Circle{ID: id, Owner: w.agents[i]}, nil, zero)
	}
	for i, a := range []social.Audience{{Public: true}, {Followers: true}, {Circles: []string{"c1"}}, {Circles: []string{"c2"}}, {Public: true}} {
		author := w.agents[i%2]
		p, _, err := w.CreatePost(t.Context(), social.Post{
			Author: author, Caption: "a caption", Audience: a, Reply: social.RightFollowers, React: social.RightPublic,
			Mentions: w.agents[:i%2],
		}, social.Creation{})
		require.NoError(t, err)
		w.posts = append(w.posts, social.PostVersion{ID: p.ID, Version: int64(i % 2)})
	}
	return w
}

// changes returns the operations that may change a card. It does not matter which of them are
// refused.
func (w *world) changes() map[string]func() error {
	ctx, any := w.Context(), func(of []string) string { return of[w.r.IntN(len(of))] }
	post := func() string { return w.posts[w.r.IntN(len(w.posts))].ID }
	return map[string]func() error{
		"like":     func() error { _, _, err := w.Like(ctx, any(w.agents), post()); return err },
		"unlike":   func() error { _, _, err := w.Unlike(ctx, any(w.agents), post()); return err },
		"follow":   func() error { _, err := w.Follow(ctx, any(w.agents), any(w.agents), zero); return err },
		"unfollow": func() error { _, err := w.Unfollow(ctx, any(w.agents), any(w.agents), zero); return err },
		"server":   func() error { _, err := w.Follow(ctx, any(w.agents), social.Server, zero); return err },
		"block":    func() error { _, err := w.Block(ctx, any(w.agents), any(w.agents)); return err },
		"unblock":  func() error { _, err := w.Unblock(ctx, any(w.agents), any(w.agents)); return err },
		"join":     func() error { _, err := w.AddMember(ctx, any(w.circles), any(w.agents), "", zero); return err },
		"leave":    func() error { _, err := w.RemoveMember(ctx, any(w.circles), any(w.agents), "", zero); return err },
		"drop":     func() error { return w.DropCircle(ctx, any(w.circles), "", zero) },
		"circle": func() error {
			i := w.r.IntN(2)
			_, err := w.PutCircle(ctx, social.Circle{ID: w.circles[i], Owner: w.agents[i]}, []string{any(w.agents)}, zero)
			return err
		},
		"counts": func() error {
			return w.SetCounts(ctx, post(), social.Counts{Likes: w.r.Int64N(9), Comments: w.r.Int64N(9)}, zero)
		},
		"edit": func() error {
			caption := fmt.Sprint("caption ", w.r.IntN(100))
			_, err := w.EditPost(ctx, post(), "", social.Edit{Caption: &caption}, zero)
			return err
		},
		"card": func() error {
			return w.PutAuthor(ctx, social.Author{ID: any(w.agents), Name: fmt.Sprint("name ", w.r.IntN(100))}, zero)
		},
	}
}

func (w *world) compare(after string) {
	for _, reader := range append(w.agents, "", "dee") {
		want, err := w.StoredCards(w.Context(), reader, w.posts)
		require.NoError(w, err)
		got, err := w.Cards(w.Context(), reader, w.posts)
		require.NoError(w, err)
		require.Equal(w, want, got, "for %q after %s", reader, after)
	}
}

// TestMemoInvalidatedByChanges changes the data that cards are made of and checks after each
// change that the cached cards equal those of the file.
func TestMemoInvalidatedByChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.compare("nothing")
	changes := w.changes()
	names := slices.Sorted(maps.Keys(changes))
	held := map[string]int{}
	for range 400 {
		name := names[w.r.IntN(len(names))]
		if changes[name]() == nil {
			held[name]++
		}
		w.compare(name)
	}
	for _, name := range names {
		require.Positive(t, held[name], name)
	}
	// Events of another system may arrive in any order: here the member before the circle.
	now := time.Now()
	_, err := w.AddMember(t.Context(), "c3", "dee", "", now)
	require.NoError(t, err)
	p, _, err := w.CreatePost(t.Context(), social.Post{ID: "post:late", Author: "eve", CreatedAt: now.Unix(), Caption: "c", Audience: social.Audience{Circles: []string{"c3"}}}, social.Creation{At: now})
	require.NoError(t, err)
	w.posts = append(w.posts, social.PostVersion{ID: p.ID})
	w.compare("a post to a circle that is not known")
	socialtest.PutCircle(t, w, social.Circle{ID: "c3", Owner: "eve"}, nil, now)
	w.compare("the circle")
	require.NoError(t, w.DeletePost(t.Context(), w.posts[0].ID, "", zero))
	w.compare("a post is deleted")
	require.NoError(t, w.EraseAuthor(t.Context(), "bob"))
	w.compare("an author is erased")
}

// TestMemoReadYourWrites has several agents write and read concurrently, and checks that every
// read after the answer of a write reflects that write.
func TestMemoReadYourWrites(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{})
	p, _, err := s.CreatePost(t.Context(), social.Post{Author: "ann", Caption: "c", Audience: social.Audience{Followers: true}}, social.Creation{})
	require.NoError(t, err)
	var wait sync.WaitGroup
	for n := range 4 {
		reader := fmt.Sprintf("r%d", n)
		wait.Go(func() {
			for range 20 {
				_, err := s.Follow(t.Context(), reader, "ann", zero)
				assert.NoError(t, err)
				_, _, err = s.Like(t.Context(), reader, p.ID)
				assert.NoError(t, err)
				cards, err := s.Cards(t.Context(), reader, []social.PostVersion{{ID: p.ID}})
				if assert.NoError(t, err) {
					assert.True(t, cards[0].Visible && cards[0].HasLiked && cards[0].Likes > 0, "%+v", cards[0])
				}
				_, err = s.Unfollow(t.Context(), reader, "ann", zero)
				assert.NoError(t, err)
				cards, err = s.Cards(t.Context(), reader, []social.PostVersion{{ID: p.ID}})
				if assert.NoError(t, err) {
					assert.False(t, cards[0].Visible)
				}
				_, _, err = s.Unlike(t.Context(), reader, p.ID)
				assert.NoError(t, err)
			}
		})
	}
	wait.Wait()
}
