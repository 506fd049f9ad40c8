package app

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestPostsOfOneSecond has 10,000 posts of one second, whose ids have every legal
// character, before and after the reader's list is built. One of the authors is
// pulled. The list, the outbox and the store each have a part of that second.
func TestPostsOfOneSecond(t *testing.T) {
	t.Parallel()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@-"
	posts := testenv.Schedules(10_000)
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			cfg.Timeline.Celebrity.At, cfg.Timeline.Celebrity.Until = 2, 2
			clock := at(time.Unix(1_700_000_000, 0))
			a := open(t, cfg, WithClock(clock.Now))
			store, reader := a.network.fanout.Store(), "R-r_0.@"
			authors := []string{letters, "a@b.c", "-._"}
			for i, author := range authors {
				for _, agent := range []string{reader, "second"}[:1+i/2] {
					_, err := store.Follow(t.Context(), agent, author, time.Time{})
					require.NoError(t, err)
				}
			}
			require.Eventually(t, func() bool { // the last author is delivered both ways for a while
				clock.Advance(5 * time.Second)
				c, err := store.Celebrity(t.Context(), authors[2])
				return err == nil && c.Delivery == social.Pull
			}, time.Minute, 20*time.Millisecond)
			second := clock.Now().Unix()
			random := rand.New(rand.NewPCG(1, 1))
			want := make([]string, posts)
			for i := range want {
				b := []byte(fmt.Sprintf("post:.........%d", i))
				for j := range 9 {
					b[len("post:")+j] = letters[random.IntN(len(letters))]
				}
				want[i] = string(b)
			}
			for some := range slices.Chunk(want, posts/20) {
				var group errgroup.Group
				group.SetLimit(8)
				for i, id := range some {
					group.Go(func() error {
						p := social.Post{ID: id, Author: authors[i%3], CreatedAt: second, Caption: "x", Audience: social.Audience{Followers: true}}
						_, _, err := a.network.store.CreatePost(t.Context(), p, social.Creation{})
						return err
					})
				}
				require.NoError(t, group.Wait())
				require.NoError(t, a.network.timelines.Warm(t.Context(), reader)) // builds once
				settled(t, a)
			}
			slices.Sort(want)
			slices.Reverse(want)
			r, got := engine.TimelineRequest{Agent: reader, Limit: 99}, []string{}
			for more := true; more; {
				page, err := a.network.timelines.Timeline(t.Context(), r)
				require.NoError(t, err)
				for _, c := range page.Posts {
					got = append(got, c.ID)
				}
				r.Below, more = page.Next, page.HasMore
			}
			require.Equal(t, want, got)
		})
	}
}
