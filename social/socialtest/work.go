package socialtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// step is a change and the jobs it must leave.
type step struct {
	name string
	run  func() error
	want []string
}

func (e *env) steps() []step {
	posts := map[string]social.Post{}
	post := func(key string, p social.Post) func() error {
		return func() error {
			p.Author, p.Caption, p.ID = "a", "x", "post:"+key
			created, _, err := e.CreatePost(e.ctx, p, social.Creation{})
			posts[key] = created.Post
			return err
		}
	}
	caption := "y"
	return []step{
		{"put circle", func() error {
			return second(e.PutCircle(e.ctx, social.Circle{ID: "c", Owner: "a"}, []string{"m", "n"}, here))
		}, []string{"member c/m", "member c/n"}},
		{"replace members", func() error {
			return second(e.PutCircle(e.ctx, social.Circle{ID: "c", Owner: "a"}, []string{"m", "o"}, here))
		}, []string{"member c/n", "member c/o"}},
		{"put it again", func() error {
			return second(e.PutCircle(e.ctx, social.Circle{ID: "c", Owner: "a"}, []string{"m", "o"}, here))
		}, nil},
		{"rename circle", func() error {
			return second(e.PutCircle(e.ctx, social.Circle{ID: "c", Owner: "a", Name: "x"}, nil, here))
		}, nil},
		{"add member", func() error { return second(e.AddMember(e.ctx, "c", "p", "a", here)) }, []string{"member c/p"}},
		{"remove member", func() error { return second(e.RemoveMember(e.ctx, "c", "p", "a", here)) }, []string{"member c/p"}},
		{"public post", post("public", social.Post{Audience: public()}), []string{"deliver post:public", "index post:public"}},
		{"post to followers", post("followers", social.Post{Audience: followers()}), []string{"deliver post:followers"}},
		{"post to a circle", post("circle", social.Post{Audience: inCircles("c")}), []string{"deliver post:circle"}},
		{"remote post", post("remote", social.Post{Audience: public(), Origin: "example.com"}), []string{"deliver post:remote", "index post:remote"}},
		{"edit a public post", func() error {
			return second(e.EditPost(e.ctx, "post:public", "a", social.Edit{Caption: &caption}, here))
		}, []string{"index post:public"}},
		{"edit it to what it is", func() error {
			return second(e.EditPost(e.ctx, "post:public", "a", social.Edit{Caption: &caption}, here))
		}, nil},
		{"edit another", func() error {
			return second(e.EditPost(e.ctx, "post:circle", "a", social.Edit{Caption: &caption}, here))
		}, nil},
		{"like", func() error { return third(e.Like(e.ctx, "b", "post:public")) }, []string{"count post:public"}},
		{"like again", func() error { return third(e.Like(e.ctx, "b", "post:public")) }, nil},
		{"unlike", func() error { return third(e.Unlike(e.ctx, "b", "post:public")) }, []string{"count post:public"}},
		{"counts", func() error { return e.SetCounts(e.ctx, "post:public", social.Counts{Likes: 4}, here) }, []string{"count post:public"}},
		{"follow", func() error { return second(e.Follow(e.ctx, "b", "a", here)) }, []string{"pair a/b"}},
		{"follow again", func() error { return second(e.Follow(e.ctx, "b", "a", here)) }, nil},
		{"follow the server", func() error { return second(e.Follow(e.ctx, "b", social.Server, here)) }, nil},
		{"unfollow", func() error { return second(e.Unfollow(e.ctx, "b", "a", here)) }, []string{"pair a/b"}},
		{"block", func() error { return second(e.Block(e.ctx, "b", "a")) }, []string{"pair a/b", "pair b/a"}},
		{"unblock", func() error { return second(e.Unblock(e.ctx, "b", "a")) }, []string{"pair a/b", "pair b/a"}},
		{"delete a public post", func() error { return e.DeletePost(e.ctx, "post:public", "a", here) }, []string{"deliver post:public", "index post:public"}},
		{"delete another", func() error { return e.DeletePost(e.ctx, "post:circle", "a", here) }, []string{"deliver post:circle"}},
		{"delete what is unknown", func() error { return e.DeletePost(e.ctx, "post:unknown", "", e.now) }, nil},
		{"drop circle", func() error { return e.DropCircle(e.ctx, "c", "a", here) }, []string{"member c/m", "member c/o"}},
		{"put author", func() error { return e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "x"}, here) }, nil},
		{"erase author", func() error { return e.EraseAuthor(e.ctx, "a") }, []string{"erase a"}},
	}
}

func jobsOfChanges(e *env) {
	for _, s := range e.steps() {
		e.ok(s.run())
		require.ElementsMatch(e, append([]string{}, s.want...), e.dirty(), s.name)
	}
	// Refused changes leave no jobs.
	for name, err := range map[string]error{
		"post":   third(e.CreatePost(e.ctx, social.Post{Author: "a", Caption: "x", Audience: inCircles("none")}, social.Creation{Key: "k"})),
		"follow": second(e.Follow(e.ctx, "a", "a", here)),
		"circle": second(e.PutCircle(e.ctx, social.Circle{ID: "d", Owner: "a"}, make([]string, 2), here)),
		"delete": e.DeletePost(e.ctx, "post:remote", "b", here),
	} {
		require.Error(e, err, name)
	}
	require.Empty(e, e.dirty())
}

// classes checks that recent changes, imports and leftovers of an erasure have different
// priorities, so that a backlog of the latter two does not delay recent changes.
func classes(e *env) {
	urgency := func() (least, most int) {
		list, err := e.Lease(e.ctx, 10_000, time.Minute)
		e.ok(err)
		require.NotEmpty(e, list)
		for _, j := range list {
			_, err := e.Done(e.ctx, j)
			e.ok(err)
		}
		return list[0].Priority, list[len(list)-1].Priority // Lease returns them in this order
	}
	post := func(id string, at time.Time) {
		p := social.Post{ID: id, Author: "a", Caption: "x", CreatedAt: e.now.Unix() - 100_000, Audience: public()}
		_, _, err := e.CreatePost(e.ctx, p, social.Creation{At: at})
		e.ok(err)
		e.ok(second(e.Follow(e.ctx, "fan."+id[5:], "a", at)))
	}
	post("post:now", here)
	_, most := urgency()
	require.Equal(e, jobs.PriorityLater, most)
	post("post:told", e.now.Add(-time.Minute))
	_, most = urgency()
	require.Equal(e, jobs.PriorityLater, most, "an event that reports a recent change")
	post("post:imported", e.now.Add(-jobs.Imported-time.Second))
	least, most := urgency()
	require.Equal(e, []int{jobs.PriorityUpkeep, jobs.PriorityUpkeep}, []int{least, most})
	_, rejected, err := e.FollowAll(e.ctx, []social.Edge{{Agent: "x", Author: "a"}}, here)
	e.ok(err)
	require.Empty(e, rejected)
	least, _ = urgency()
	require.Equal(e, jobs.PriorityUpkeep, least)
	e.ok(e.EraseAgent(e.ctx, "a"))
	least, most = urgency()
	require.Equal(e, []int{jobs.PriorityRemoval, jobs.PriorityRemoval}, []int{least, most}, "the start of an erasure is urgent")
	for done := false; !done; {
		done, err = e.EraseSome(e.ctx, "a", 100, nil)
		e.ok(err)
	}
	least, most = urgency()
	require.Equal(e, []int{jobs.PriorityLeftover, jobs.PriorityLeftover}, []int{least, most})
	ages, err := e.Ages(e.ctx)
	e.ok(err)
	require.Zero(e, ages)
}

// jobsSurvive closes the backend after each change, like a process that dies, and checks that the
// next one has both the change and its job, or neither.
func jobsSurvive(e *env) {
	for _, s := range e.steps() {
		e.ok(s.run())
		e.place.Close(e.Backend)
		e.Backend = e.place.Open()
		require.ElementsMatch(e, append([]string{}, s.want...), e.dirty(), s.name)
	}
	// Closing during writes: every stored post has its job.
	first, enough := e.Backend, make(chan struct{})
	var created atomic.Int64
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := range 1000 {
				p := social.Post{ID: fmt.Sprintf("post:%d-%d", w, i), Author: "z", Caption: "x", Audience: followers()}
				if _, _, err := first.CreatePost(e.ctx, p, social.Creation{}); err != nil {
					assert.ErrorIs(e, err, social.ErrUnavailable)
					return
				}
				if created.Add(1) == 50 {
					close(enough)
				}
			}
		})
	}
	<-enough
	e.place.Close(first)
	group.Wait()
	e.Backend = e.place.Open()
	want := []string{}
	for _, p := range must[[]social.Entry](e)(e.Grid(e.ctx, "z", "z", social.Position{}, 100_000)) {
		want = append(want, "deliver "+p.ID)
	}
	require.ElementsMatch(e, want, e.dirty())
}

func listBounds(e *env) {
	for i := range 30 {
		author := fmt.Sprintf("a%02d", i)
		e.follow("r", author)
		for range i % 4 {
			e.post(author, followers())
		}
	}
	// One author whose posts fill the list, so that more than the first few are needed.
	e.follow("r", "busy")
	for range 40 {
		e.post("busy", public())
	}
	all := must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "r", N: 1000}))
	require.Len(e, all, 7*(1+2+3)+1+40)
	require.True(e, slices.IsSortedFunc(all, func(a, b social.Entry) int { return b.Compare(a.Position) }))
	for n := 1; n < len(all); n += 7 {
		require.Equal(e, all[:n], must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "r", N: n})), "%d", n)
	}
	authors := must[[]string](e)(e.Following(e.ctx, "r", "", "", 100))
	require.Equal(e, all[:25], must[[]social.Entry](e)(e.Newest(e.ctx, authors, social.Position{}, 25)))
	require.Equal(e, all[10:35], must[[]social.Entry](e)(e.Newest(e.ctx, authors, all[9].Position, 25)))
	require.Empty(e, must[[]social.Entry](e)(e.Newest(e.ctx, nil, social.Position{}, 25)))
	require.Empty(e, must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "r", N: 0})))
	e.follow("of-server", social.Server)
	served := must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "of-server", N: 25, Whole: true}))
	require.Len(e, served, 25)
	require.Equal(e, served, must[[]social.Entry](e)(e.NewestPublic(e.ctx, 25)))
	require.Empty(e, must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "nobody-known", N: 5, Whole: true})))
	above := all[20].Position
	require.Equal(e, all[:20], must[[]social.Entry](e)(e.PairEntries(e.ctx, "busy", "r", above, 30)))
	require.Equal(e, all[:5], must[[]social.Entry](e)(e.PairEntries(e.ctx, "busy", "r", above, 5)))
}

func purge(e *env) {
	e.putCircle("c", "a", "m")
	p := e.post("a", social.Audience{Public: true, Circles: []string{"c"}}, "b")
	kept := e.post("a", public())
	e.like("b", p.ID)
	e.follow("b", "a")
	e.unfollow("b", "a")
	e.ok(e.DeletePost(e.ctx, p.ID, "a", here))
	e.ok(e.DropCircle(e.ctx, "c", "a", here))
	e.ok(e.DeletePost(e.ctx, "post:unknown", "", e.now.Add(-1000*time.Hour)))
	e.ok(e.EraseAgent(e.ctx, "x"))
	e.eraseAll("x")
	e.pass(keepChanges)
	e.ok(second(e.Purge(e.ctx, 100)))
	e.pass(social.TombstoneLives - time.Second - keepChanges)
	require.Zero(e, e.purgeRows(100))
	require.True(e, e.row(p.ID).Deleted)
	_, _, err := e.CreatePost(e.ctx, social.Post{ID: "post:unknown", Author: "a", CreatedAt: 9, Caption: "x"}, social.Creation{At: e.now.Add(-social.TombstoneLives - 2000*time.Hour)})
	require.ErrorIs(e, err, feed.ErrNotFound, "the tombstone is kept as long even though the event was old")
	e.pass(time.Second)
	n := e.purgeRows(1)
	require.Positive(e, n)
	for range 10 {
		n += e.purgeRows(1)
	}
	require.Equal(e, 5, n, "two posts, a follow, a circle, a member")

	for id, ends := range map[string]time.Duration{"ends": time.Hour, "runs": 2 * social.PromotionLives} {
		e.ok(e.PutPromotion(e.ctx, social.Promotion{ID: id, ItemID: "i", From: e.now.Unix(), Until: e.now.Add(ends).Unix(), Weight: 1}))
	}
	e.pass(time.Hour + social.PromotionLives - time.Second)
	require.Zero(e, e.purgeRows(100))
	e.pass(time.Second)
	require.Equal(e, 1, e.purgeRows(100))
	e.promotion("runs")
	require.Equal(e, social.Post{}, e.row(p.ID))
	require.Equal(e, kept, e.row(kept.ID))
	require.Empty(e, e.receivers(p.ID, "", 5))
	e.ok(e.Ping(e.ctx))
}

func cancelled(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	for name, err := range map[string]error{
		"create": third(e.CreatePost(ctx, social.Post{Author: "a", Caption: "x", Audience: public()}, social.Creation{})),
		"follow": second(e.Follow(ctx, "a", "b", here)),
		"cards":  second(e.Cards(ctx, "a", []social.PostVersion{{ID: "post:a"}})),
		"many":   second(e.CardsOf(ctx, []social.Asked{{Reader: "a", ID: "post:a"}})),
		"pull":   second(e.Pull(ctx, social.PullQuery{Reader: "a", N: 5})),
		"ping":   e.Ping(ctx),
	} {
		require.ErrorIs(e, err, context.Canceled, name)
	}
	require.Empty(e, e.dirty())
	require.Empty(e, e.list(e.Following, "a"))
}
