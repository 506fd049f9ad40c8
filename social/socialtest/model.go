package socialtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// model is the expected state of a store in a simple form. Its methods derive the expected results
// from it by the rules.
type model struct {
	posts    map[string]*social.Post
	follows  map[[2]string]bool // agent, author
	blocks   map[[2]string]bool // agent, other
	likes    map[[2]string]bool // agent, post
	circles  map[string]*modelCircle
	delivery map[string]social.Delivery
	mutes    map[[2]string]time.Time // agent, circle: the ends, zero for none
	clock    func() time.Time        // by which mutes end
	// ended holds deleted circles that posts are addressed to, by post and circle, and grants to
	// erased agents, by post and agent.
	ended  map[[2]string]bool
	erased map[string]int64 // posts of erased authors, with their version at that time
	// nobody holds mentions that count for nobody, by post and agent; erasedAt the time of each agent's
	// last erasure.
	nobody   map[[2]string]bool
	erasedAt map[string]time.Time
	// ownCircle holds which posts address a plain circle of their author, by post and circle. Its id may
	// belong to somebody else later.
	ownCircle map[[2]string]bool
	// removed holds what posts were removed from, with by whom, by post and circle; "" is a thread.
	removed map[string]map[string]social.Removal
	// hidden holds what moderators have hidden, by post.
	hidden map[string]modelHidden
}

// modelHidden is a hidden post as it is without that.
type modelHidden struct {
	audience social.Audience
	removed  bool
	held     bool
}

// circlesOf returns the circles that a post addresses, or did before moderators have hidden it.
func (m *model) circlesOf(p *social.Post) []string {
	return append(slices.Clone(p.Audience.Circles), m.hidden[p.ID].audience.Circles...)
}

type modelCircle struct {
	owner   string
	name    string
	members map[string]bool
	order   []string // the members of a group, in the order of joining
	invited map[string]bool
	group   bool // members know of it and may post to it
	joined  bool // members see only posts from after they joined
	post    string
	until   int64
	// before holds agent and post for posts from before the agent joined.
	before map[[2]string]bool
}

// shows reports whether a reader sees a post as a member of the circle it is addressed to.
func (c *modelCircle) shows(reader string, p *social.Post) bool {
	return (c.group || c.owner == p.Author) && c.members[reader] && !c.before[[2]string{reader, p.ID}]
}

// role returns an agent's role, as far as the agent may know it.
func (c *modelCircle) role(agent string) social.Role {
	switch {
	case c.owner == agent:
		return social.RoleOwner
	case c.group && c.members[agent]:
		return social.RoleMember
	case c.group && c.invited[agent]:
		return social.RoleInvited
	}
	return social.NoRole
}

// named returns the circles that a post's card names to a reader.
func (m *model) named(reader string, p *social.Post) (list []social.CircleRef) {
	for _, id := range p.Audience.Circles {
		c := m.circles[id]
		if c == nil || m.ended[[2]string{p.ID, id}] || p.Remote() {
			continue
		}
		role := c.role(reader)
		through := role == social.RoleMember || role == social.RoleOwner && c.group
		switch {
		case through && c.shows(reader, p), role == social.RoleOwner && p.Author == reader:
			list = append(list, social.CircleRef{ID: id, Name: c.name})
		case p.Author == reader && c.group && through:
			list = append(list, social.CircleRef{ID: id, Name: c.name})
		case p.Author == reader && c.group:
			list = append(list, social.CircleRef{ID: id})
		}
	}
	return list
}

// heir returns the member who owns a group after its owner was erased; "" if there is none.
func (c *modelCircle) heir() string {
	for _, agent := range c.order {
		if c.group && agent != c.owner && c.members[agent] {
			return agent
		}
	}
	return ""
}

// takes reports whether an author may address a post to the circle.
func (c *modelCircle) takes(author string, now time.Time) bool {
	return (c.owner == author || c.group && c.members[author] && c.post != social.ByOwner) && (c.until == 0 || now.Unix() < c.until)
}

// over reports whether an event has ended.
func (c *modelCircle) over(now time.Time) bool { return c.until != 0 && now.Unix() >= c.until }

// add adds an agent to a circle.
func (m *model) add(id, agent string) {
	c := m.circles[id]
	if c.members[agent] {
		return
	}
	delete(c.invited, agent)
	c.members[agent] = true
	c.order = append(slices.DeleteFunc(c.order, func(one string) bool { return one == agent }), agent)
	for _, p := range m.posts {
		if c.joined && slices.Contains(m.circlesOf(p), id) {
			c.before[[2]string{agent, p.ID}] = true
		}
	}
}

// own gives a group to an owner. Whom a block separates from the owner leaves it.
func (m *model) own(c *modelCircle, owner string) {
	c.owner = owner
	for _, agents := range []map[string]bool{c.members, c.invited} {
		maps.DeleteFunc(agents, func(agent string, _ bool) bool { return m.blocked(agent, owner) })
	}
}

// unsureErased stands in model.erased for a post that was deleted before its author was erased, by
// servers whose clocks differ: it may have receivers, who are told once more that it is gone.
const unsureErased = -1

func newModel() *model {
	return &model{
		posts: map[string]*social.Post{}, follows: map[[2]string]bool{}, blocks: map[[2]string]bool{},
		likes: map[[2]string]bool{}, circles: map[string]*modelCircle{}, delivery: map[string]social.Delivery{}, mutes: map[[2]string]time.Time{}, clock: time.Now,
		ended: map[[2]string]bool{}, erased: map[string]int64{}, ownCircle: map[[2]string]bool{},
		removed: map[string]map[string]social.Removal{}, hidden: map[string]modelHidden{},
		nobody: map[[2]string]bool{}, erasedAt: map[string]time.Time{},
	}
}

func (m *model) relation(reader string, p *social.Post) social.Relation {
	rel := social.Relation{
		Reader: reader, Follows: m.follows[[2]string{reader, p.Author}], FollowsServer: m.follows[[2]string{reader, social.Server}],
		Mentioned: slices.Contains(p.Mentions, reader) && !m.nobody[[2]string{p.ID, reader}], Granted: slices.Contains(p.Grants, reader) && !m.ended[[2]string{p.ID, reader}],
		Blocked: m.blocked(reader, p.Author), Pulled: m.delivery[p.Author] == social.Pull,
	}
	root := m.posts[p.Root]
	if root != nil && !root.Deleted {
		above := m.relation(reader, root)
		above.Member, above.Muted, above.Returns = m.member(reader, root, m.removed[p.ID])
		rel.RootExists, rel.Root = true, social.Decide(root, above)
	}
	for _, id := range p.Audience.Circles {
		rel.OwnCircle = rel.OwnCircle || reader == p.Author && m.ownCircle[[2]string{p.ID, id}]
	}
	rel.Member, rel.Muted, rel.Returns = m.member(reader, p, nil)
	return rel
}

// member reports whether a reader sees a post through a circle, except some, has muted all of these,
// and whether one of those mutes ends.
func (m *model) member(reader string, p *social.Post, but map[string]social.Removal) (member, muted, returns bool) {
	heard := false
	for _, id := range p.Audience.Circles {
		c := m.circles[id]
		_, without := but[id]
		if c != nil && c.shows(reader, p) && !m.ended[[2]string{p.ID, id}] && !without {
			member, heard = true, heard || !m.muted(reader, id)
			returns = returns || !m.mutes[[2]string{reader, id}].IsZero()
		}
	}
	return member, member && !heard, returns
}

// removals returns the removals of a post as its card has them for a reader.
func (m *model) removals(reader string, p *social.Post) (list []social.Removal) {
	if reader == p.Author {
		list = slices.Collect(maps.Values(m.removed[p.ID]))
		slices.SortFunc(list, func(a, b social.Removal) int {
			return cmp.Or(strings.Compare(a.Circle, b.Circle), cmp.Compare(a.At, b.At), strings.Compare(a.By, b.By))
		})
	}
	return list
}

// muted reports whether an agent has muted a group. A plain circle cannot be muted.
func (m *model) muted(agent, circle string) bool {
	end, muted := m.mutes[[2]string{agent, circle}]
	return muted && m.circles[circle].group && (end.IsZero() || end.After(m.clock()))
}

// unlisted reports whether a mute of a group keeps its posts out of lists: it has no end.
func (m *model) unlisted(agent, circle string) bool {
	return m.muted(agent, circle) && m.mutes[[2]string{agent, circle}].IsZero()
}

// addPost notes a post that was created, or reported again with other addresses.
func (m *model) addPost(p *social.Post) {
	m.posts[p.ID] = p
	for _, id := range p.Audience.Circles {
		c := m.circles[id]
		m.ownCircle[[2]string{p.ID, id}] = c != nil && !c.group && c.owner == p.Author
	}
}

// addPlain notes a plain circle that was created: posts that its owner addressed to it before belong
// to it.
func (m *model) addPlain(id, owner string) {
	for _, p := range m.posts {
		if p.Author == owner && slices.Contains(m.circlesOf(p), id) && !m.ended[[2]string{p.ID, id}] {
			m.ownCircle[[2]string{p.ID, id}] = true
		}
	}
}

// drop deletes a circle, and with it the access of members to posts that are addressed to it.
func (m *model) drop(id string) {
	delete(m.circles, id)
	m.endCircle(id)
}

// endCircle ends the access of members to posts that are addressed to a circle so far.
func (m *model) endCircle(id string) {
	for _, p := range m.posts {
		_, removed := m.removed[p.ID][id]
		if removed || slices.Contains(m.circlesOf(p), id) {
			m.ended[[2]string{p.ID, id}] = true
		}
	}
}

func (m *model) blocked(a, b string) bool {
	return m.blocks[[2]string{a, b}] || m.blocks[[2]string{b, a}]
}

func (m *model) decide(reader string, p *social.Post) social.Decision {
	if p.IsReply() && (m.posts[p.Root] == nil || m.posts[p.Root].Deleted) {
		return social.Decision{}
	}
	return social.Decide(p, m.relation(reader, p))
}

// sorted lists the posts for which fits returns true, newest first.
func (m *model) sorted(fits func(*social.Post) bool) []social.Entry {
	out := []social.Entry{}
	for _, p := range m.posts {
		if fits(p) {
			out = append(out, social.Entry{Position: p.Position(), Author: p.Author})
		}
	}
	slices.SortFunc(out, func(a, b social.Entry) int { return b.Compare(a.Position) })
	return out
}

// likesOf counts the likes of a post, and those of others than its author.
func (m *model) likesOf(id string) (n, by int64) {
	for k := range m.likes {
		if k[1] == id {
			n++
			if k[0] != m.posts[id].Author {
				by++
			}
		}
	}
	return n, by
}

// commentsOf counts the replies under a post, and the other agents who wrote them.
func (m *model) commentsOf(id string) (n, by int64) {
	authors := map[string]bool{}
	for _, p := range m.posts {
		if p.Root == id && !p.Deleted && !p.Removed {
			n, authors[p.Author] = n+1, true
		}
	}
	delete(authors, m.posts[id].Author)
	return n, int64(len(authors))
}

// check compares all reads of a store for some agents with the model.
func (e *env) check(m *model, agents []string) {
	e.Helper()
	replied := map[string]bool{}
	for _, p := range m.posts {
		replied[p.Root] = true
	}
	for i, agent := range append([]string{""}, agents...) {
		e.checkCards(m, agent)
		for id := range m.posts {
			if replied[id] || i == 0 { // what nobody replied to has no replies for anybody
				e.checkReplies(m, agent, id)
			}
		}
		for _, author := range agents {
			e.checkGrid(m, agent, author)
		}
	}
	for _, agent := range agents {
		e.checkPull(m, agent)
		e.checkStandings(m, agent)
		e.checkGraph(m, agent)
		for _, author := range agents {
			e.checkPair(m, author, agent)
		}
		for id := range m.circles {
			e.checkMember(m, id, agent)
		}
	}
	for _, p := range m.posts {
		e.checkReceivers(m, agents, p)
	}
	e.checkCardsOf(m, agents)
}

// checkCardsOf reads every post for all readers in one call, and compares the result with a call for
// each reader.
func (e *env) checkCardsOf(m *model, agents []string) {
	e.Helper()
	known := []social.PostVersion{{ID: "post:unknown"}}
	for id := range m.posts {
		known = append(known, social.PostVersion{ID: id})
	}
	var asked []social.Asked
	var want []social.Card
	for _, reader := range append([]string{"", "stranger"}, agents...) {
		for _, post := range known {
			asked = append(asked, social.Asked{Reader: reader, ID: post.ID})
		}
		want = append(want, must[[]social.Card](e)(e.Cards(e.ctx, reader, known))...)
	}
	require.Equal(e, want, must[[]social.Card](e)(e.CardsOf(e.ctx, asked)))
}

func (e *env) checkCards(m *model, reader string) {
	e.Helper()
	known := []social.PostVersion{{ID: "post:unknown"}}
	for id := range m.posts {
		known = append(known, social.PostVersion{ID: id})
	}
	for i, c := range must[[]social.Card](e)(e.Cards(e.ctx, reader, known)) {
		require.Equal(e, known[i].ID, c.ID)
		p := m.posts[c.ID]
		if p == nil || !m.decide(reader, p).Visible {
			require.Equal(e, social.Card{ID: c.ID}, c, "%s must not see %s", reader, c.ID)
			continue
		}
		d := m.decide(reader, p)
		likes, likers := m.likesOf(c.ID)
		comments, commenters := m.commentsOf(c.ID)
		require.Equal(e, social.Card{
			ID: c.ID, Visible: true, Version: c.Version, CreatedAt: p.CreatedAt, Arrived: c.Arrived, Content: c.Content, Author: social.Author{ID: p.Author},
			Public: p.Audience.Public && len(p.Grants) == 0, Root: p.Root, Replies: d.Replies,
			Likes: likes, Comments: comments, Likers: likers, Commenters: commenters, Reason: d.Reason, HasLiked: m.likes[[2]string{reader, c.ID}], CanReply: d.CanReply, CanReact: d.CanReact,
			Circles: m.named(reader, p), Removed: m.removals(reader, p), Subscribed: d.Subscribed,
		}, c, "%q reads %+v", reader, *p)
		require.JSONEq(e, string(p.Content()), string(c.Content))
	}
}

// pages reads all pages of a list.
func pages(e *env, below social.Position, read func(below social.Position) ([]social.Entry, error), n int) []social.Entry {
	e.Helper()
	all := []social.Entry{}
	for {
		list := must[[]social.Entry](e)(read(below))
		require.LessOrEqual(e, len(list), n)
		all = append(all, list...)
		if len(list) < n {
			return all
		}
		below = list[n-1].Position
	}
}

func (e *env) checkPull(m *model, agent string) {
	e.Helper()
	for _, whole := range []bool{true, false} {
		want := m.sorted(func(p *social.Post) bool {
			d := m.decide(agent, p)
			return d.Listed || whole && d.Reason != social.NoReason
		})
		for _, n := range []int{7, 50} {
			got := pages(e, social.Position{}, func(below social.Position) ([]social.Entry, error) {
				return e.Pull(e.ctx, social.PullQuery{Reader: agent, Below: below, N: n, Whole: whole})
			}, n)
			require.Equal(e, want, got, "pull of %s, whole %v, %d at once", agent, whole, n)
		}
	}
}

// checkReplies checks that a reader is given the replies under a post that they may see, in both
// orders.
func (e *env) checkReplies(m *model, reader, root string) {
	e.Helper()
	want := m.sorted(func(p *social.Post) bool { return p.Root == root && m.decide(reader, p).Visible })
	own := !m.decide(reader, m.posts[root]).Replies
	for _, oldest := range []bool{false, true} {
		got := pages(e, social.Position{}, func(after social.Position) ([]social.Entry, error) {
			return e.Replies(e.ctx, social.RepliesQuery{Reader: reader, Post: root, After: after, N: 3, Oldest: oldest, Own: own})
		}, 3)
		require.Equal(e, want, got, "replies to %s for %q, the oldest first: %v", root, reader, oldest)
		slices.Reverse(want)
	}
}

func (e *env) checkGrid(m *model, reader, author string) {
	e.Helper()
	posts := 0
	want := m.sorted(func(p *social.Post) bool {
		if p.Author != author || !m.decide(reader, p).Visible {
			return false
		}
		if !p.IsReply() {
			posts++
		}
		return !p.IsReply() || reader == author || m.posts[p.Root].Audience.Public
	})
	got := pages(e, social.Position{}, func(below social.Position) ([]social.Entry, error) {
		return e.Grid(e.ctx, reader, author, below, 4)
	}, 4)
	require.Equal(e, want, got, "posts of %s for %q", author, reader)
	info, err := e.Author(e.ctx, reader, author)
	if m.blocks[[2]string{reader, author}] {
		require.NoError(e, err)
		require.Equal(e, social.AuthorInfo{Author: social.Author{ID: author}, IsBlocked: true}, info)
		require.Contains(e, e.list(e.blockedBy, reader), author)
		return
	}
	if m.blocked(reader, author) || err != nil {
		require.ErrorIs(e, err, feed.ErrNotFound)
		require.True(e, m.blocked(reader, author) || len(want) == 0, "%q: %s is unknown, with %v", reader, author, want)
		return
	}
	require.EqualValues(e, posts, info.Posts)
	require.Equal(e, m.follows[[2]string{reader, author}], info.IsFollowing)
}

func (e *env) checkStandings(m *model, agent string) {
	e.Helper()
	ids := []string{"post:unknown"}
	for id := range m.posts {
		ids = append(ids, id)
	}
	for i, s := range must[[]social.ListStatus](e)(e.ListStatuses(e.ctx, agent, ids)) {
		p := m.posts[ids[i]]
		if p == nil {
			require.Equal(e, social.ListStatus{Entry: social.Entry{Position: social.Position{ID: ids[i]}}}, s)
			continue
		}
		d := m.decide(agent, p)
		require.Equal(e, social.ListStatus{
			Entry: social.Entry{Position: p.Position(), Author: p.Author}, Found: true, Listed: d.Listed, Reason: d.Reason,
		}, s, "%s in the list of %s", ids[i], agent)
	}
}

func (e *env) checkPair(m *model, author, agent string) {
	e.Helper()
	want := m.sorted(func(p *social.Post) bool { return p.Author == author && m.decide(agent, p).Listed })
	got := must[[]social.Entry](e)(e.PairEntries(e.ctx, author, agent, social.Position{}, 1000))
	require.Equal(e, want, append([]social.Entry{}, got...), "posts of %s in the list of %s", author, agent)
	if len(want) < 2 {
		return
	}
	above := want[len(want)-1].Position
	got = must[[]social.Entry](e)(e.PairEntries(e.ctx, author, agent, above, 1000))
	require.Equal(e, want[:len(want)-1], got, "above the oldest")
}

func (e *env) checkMember(m *model, circle, agent string) {
	e.Helper()
	c := m.circles[circle]
	want := m.sorted(func(p *social.Post) bool {
		return !p.Deleted && !p.Remote() && c.shows(agent, p) && !m.unlisted(agent, circle) && slices.Contains(p.Audience.Circles, circle) &&
			!m.ended[[2]string{p.ID, circle}] && !m.blocked(agent, p.Author)
	})
	got := must[[]social.Entry](e)(e.MemberEntries(e.ctx, circle, agent, social.Position{}, 1000))
	require.Equal(e, want, append([]social.Entry{}, got...), "posts to %s in the list of %s", circle, agent)
	e.checkCirclePage(m, circle, agent)
}

// checkCirclePage checks the page of a circle, and its entry in the list of an agent's circles.
func (e *env) checkCirclePage(m *model, circle, agent string) {
	e.Helper()
	c := m.circles[circle]
	role := c.role(agent)
	if role == social.NoRole || role == social.RoleInvited {
		_, err := e.CirclePosts(e.ctx, agent, circle, social.Position{}, 4)
		require.ErrorIs(e, err, map[social.Role]error{social.NoRole: feed.ErrNotFound, social.RoleInvited: feed.ErrForbidden}[role])
		return
	}
	want := m.sorted(func(p *social.Post) bool {
		here := !p.Deleted && !p.Remote() && slices.Contains(p.Audience.Circles, circle) && !m.ended[[2]string{p.ID, circle}]
		return here && (c.group && c.shows(agent, p) || !c.group && p.Author == agent) && !m.blocked(agent, p.Author)
	})
	got := pages(e, social.Position{}, func(below social.Position) ([]social.Entry, error) {
		return e.CirclePosts(e.ctx, agent, circle, below, 4)
	}, 4)
	require.Equal(e, want, got, "the page of %s for %s", circle, agent)
	newest := int64(0)
	if len(want) > 0 {
		newest = want[0].At
	}
	list := must[[]social.Circle](e)(e.CirclesOf(e.ctx, agent, role, "", 100))
	at := slices.IndexFunc(list, func(c social.Circle) bool { return c.ID == circle })
	require.GreaterOrEqual(e, at, 0, "%s in the list of %s", circle, agent)
	require.Equal(e, newest, list[at].NewestPostAt)
	require.Equal(e, c.name, list[at].Name)
	one, _, err := e.CircleFor(e.ctx, circle, agent)
	require.NoError(e, err)
	require.Equal(e, list[at], one)
}

// checkReceivers compares a post's receivers with the result of Decide for each agent. A deleted
// post has the receivers that it would have if it existed, except for the followers of an erased
// author.
func (e *env) checkReceivers(m *model, agents []string, p *social.Post) {
	e.Helper()
	alive := *p
	alive.Deleted = false
	agents = slices.Sorted(slices.Values(agents))
	erased := p.Deleted && m.erased[p.ID] == p.Version
	if m.erased[p.ID] == unsureErased {
		return
	}
	c := must[social.Celebrity](e)(e.Celebrity(e.ctx, p.Author))
	want := []social.Receiver{}
	for _, agent := range agents {
		rel := m.relation(agent, &alive)
		rel.FollowsServer, rel.Pulled, rel.Follows = false, false, rel.Follows && (p.Deleted || c.Delivery != social.Pull) && !erased
		rel.Muted = rel.Muted && !rel.Returns // a list is made for the end of the mute
		d := social.Decide(&alive, rel)
		if d.Listed {
			want = append(want, social.Receiver{Agent: agent, Reason: d.Reason})
		}
	}
	got, after := []social.Receiver{}, ""
	for {
		pages := must[[]social.Receivers](e)(e.Receivers(e.ctx, []social.ReceiverPage{{Post: "post:none"}, {Post: p.ID, After: after}, {Post: p.ID}}, 4))
		require.Zero(e, pages[0])
		require.Equal(e, []social.Delivery{c.Delivery, c.Delivery}, []social.Delivery{pages[1].Delivery, pages[2].Delivery})
		require.Equal(e, e.row(p.ID), pages[1].Post)
		got = append(got, pages[1].List...)
		require.Equal(e, got[:len(pages[2].List)], append([]social.Receiver{}, pages[2].List...), "the first page")
		if len(pages[1].List) < 4 {
			break
		}
		after = pages[1].List[3].Agent
	}
	require.Equal(e, want, got, "receivers of %+v", *p)
}

// checkGraph compares follows and their counts.
func (e *env) checkGraph(m *model, agent string) {
	e.Helper()
	following, followers := []string{}, []string{}
	for pair, on := range m.follows {
		if on && pair[0] == agent {
			following = append(following, pair[1])
		}
		if on && pair[1] == agent {
			followers = append(followers, pair[0])
		}
	}
	slices.Sort(following)
	slices.Sort(followers)
	require.Equal(e, following, e.list(e.Following, agent), "following of %s", agent)
	require.Equal(e, followers, e.list(e.Followers, agent), "followers of %s", agent)
	c := must[social.Celebrity](e)(e.Celebrity(e.ctx, agent))
	require.Equal(e, int64(len(followers)), c.Followers, "the count of followers is updated in the same transaction")
	info, err := e.Author(e.ctx, agent, agent)
	if err == nil {
		require.Equal(e, int64(len(following)), info.Following)
	}
	var want []string
	for _, author := range following {
		d := m.delivery[author]
		if d != "" && d != social.Push {
			want = append(want, author)
		}
	}
	pulled := must[social.Pulled](e)(e.Celebrities(e.ctx, agent))
	require.Equal(e, social.Pulled{Authors: want, Server: slices.Contains(following, social.Server), Rebuilt: pulled.Rebuilt}, pulled)
	require.Equal(e, []social.Pulled{pulled}, must[[]social.Pulled](e)(e.CelebritiesOf(e.ctx, []string{agent})))
}

// list reads a whole list that is paged by id, two at a time, as an admin; it is empty if there is
// nothing with the id.
func (e *env) list(read func(ctx context.Context, id, reader, after string, n int) ([]string, error), id string) []string {
	e.Helper()
	return e.listFor("", read, id)
}

// listFor reads the list for a reader.
func (e *env) listFor(reader string, read func(ctx context.Context, id, reader, after string, n int) ([]string, error), id string) []string {
	e.Helper()
	all, after := []string{}, ""
	for {
		list, err := read(e.ctx, id, reader, after, 2)
		if !errors.Is(err, feed.ErrNotFound) {
			e.ok(err)
		}
		all = append(all, list...)
		if len(list) < 2 {
			require.True(e, slices.IsSortedFunc(all, strings.Compare), fmt.Sprint(all))
			return all
		}
		after = list[1]
	}
}

// blockedBy has the form of the lists that know a reader.
func (e *env) blockedBy(_ context.Context, agent, _, after string, n int) ([]string, error) {
	return e.Blocked(e.ctx, agent, after, n)
}
