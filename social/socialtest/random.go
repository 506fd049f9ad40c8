package socialtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// random makes random changes to a store and to a model of it, which implements the rules in Go,
// and compares all results. Each seed generates another network. Each step is a call to one of
// several servers, with the differences of their clocks; none is a single server.
func random(seed uint64, clocks ...time.Duration) func(*env) {
	return func(e *env) {
		w := &walk{env: e, m: newModel(), skewed: len(clocks) > 0, r: rand.New(rand.NewPCG(seed, 2)), agents: []string{"a", "b", "c", "d", "E", "f_"}}
		w.m.clock = w.clock
		for i := 1; i <= 200; i++ {
			if len(clocks) > 0 {
				e.skew = clocks[w.r.IntN(len(clocks))]
			}
			w.step()
			if i%50 == 0 {
				e.check(w.m, w.agents)
			}
		}
	}
}

// manyNetworks returns seeds for random, and the differences of the clocks.
func manyNetworks() map[uint64][]time.Duration {
	networks := map[uint64][]time.Duration{}
	for seed := range uint64(40) {
		networks[100+seed] = [][]time.Duration{nil, {0, time.Minute}, {0, 365 * 24 * time.Hour, -time.Hour, 5 * time.Minute}}[seed%3]
	}
	return networks
}

// walk is one random walk.
type walk struct {
	*env
	m      *model
	r      *rand.Rand
	agents []string
	n      int
	skewed bool // the clocks of servers differ
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
	if w.r.IntN(60) == 0 {
		w.doErase()
		return
	}
	switch w.r.IntN(23) {
	case 0, 1, 2:
		w.newPost()
	case 3, 4:
		w.doFollow()
	case 5:
		w.doBlock()
	case 6, 12:
		w.doMember()
	case 7, 13:
		w.doCircle()
	case 8, 9:
		w.doLike()
	case 10:
		w.doPost()
	case 11:
		w.doDelivery()
	case 14, 15:
		w.doReply()
	case 16:
		w.doReport()
	case 17, 18:
		w.doRemove()
	case 19:
		w.doMute()
	case 20:
		w.doHandOver()
	case 21, 22:
		w.doModerate()
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
	takes := true
	for _, id := range slices.Sorted(maps.Keys(w.m.circles)) {
		may := w.m.circles[id].takes(author, w.clock())
		if w.r.IntN(2) == 0 && may || !may && w.r.IntN(20) == 0 {
			p.Audience.Circles, takes = append(p.Audience.Circles, id), takes && may
		}
	}
	got, created, err := w.CreatePost(w.ctx, p, social.Creation{})
	if !takes && !p.Remote() { // the circles of another host are unknown here
		require.ErrorIs(w, err, feed.ErrRule)
		return
	}
	require.NoError(w, err)
	require.True(w, created)
	require.Equal(w, w.card(author, got.ID), got.Card)
	w.m.addPost(&got.Post)
}

// doReply replies to a post or a reply, which the agent may not be allowed to see or reply to.
func (w *walk) doReply() {
	p := w.any()
	if p == nil {
		return
	}
	r := social.Post{Author: w.agent(), Caption: fmt.Sprintf("reply %d", w.n), ReplyTo: p.ID, Mentions: []string{w.agent()}}
	d := w.m.decide(r.Author, p)
	got, created, err := w.CreatePost(w.ctx, r, social.Creation{})
	switch {
	case !d.Visible:
		require.ErrorIs(w, err, feed.ErrNotFound)
		return
	case !d.CanReply:
		require.ErrorIs(w, err, feed.ErrForbidden)
		return
	}
	require.NoError(w, err)
	require.True(w, created)
	require.Equal(w, cmp.Or(p.Root, p.ID), got.Root)
	require.Equal(w, w.card(r.Author, got.ID), got.Card)
	w.m.posts[got.ID] = &got.Post
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
		require.ErrorIs(w, err, feed.ErrForbidden)
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
	for _, c := range w.m.circles {
		if c.owner == agent {
			delete(c.members, other)
			delete(c.invited, other)
		}
		if c.owner == other {
			delete(c.members, agent)
			delete(c.invited, agent)
		}
	}
}

func (w *walk) doCircle() {
	id, owner := fmt.Sprintf("c%d", w.r.IntN(4)), w.agent()
	c := w.m.circles[id]
	if c != nil && w.r.IntN(3) == 0 {
		w.ok(w.DropCircle(w.ctx, id, c.owner, here))
		w.m.drop(id)
		return
	}
	members := []string{}
	for range w.r.IntN(4) {
		members = append(members, w.agent())
	}
	put := social.Circle{ID: id, Owner: owner, Name: fmt.Sprintf("name %d", w.n)}
	if c == nil {
		put.CircleTerms = []social.CircleTerms{
			{}, {Kind: social.KindGroup}, {Kind: social.KindGroup, History: social.HistoryAll}, {Kind: social.KindGroup, Post: social.ByOwner}, {Kind: social.KindEvent},
		}[w.r.IntN(5)]
		if put.Kind == social.KindEvent {
			put.Until = w.now.Add(time.Duration(w.r.IntN(60)) * time.Second).Unix()
		}
	}
	terms := put.CircleTerms
	err := second(w.PutCircle(w.ctx, put, members, here))
	joining := slices.DeleteFunc(slices.Clone(members), func(agent string) bool { return c != nil && c.members[agent] })
	blocked := slices.ContainsFunc(joining, func(agent string) bool { return w.m.blocked(agent, owner) })
	switch {
	case c != nil && c.owner != owner:
		require.ErrorIs(w, err, feed.ErrForbidden)
		return
	case c == nil && put.Until != 0 && put.Until <= w.clock().Unix():
		require.ErrorIs(w, err, feed.ErrInvalid)
		return
	case blocked:
		require.ErrorIs(w, err, feed.ErrForbidden)
		return
	case c != nil && c.over(w.clock()) && slices.ContainsFunc(joining, func(agent string) bool { return agent != owner }):
		require.ErrorIs(w, err, feed.ErrRule)
		return
	}
	require.NoError(w, err)
	if c == nil {
		c = &modelCircle{owner: owner, members: set(), invited: set(), before: map[[2]string]bool{}, group: terms.Kind != "", post: terms.Post, until: put.Until}
		c.joined = c.group && terms.History == ""
		w.m.circles[id] = c
		if c.group {
			w.m.endCircle(id) // posts that events reported for another circle with this id
		} else {
			w.m.addPlain(id, owner)
		}
	}
	c.name = put.Name
	if c.group {
		w.m.add(id, owner)
		members = append(members, owner)
	}
	maps.DeleteFunc(c.members, func(agent string, _ bool) bool { return !slices.Contains(members, agent) })
	slices.Sort(members) // those who join at the same time inherit the group in this order
	for _, agent := range members {
		w.m.add(id, agent)
	}
}

// doInvite invites an agent, and may let a random agent join.
func (w *walk) doInvite() {
	id, agent := fmt.Sprintf("c%d", w.r.IntN(4)), w.agent()
	c := w.m.circles[id]
	changed, err := w.Invite(w.ctx, id, agent, "")
	switch {
	case c == nil:
		require.ErrorIs(w, err, feed.ErrNotFound)
		return
	case !c.group:
		require.ErrorIs(w, err, feed.ErrInvalid)
	case c.over(w.clock()):
		require.ErrorIs(w, err, feed.ErrRule)
	case w.m.blocked(agent, c.owner):
		require.ErrorIs(w, err, feed.ErrForbidden)
	default:
		require.NoError(w, err)
		require.Equal(w, !c.members[agent] && !c.invited[agent], changed)
		c.invited[agent] = !c.members[agent]
	}
	agent = w.agent()
	if w.r.IntN(2) == 0 || agent == c.owner {
		return
	}
	changed, err = w.AddMember(w.ctx, id, agent, agent, here)
	if !c.group || !c.members[agent] && !c.invited[agent] {
		require.ErrorIs(w, err, feed.ErrNotFound)
		return
	}
	if c.over(w.clock()) && !c.members[agent] {
		require.ErrorIs(w, err, feed.ErrRule)
		return
	}
	require.NoError(w, err)
	require.Equal(w, !c.members[agent], changed)
	w.m.add(id, agent)
}

// doMute mutes a circle, which need not exist, for ever or for a time, or unmutes it.
func (w *walk) doMute() {
	id, agent := fmt.Sprintf("c%d", w.r.IntN(4)), w.agent()
	pair, until := [2]string{agent, id}, time.Time{}
	end, muted := w.m.mutes[pair]
	muted = muted && (end.IsZero() || end.After(w.clock()))
	if w.r.IntN(3) == 0 {
		require.Equal(w, muted, must[bool](w.env)(w.Unmute(w.ctx, agent, social.MuteCircle, id)))
		delete(w.m.mutes, pair)
		return
	}
	if !w.skewed && w.r.IntN(2) == 0 { // a server whose clock is a year ahead would end it
		until = w.clock().Add(time.Duration(1+w.r.IntN(40)) * time.Second)
	}
	same := muted && end.Equal(until)
	require.Equal(w, !same, must[bool](w.env)(w.Mute(w.ctx, agent, social.MuteCircle, id, until)))
	w.m.mutes[pair] = until
}

// doHandOver hands a group over to an agent, who may be no member.
func (w *walk) doHandOver() {
	id, agent := fmt.Sprintf("c%d", w.r.IntN(4)), w.agent()
	c := w.m.circles[id]
	_, err := w.PatchCircle(w.ctx, id, "", func(stored social.CircleChange) (social.CircleChange, error) {
		stored.Owner = agent
		return stored, nil
	})
	switch {
	case c == nil:
		require.ErrorIs(w, err, feed.ErrNotFound)
	case agent != c.owner && !c.group:
		require.ErrorIs(w, err, feed.ErrForbidden)
	case agent != c.owner && !c.members[agent]:
		require.ErrorIs(w, err, feed.ErrRule)
	default:
		require.NoError(w, err)
		w.m.own(c, agent)
	}
}

func (w *walk) doMember() {
	if w.r.IntN(2) == 0 {
		w.doInvite()
		return
	}
	id, agent := fmt.Sprintf("c%d", w.r.IntN(4)), w.agent()
	c := w.m.circles[id]
	change, on, by := w.AddMember, true, ""
	if w.r.IntN(2) == 0 {
		change, on = w.RemoveMember, false
		by = []string{"", agent}[w.r.IntN(2)] // the latter leaves
	}
	changed, err := change(w.ctx, id, agent, by, here)
	if c == nil {
		require.False(w, changed)
		require.True(w, by == agent && err == nil || errors.Is(err, feed.ErrNotFound), err)
		return
	}
	joins := on && !c.members[agent]
	switch {
	case joins && w.m.blocked(agent, c.owner) || !on && c.group && agent == c.owner:
		require.ErrorIs(w, err, feed.ErrForbidden)
		return
	case joins && c.over(w.clock()):
		require.ErrorIs(w, err, feed.ErrRule)
		return
	}
	require.NoError(w, err)
	require.Equal(w, c.members[agent] != on, changed)
	if on {
		w.m.add(id, agent)
	} else {
		delete(c.members, agent)
	}
}

// any returns one of the posts, including deleted ones.
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
	card, changed, err := do(w.ctx, agent, p.ID)
	switch {
	case like && !d.Visible:
		require.ErrorIs(w, err, feed.ErrNotFound)
		return
	case like && !d.CanReact:
		require.ErrorIs(w, err, feed.ErrForbidden)
		return
	}
	require.NoError(w, err)
	require.Equal(w, w.m.likes[key] != like, changed)
	delete(w.m.likes, key)
	if like {
		w.m.likes[key] = true
	}
	want := int64(0)
	if d.Visible {
		want, _ = w.m.likesOf(p.ID)
	}
	require.Equal(w, want, card.Likes)
	require.Equal(w, w.card(agent, p.ID), card)
}

// doPost edits or deletes a post, possibly of another author.
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
	var got social.Written
	ended := p.IsReply() && w.m.posts[p.Root].Deleted
	if w.r.IntN(2) == 0 {
		caption := fmt.Sprintf("edited %d #new", w.n)
		got, err = w.EditPost(w.ctx, p.ID, by, social.Edit{Caption: &caption}, here)
	} else {
		err = w.DeletePost(w.ctx, p.ID, by, here)
	}
	switch {
	case ended:
		require.ErrorIs(w, err, feed.ErrNotFound)
	case !p.Deleted && by == p.Author && !p.Remote():
		require.NoError(w, err)
		if got.ID == "" {
			got.Post = w.row(p.ID)
		} else {
			require.Equal(w, w.card(by, p.ID), got.Card)
		}
		w.m.posts[p.ID] = &got.Post
	case w.m.decide(by, p).Visible:
		require.ErrorIs(w, err, feed.ErrForbidden)
	default:
		require.ErrorIs(w, err, feed.ErrNotFound)
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

// doErase erases an author, or a whole agent, in small steps.
func (w *walk) doErase() {
	agent, whole := w.agent(), w.r.IntN(2) == 0
	erase := w.EraseAuthor
	if whole {
		erase = w.EraseAgent
	}
	w.ok(erase(w.ctx, agent))
	if whole {
		w.m.erasedAt[agent] = w.now
	}
	if info, err := w.Author(w.ctx, agent, agent); err == nil {
		require.Zero(w, info.Posts, "posts of an author whose erasure has committed")
	}
	for !must[bool](w.env)(w.EraseSome(w.ctx, agent, 1+w.r.IntN(5), nil)) {
	}
	ended := map[string]bool{} // before: the replies under these are removed by Purge
	for id, p := range w.m.posts {
		ended[id] = p.Deleted
		if p.Author == agent {
			tombstone := w.row(id)
			require.True(w, tombstone.Deleted)
			for _, mentioned := range p.Mentions {
				if p.Removed { // so it has left their lists
					w.m.nobody[[2]string{id, mentioned}] = true
				}
			}
			w.m.posts[id], w.m.erased[id] = &tombstone, tombstone.Version
			if ended[id] && w.skewed {
				w.m.erased[id] = unsureErased
			}
			delete(w.m.removed, id)
			delete(w.m.hidden, id)
		}
	}
	for id, p := range w.m.posts {
		if p.IsReply() && w.m.posts[p.Root].Author == agent {
			tombstone := w.row(id)
			require.True(w, tombstone.Deleted || ended[p.Root], "a reply under an erased post")
			w.m.posts[id] = &tombstone
		}
	}
	maps.DeleteFunc(w.m.follows, func(pair [2]string, _ bool) bool { return pair[1] == agent })
	if !whole {
		return
	}
	for _, made := range []map[[2]string]bool{w.m.follows, w.m.blocks, w.m.likes} {
		maps.DeleteFunc(made, func(pair [2]string, _ bool) bool { return pair[0] == agent })
	}
	w.m.forgetReasons(agent)
	for id, c := range w.m.circles {
		delete(c.invited, agent)
		delete(c.members, agent)
		if c.owner == agent {
			w.m.own(c, c.heir())
			if c.owner == "" {
				w.m.drop(id)
			}
		}
	}
	maps.DeleteFunc(w.m.mutes, func(pair [2]string, _ time.Time) bool { return pair[0] == agent })
	for _, p := range w.m.posts {
		if slices.Contains(p.Mentions, agent) { // the post is stored again without its grants to them
			granted := len(p.Grants) > 0
			p.Grants = slices.DeleteFunc(p.Grants, func(granted string) bool { return granted == agent })
			p.Closed = p.Closed || granted && len(p.Grants) == 0
		}
		p.Mentions = slices.DeleteFunc(p.Mentions, func(mentioned string) bool { return mentioned == agent })
		w.m.ended[[2]string{p.ID, agent}] = true
	}
}
