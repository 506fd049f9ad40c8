package socialtest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Remembering is a backend that answers some calls from memory.
type Remembering interface {
	Backend
	// StoredCards and StoredCelebrities are Cards and Celebrities from the database.
	StoredCards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error)
	StoredCelebrities(ctx context.Context, reader string) (social.Pulled, error)
}

// MemoWorld is a network whose cards are compared with those of the database.
type MemoWorld struct {
	*testing.T
	Remembering             // makes the changes
	reads       Remembering // answers from memory
	r           *rand.Rand
	agents      []string
	circles     []string
	posts       []social.PostVersion
	replies     []string
}

// NewMemoWorld creates posts for every audience, circles and some agents. Changes are made by one
// backend, and cards read from another over the same database, which may be the same.
func NewMemoWorld(t *testing.T, writes, reads Remembering) *MemoWorld {
	w := &MemoWorld{
		T: t, Remembering: writes, reads: reads, r: rand.New(rand.NewPCG(1, 2)),
		agents: []string{"ann", "bob", "cy"}, circles: []string{"c1", "c2"},
	}
	for i, id := range w.circles {
		PutCircle(t, w, social.Circle{ID: id, Owner: w.agents[i]}, nil, here)
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
	for i, root := range w.posts[:2] {
		p, _, err := w.CreatePost(t.Context(), social.Post{Author: w.agents[i], Caption: "a reply", ReplyTo: root.ID}, social.Creation{})
		require.NoError(t, err)
		w.posts, w.replies = append(w.posts, social.PostVersion{ID: p.ID}), append(w.replies, p.ID)
	}
	return w
}

// changes returns the operations that may change a card. It does not matter which of them are
// refused.
func (w *MemoWorld) changes() map[string]func() error {
	ctx, one := w.Context(), func(of []string) string { return of[w.r.IntN(len(of))] }
	post := func() string { return w.posts[w.r.IntN(len(w.posts))].ID }
	return map[string]func() error{
		"like":     func() error { return third(w.Like(ctx, one(w.agents), post())) },
		"unlike":   func() error { return third(w.Unlike(ctx, one(w.agents), post())) },
		"follow":   func() error { return second(w.Follow(ctx, one(w.agents), one(w.agents), here)) },
		"unfollow": func() error { return second(w.Unfollow(ctx, one(w.agents), one(w.agents), here)) },
		"server":   func() error { return second(w.Follow(ctx, one(w.agents), social.Server, here)) },
		"block":    func() error { return second(w.Block(ctx, one(w.agents), one(w.agents))) },
		"unblock":  func() error { return second(w.Unblock(ctx, one(w.agents), one(w.agents))) },
		"mute group": func() error {
			var until time.Time
			if w.r.IntN(2) == 0 {
				until = time.Now().Add(time.Duration(w.r.IntN(50)) * time.Millisecond)
			}
			return second(w.Mute(ctx, one(w.agents), social.MuteCircle, one(w.circles), until))
		},
		"join":  func() error { return second(w.AddMember(ctx, one(w.circles), one(w.agents), "", here)) },
		"leave": func() error { return second(w.RemoveMember(ctx, one(w.circles), one(w.agents), "", here)) },
		"drop":  func() error { return w.DropCircle(ctx, one(w.circles), "", here) },
		"circle": func() error {
			i := w.r.IntN(2)
			return second(w.PutCircle(ctx, social.Circle{ID: w.circles[i], Owner: w.agents[i]}, []string{one(w.agents)}, here))
		},
		"counts": func() error {
			return w.SetCounts(ctx, post(), social.Counts{Likes: w.r.Int64N(9), Comments: w.r.Int64N(9)}, here)
		},
		"edit": func() error {
			caption := fmt.Sprint("caption ", w.r.IntN(100))
			return second(w.EditPost(ctx, post(), "", social.Edit{Caption: &caption}, here))
		},
		"card": func() error {
			id, n := one(w.agents), w.r.IntN(100)
			recommend := n%2 == 0
			return w.PutAuthor(ctx, social.Author{ID: id, Name: fmt.Sprint("name ", n), Recommend: &recommend}, here)
		},
		"delivery": func() error {
			all := []social.Delivery{social.Push, social.Both, social.Pull}
			return second(w.SetDelivery(ctx, one(w.agents), all[w.r.IntN(3)], all[w.r.IntN(3)]))
		},
		"rebuild": func() error {
			return w.Enqueue(ctx, jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey(jobs.Everybody, one(w.agents))})
		},
		"rebuilt": func() error {
			list, err := w.Lease(ctx, 1, time.Minute, jobs.AuthorAgent)
			if err != nil || len(list) == 0 {
				return err
			}
			return second(w.Done(ctx, list...))
		},
	}
}

// Different returns what the answers from memory have in place of those of the database.
func (w *MemoWorld) Different() string {
	for _, reader := range append(w.agents, "", "dee") {
		want, err := w.StoredCards(w.Context(), reader, w.posts)
		require.NoError(w, err)
		got, err := w.reads.Cards(w.Context(), reader, w.posts)
		require.NoError(w, err)
		if !assert.ObjectsAreEqual(want, got) {
			return fmt.Sprintf("cards of %q: %+v, stored are %+v", reader, got, want)
		}
		pulls, err := w.StoredCelebrities(w.Context(), reader)
		require.NoError(w, err)
		from, err := w.reads.Celebrities(w.Context(), reader)
		require.NoError(w, err)
		if !assert.ObjectsAreEqual(pulls, from) {
			return fmt.Sprintf("celebrities of %q: %+v, stored are %+v", reader, from, pulls)
		}
	}
	return ""
}

func (w *MemoWorld) compare(after string) { require.Empty(w, w.Different(), "after %s", after) }

// Change makes n changes in a random order, all kinds equally often, and calls after with the name of
// each. It returns how many of each were not refused.
func (w *MemoWorld) Change(n int, after func(name string)) (done map[string]int) {
	changes := w.changes()
	names := slices.Sorted(maps.Keys(changes))
	done = map[string]int{}
	for i := range n {
		if i%len(names) == 0 {
			w.r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		}
		name := names[i%len(names)]
		err := changes[name]()
		if err == nil {
			done[name]++
		}
		after(name)
	}
	return done
}

// MemoInvalidated changes the data that cards are made of and checks after each change that the
// cards from memory equal those of the database.
func MemoInvalidated(t *testing.T, writes, reads Remembering) {
	w := NewMemoWorld(t, writes, reads)
	w.compare("nothing")
	done := w.Change(testenv.Steps(100, 400), w.compare)
	for name := range w.changes() {
		require.Positive(t, done[name], name)
	}
	// Events of another system may arrive in any order: here the member before the circle.
	now := time.Now()
	_, err := w.AddMember(t.Context(), "c3", "dee", "", now)
	require.NoError(t, err)
	p, _, err := w.CreatePost(t.Context(), social.Post{ID: "post:late", Author: "eve", CreatedAt: now.Unix(), Caption: "c", Audience: social.Audience{Circles: []string{"c3"}}}, social.Creation{At: now})
	require.NoError(t, err)
	w.posts = append(w.posts, social.PostVersion{ID: p.ID})
	w.compare("a post to a circle that is not known")
	PutCircle(t, w, social.Circle{ID: "c3", Owner: "eve"}, nil, now)
	w.compare("the circle")
	require.NoError(t, w.RemovePost(t.Context(), w.replies[1], "", "", "spam"))
	w.compare("a reply is removed")
	require.NoError(t, w.DeletePost(t.Context(), w.posts[0].ID, "", here))
	w.compare("a post is deleted")
	require.NoError(t, w.EraseAuthor(t.Context(), "bob"))
	w.compare("an author is erased")
	require.NoError(t, w.EraseAgent(t.Context(), "ann"))
	w.compare("an agent is erased")
}

// MemoReadYourWrites has several agents write and read concurrently, each at one of the backends, and
// checks that every read after the answer of a write reflects that write.
func MemoReadYourWrites(t *testing.T, writes, reads Remembering) {
	p, _, err := writes.CreatePost(t.Context(), social.Post{Author: "ann", Caption: "c", Audience: social.Audience{Followers: true}}, social.Creation{})
	require.NoError(t, err)
	card := func(reader string) social.Card {
		cards, err := reads.Cards(t.Context(), reader, []social.PostVersion{{ID: p.ID}})
		if !assert.NoError(t, err) {
			return social.Card{}
		}
		return cards[0]
	}
	var wait sync.WaitGroup
	for n := range 4 {
		reader := fmt.Sprintf("r%d", n)
		wait.Go(func() {
			for range 20 {
				assert.NoError(t, second(writes.Follow(t.Context(), reader, "ann", here)))
				assert.NoError(t, third(writes.Like(t.Context(), reader, p.ID)))
				c := card(reader)
				assert.True(t, c.Visible && c.HasLiked && c.Likes > 0, "%+v", c)
				assert.NoError(t, second(writes.Unfollow(t.Context(), reader, "ann", here)))
				assert.False(t, card(reader).Visible)
				assert.NoError(t, third(writes.Unlike(t.Context(), reader, p.ID)))
			}
		})
	}
	wait.Wait()
}
