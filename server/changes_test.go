package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
)

// changeWriter makes random calls as one agent, each of which changes something, and knows which changes
// these are.
type changeWriter struct {
	*testing.T
	calls  *client.Client
	r      *rand.Rand
	agent  string
	on     map[string]bool // follows, likes, blocks and memberships
	posts  []string        // its own
	shared string          // a post that all writers like
	made   []string
}

func (w *changeWriter) noted(err error, format string, args ...any) {
	w.Helper()
	require.NoError(w, err)
	w.made = append(w.made, fmt.Sprintf(format, args...))
}

// turn makes or ends something.
func (w *changeWriter) turn(what string, begin, end func() error, made, ended string) {
	w.Helper()
	w.on[what] = !w.on[what]
	if w.on[what] {
		w.noted(begin(), "%s", made)
		return
	}
	w.noted(end(), "%s", ended)
}

func (w *changeWriter) step() {
	ctx, me := w.Context(), w.agent
	one := fmt.Sprint("author_", w.r.IntN(3))
	follow := fmt.Sprintf("%s %s", me, one)
	switch w.r.IntN(7) {
	case 0, 1:
		w.turn("f"+one, func() error { _, err := w.calls.Follow(ctx, me, one); return err }, func() error { _, err := w.calls.Unfollow(ctx, me, one); return err },
			"follow.created "+follow, "follow.removed "+follow)
	case 2:
		like := w.shared + " " + me + " author_0"
		w.turn("l", func() error { _, err := w.calls.LikePost(ctx, w.shared); return err }, func() error { _, err := w.calls.UnlikePost(ctx, w.shared); return err },
			"like.created "+like, "like.removed "+like)
	case 3:
		other := "enemy_of_" + me
		w.turn("b", func() error { _, err := w.calls.Block(ctx, me, other); return err }, func() error { _, err := w.calls.Unblock(ctx, me, other); return err },
			"block.created "+me+" "+other, "block.removed "+me+" "+other)
	case 4:
		p, err := w.calls.CreatePost(ctx, client.NewPost{Caption: "news", ReplyTo: w.shared})
		w.noted(err, "reply.created %s author_0 %s %s", p.ID, me, w.shared)
	case 5:
		p, err := w.calls.CreatePost(ctx, client.NewPost{Caption: "hello @friend", Mentions: []string{"friend"}})
		w.noted(err, "post.created %s %s", p.ID, me)
		w.noted(nil, "mention.created %s friend %s", p.ID, me)
		w.posts = append(w.posts, p.ID)
	case 6:
		if len(w.posts) == 0 {
			return
		}
		i := w.r.IntN(len(w.posts))
		id := w.posts[i]
		if w.r.IntN(2) == 0 {
			caption := fmt.Sprint("other words ", len(w.made))
			_, err := w.calls.EditPost(ctx, id, client.PostEdit{Caption: &caption})
			w.noted(err, "post.updated %s %s", id, me)
			return
		}
		w.noted(w.calls.DeletePost(ctx, id), "post.deleted %s %s", id, me)
		w.posts = slices.Delete(w.posts, i, i+1)
	}
}

func textOf(c client.Change) string {
	d := c.Data
	return strings.Join(slices.DeleteFunc([]string{c.Type, d.ID, d.AgentID, d.AuthorID, d.OtherID, d.ReplyTo}, func(s string) bool { return s == "" }), " ")
}

// TestChangesOfRandomNetwork has writers change a network on two servers, while a consumer reads what has
// changed that is killed again and again, and begins with another server where it had stored that it was.
// Every change comes exactly once, and those of each writer's things in their order.
func TestChangesOfRandomNetwork(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var urls []string
			for _, a := range servers(t, m, func(cfg *configs.Config) { cfg.Auth.AdminToken = testAdmin }) {
				s := httptest.NewServer(a.Handler)
				t.Cleanup(s.Close)
				urls = append(urls, s.URL)
			}
			as := func(i int, options ...client.Option) *client.Client {
				c, err := client.New(urls[i%len(urls)], options...)
				require.NoError(t, err)
				return c
			}
			shared, err := as(0, client.WithAgent("author_0")).CreatePost(t.Context(), client.NewPost{Caption: "to like"})
			require.NoError(t, err)
			var writers []*changeWriter
			for i := range 4 {
				agent := fmt.Sprint("writer_", i)
				writers = append(writers, &changeWriter{
					T: t, calls: as(i, client.WithAgent(agent)), r: rand.New(rand.NewPCG(3, uint64(i))), agent: agent, on: map[string]bool{}, shared: shared.ID,
				})
			}
			var all sync.WaitGroup
			for _, w := range writers {
				all.Go(func() {
					for range 60 {
						w.step()
					}
				})
			}
			var ends sync.WaitGroup
			ends.Go(func() {
				all.Wait()
				_, err := as(1, client.WithAgent("end")).Follow(t.Context(), "end", "author_0")
				assert.NoError(t, err)
			})
			got := consume(t, "follow.created end author_0", func(i int) *client.Client { return as(i, client.WithAdminToken(testAdmin)) })
			ends.Wait()
			want := []string{"post.created " + shared.ID + " author_0"}
			for _, w := range writers {
				want = append(want, w.made...)
			}
			slices.Sort(want)
			require.Equal(t, want, slices.Sorted(slices.Values(got)))
			for _, w := range writers {
				for _, prefix := range []string{"follow.", "like.", "block."} {
					require.Equal(t, madeBy(w.made, w.agent, prefix), madeBy(got, w.agent, prefix))
				}
			}
		})
	}
}

// madeBy returns the changes of a writer with a prefix, by what they are about, each in order.
func madeBy(list []string, agent, prefix string) map[string][]string {
	of := map[string][]string{}
	for _, text := range list {
		what, about, _ := strings.Cut(text, " ")
		if strings.HasPrefix(what, prefix) && strings.Contains(about, agent) {
			of[about] = append(of[about], what)
		}
	}
	return of
}

// consume reads changes until the last one, and dies after a few each time.
func consume(t *testing.T, last string, server func(int) *client.Client) (got []string) {
	r := rand.New(rand.NewPCG(5, 5))
	cursor := client.FromOldest
	for life := 0; ; life++ {
		ctx, kill := context.WithCancel(t.Context())
		for c, err := range server(life).Changes(ctx, cursor) {
			require.NoError(t, err)
			if r.IntN(12) == 0 {
				break // before it has stored the change
			}
			cursor = c.Cursor
			if c.Type == "" {
				continue
			}
			text := textOf(c)
			if text == last {
				kill()
				return got
			}
			got = append(got, text)
		}
		kill()
	}
}
