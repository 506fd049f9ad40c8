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

	"github.com/freshet/freshet/social"
)

// random does random things to a store and to an exact model of it, and
// compares all that the store answers.
func random(e *env) {
	const seed = 1
	w := &walk{env: e, m: newModel(), r: rand.New(rand.NewPCG(seed, 2)), agents: []string{"a", "b", "c", "d", "E", "f_"}}
	for i := 1; i <= 200; i++ {
		w.step()
		if i%50 == 0 {
			e.check(w.m, w.agents)
		}
	}
}

// walk is one random walk.
type walk struct {
	*env
	m      *model
	r      *rand.Rand
	agents []string
	n      int
}

func (w *walk) agent() string { return w.agents[w.r.IntN(len(w.agents))] }

func (w *walk) two() (string, string) {
	i, j := w.r.IntN(len(w.agents)), w.r.IntN(len(w.agents)-1)
	if j >= i {
		j++
	}
	return w.agents[i], w.agents[j]
}

func (w *walk) step() {
	w.n++
	if w.r.IntN(3) > 0 {
		w.pass(time.Duration(w.r.IntN(2000)) * time.Millisecond)
	}
	switch w.r.IntN(12) {
	case 0, 1, 2:
		w.newPost()
	case 3, 4:
		w.doFollow()
	case 5:
		w.doBlock()
	case 6:
		w.doMember()
	case 7:
		w.doCircle()
	case 8, 9:
		w.doLike()
	case 10:
		w.doPost()
	case 11:
		w.doDelivery()
	}
}

func (w *walk) newPost() {
	author := w.agent()
	p := social.Post{
		Author: author, Caption: fmt.Sprintf("post %d #tag%d", w.n, w.n%3),
		Audience: social.Audience{Public: w.r.IntN(3) == 0, Followers: w.r.IntN(2) == 0},
		Reply:    []social.Right{"", social.RightPublic, social.RightFollowers, social.RightAudience, social.RightNone}[w.r.IntN(5)],
		React:    []social.Right{"", social.RightPublic, social.RightFollowers, social.RightAudience, social.RightNone}[w.r.IntN(5)],
	}
	for range w.r.IntN(3) {
		p.Mentions = append(p.Mentions, w.agent())
	}
	if w.r.IntN(5) == 0 {
		p.Origin, p.Grants = "example.com", []string{w.agent()}
	}
	for id, c := range w.m.circles {
		if c.owner == author && w.r.IntN(2) == 0 {
			p.Audience.Circles = append(p.Audience.Circles, id)
		}
	}
	got, created, err := w.CreatePost(w.ctx, p, social.Creation{})
	require.NoError(w, err)
	require.True(w, created)
	w.m.posts[got.ID] = &got
}

func (w *walk) doFollow() {
	agent, author := w.two()
	if w.r.IntN(6) == 0 {
		author = social.Server
	}
	pair := [2]string{agent, author}
	if w.r.IntN(3) == 0 {
		changed := must[bool](w.env)(w.Unfollow(w.ctx, agent, author, here))
		require.Equal(w, w.m.follows[pair], changed)
		delete(w.m.follows, pair)
		return
	}
	changed, err := w.Follow(w.ctx, agent, author, here)
	if w.m.blocked(agent, author) {
		require.ErrorIs(w, err, social.ErrBlocked)
		return
	}
	require.NoError(w, err)
	require.Equal(w, !w.m.follows[pair], changed)
	w.m.follows[pair] = true
}

func (w *walk) doBlock() {
	agent, other := w.two()
	pair := [2]string{agent, other}
	if w.r.IntN(2) == 0 {
		require.Equal(w, w.m.blocks[pair], must[bool](w.env)(w.Unblock(w.ctx, agent, other)))
		delete(w.m.blocks, pair)
		return
	}
	require.Equal(w, !w.m.blocks[pair], must[bool](w.env)(w.Block(w.ctx, agent, other)))
	w.m.blocks[pair] = true
	delete(w.m.follows, pair)
	delete(w.m.follows, [2]string{other, agent})
}

func (w *walk) doCircle() {
	id, owner := fmt.Sprintf("c%d", w.r.IntN(4)), w.agent()
	c := w.m.circles[id]
	if c != nil && w.r.IntN(3) == 0 {
		w.ok(w.DropCircle(w.ctx, id, c.owner, here))
		delete(w.m.circles, id)
		return
	}
	members := []string{}
	for range w.r.IntN(4) {
		members = append(members, w.agent())
	}
	err := w.PutCircle(w.ctx, social.Circle{ID: id, Owner: owner}, members, here)
	if c != nil && c.owner != owner {
		require.ErrorIs(w, err, social.ErrNotAllowed)
		return
	}
	require.NoError(w, err)
	w.m.circles[id] = &modelCircle{owner, set(members...)}
}

func (w *walk) doMember() {
	id, agent := fmt.Sprintf("c%d", w.r.IntN(4)), w.agent()
	c := w.m.circles[id]
	change, on := w.AddMember, true
	if w.r.IntN(2) == 0 {
		change, on = w.RemoveMember, false
	}
	changed, err := change(w.ctx, id, agent, "", here)
	if c == nil {
		require.ErrorIs(w, err, social.ErrNotFound)
		return
	}
	require.NoError(w, err)
	require.Equal(w, c.members[agent] != on, changed)
	if delete(c.members, agent); on {
		c.members[agent] = true
	}
}

// any is one of the posts, deleted ones included.
func (w *walk) any() *social.Post {
	if len(w.m.posts) == 0 {
		return nil
	}
	all := w.m.sorted(func(*social.Post) bool { return true })
	return w.m.posts[all[w.r.IntN(len(all))].ID]
}

func (w *walk) doLike() {
	p := w.any()
	if p == nil {
		return
	}
	agent := w.agent()
	key := [2]string{agent, p.ID}
	d := w.m.decide(agent, p)
	like := w.r.IntN(3) > 0
	do := w.Unlike
	if like {
		do = w.Like
	}
	n, changed, err := do(w.ctx, agent, p.ID)
	switch {
	case like && !d.Visible:
		require.ErrorIs(w, err, social.ErrNotFound)
		return
	case like && !d.CanReact:
		require.ErrorIs(w, err, social.ErrNotAllowed)
		return
	}
	require.NoError(w, err)
	require.Equal(w, w.m.likes[key] != like, changed)
	if delete(w.m.likes, key); like {
		w.m.likes[key] = true
	}
	want := int64(0)
	if d.Visible {
		want = w.m.likesOf(p.ID)
	}
	require.Equal(w, want, n)
}

// doPost edits or deletes a post, perhaps somebody else's.
func (w *walk) doPost() {
	p := w.any()
	if p == nil {
		return
	}
	by := w.agent()
	if w.r.IntN(2) == 0 {
		by = p.Author
	}
	var err error
	var got social.Post
	if w.r.IntN(2) == 0 {
		caption := fmt.Sprintf("edited %d #new", w.n)
		got, err = w.EditPost(w.ctx, p.ID, by, social.Edit{Caption: &caption}, here)
	} else {
		err = w.DeletePost(w.ctx, p.ID, by, here)
	}
	switch {
	case !p.Deleted && by == p.Author && !p.Remote():
		require.NoError(w, err)
		if got.ID == "" {
			got = w.row(p.ID)
		}
		w.m.posts[p.ID] = &got
	case w.m.decide(by, p).Visible:
		require.ErrorIs(w, err, social.ErrNotAllowed)
	default:
		require.ErrorIs(w, err, social.ErrNotFound)
	}
}

func (w *walk) doDelivery() {
	author := w.agent()
	all := []social.Delivery{social.Push, social.Both, social.Pull}
	from, to := all[w.r.IntN(3)], all[w.r.IntN(3)]
	now := must[social.Celebrity](w.env)(w.Celebrity(w.ctx, author))
	changed := must[bool](w.env)(w.SetDelivery(w.ctx, author, from, to))
	if changed {
		require.Equal(w, now.Delivery, from)
		w.m.delivery[author] = to
	}
}

// manyWriters lets 16 writers change the same few agents and posts while others
// read, and then compares the counts with the rows.
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
				_, err := e.Cards(e.ctx, "agent1", []social.Known{{ID: ids[0]}, {ID: ids[1]}})
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

// write does one random thing; a block that came between is no failure.
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
	if errors.Is(err, social.ErrBlocked) || errors.Is(err, social.ErrNotFound) {
		return nil
	}
	return err
}

func (e *env) consistent(ids []string) {
	e.Helper()
	for i := range 10 {
		agent := fmt.Sprintf("agent%d", i)
		rows := must[[]string](e)(e.Followers(e.ctx, agent, "", 100))
		require.Equal(e, int64(len(rows)), must[social.Celebrity](e)(e.Celebrity(e.ctx, agent)).Followers, "followers of %s", agent)
		following := must[[]string](e)(e.Following(e.ctx, agent, "", 100))
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
