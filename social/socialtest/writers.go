package socialtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// manyWriters lets 16 writers change the same few agents and posts during concurrent reads, and
// then compares the counts with the rows.
func manyWriters(e *env) {
	const writers, rounds = 16, 25
	var ids []string
	for i := range 5 {
		ids = append(ids, e.post(fmt.Sprintf("agent%d", i), public()).ID)
	}
	var writing, reading sync.WaitGroup
	stop := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 3))
			for i := range rounds {
				if !assert.NoError(e, e.write(r, ids, w, i)) {
					return
				}
			}
		})
	}
	for range 2 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				_, err := e.Cards(e.ctx, "agent1", []social.PostVersion{{ID: ids[0]}, {ID: ids[1]}})
				_, pullErr := e.Pull(e.ctx, social.PullQuery{Reader: "agent1", N: 20, Whole: true})
				if !assert.NoError(e, errors.Join(err, pullErr)) {
					return
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	e.consistent(ids)
}

// write makes one random change. Errors due to a concurrent block are ignored.
func (e *env) write(r *rand.Rand, ids []string, w, i int) (err error) {
	agent, other := fmt.Sprintf("agent%d", r.IntN(5)), fmt.Sprintf("agent%d", 5+r.IntN(5))
	switch r.IntN(7) {
	case 0, 1:
		_, err = e.Follow(e.ctx, other, agent, here)
	case 2:
		_, err = e.Unfollow(e.ctx, other, agent, here)
	case 3:
		_, _, err = e.Like(e.ctx, other, ids[r.IntN(len(ids))])
	case 4:
		_, _, err = e.Unlike(e.ctx, other, ids[r.IntN(len(ids))])
	case 5:
		if _, err = e.Block(e.ctx, agent, other); err == nil {
			_, err = e.Unblock(e.ctx, agent, other)
		}
	case 6:
		_, _, err = e.CreatePost(e.ctx, social.Post{Author: fmt.Sprintf("writer%d", w), Caption: fmt.Sprint(i), Audience: public()}, social.Creation{Key: fmt.Sprint(i)})
	}
	if errors.Is(err, feed.ErrForbidden) || errors.Is(err, feed.ErrNotFound) {
		return nil
	}
	return err
}

func (e *env) consistent(ids []string) {
	e.Helper()
	for i := range 10 {
		agent := fmt.Sprintf("agent%d", i)
		rows := must[[]string](e)(e.Followers(e.ctx, agent, "", "", 100))
		require.Equal(e, int64(len(rows)), must[social.Celebrity](e)(e.Celebrity(e.ctx, agent)).Followers, "followers of %s", agent)
		following := must[[]string](e)(e.Following(e.ctx, agent, "", "", 100))
		if info, err := e.Author(e.ctx, "", agent); err == nil {
			require.Equal(e, int64(len(following)), info.Following, "following of %s", agent)
		}
	}
	for _, id := range ids {
		var likes int64
		for i := range 10 {
			if e.card(fmt.Sprintf("agent%d", i), id).HasLiked {
				likes++
			}
		}
		require.Equal(e, likes, e.card("", id).Likes)
	}
	seen := map[string]bool{}
	all := pages(e, social.Position{}, func(below social.Position) ([]social.Entry, error) {
		return e.Newest(e.ctx, e.writers(), below, 30)
	}, 30)
	for _, p := range all {
		require.False(e, seen[p.ID])
		seen[p.ID] = true
	}
	require.True(e, slices.IsSortedFunc(all, func(a, b social.Entry) int { return b.Compare(a.Position) }))
}

func (e *env) writers() (list []string) {
	for i := range 16 {
		list = append(list, fmt.Sprintf("writer%d", i))
	}
	return list
}
