package server

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// rules is the model of who may see which post. It restates the rules of docs/timelines.md for the
// actions so far, without using code under test.
type rules struct {
	follows, blocks map[[2]string]bool
	mutes           map[[2]string]int64 // agent, author: when the mute ends, in seconds; 0 for never
	hushed          map[[2]string]int64 // agent, circle: a muted group, in the same way
	words           map[[2]string]int64 // agent, muted word
	likes           map[[2]string]bool  // agent, id of the post
	notes           []modelNote
	suspended       string              // an agent; "" for none
	unrecommended   map[string]bool     // authors who do not want to be recommended
	unheard         map[[2]string]bool  // agent, owner: muted invitations
	refused         map[[2]string]int64 // agent, owner, or agent and owner/circle: when they declined, or left
	circles         map[string]*modelCircle
	posts           []*modelPost     // oldest first
	erasedAt        map[string]int64 // the turn of each agent's last erasure
	turn            int64            // counts the actions
	now             int64            // seconds, of the server that is called
}

type modelCircle struct {
	id, owner string
	group     bool
	all       bool // members also see posts from before they joined
	ownerOnly bool // only the owner may post
	until     int64
	over      bool             // deleted
	members   map[string]int64 // turn of joining
	order     []string         // of joining
	invited   map[string]bool
}

type modelPost struct {
	id, author        string
	at                int64 // turn
	created           int64 // seconds, of the server that was called: its place in lists
	public, followers bool
	wasPublic         bool           // before it was reported again
	circles           []*modelCircle // as of the creation of the post; a recreated circle is a different one
	circled           bool           // it was addressed to circles when it was created, or reported again
	mentions          []string
	reply             string
	root              *modelPost
	gone              bool
	removed           bool                  // by others, from everywhere: only the author sees it
	hidden            *modelHidden          // by moderators; nil if it is not
	without           map[*modelCircle]bool // groups that it was removed from
	caption           string
}

// apart reports whether either of two agents blocks the other.
func (r *rules) apart(a, b string) bool {
	return r.blocks[[2]string{a, b}] || r.blocks[[2]string{b, a}]
}

// reads reports whether a post is addressed to an agent as a member of the circle.
func (c *modelCircle) reads(agent string, p *modelPost) bool {
	since, in := c.members[agent]
	return in && !c.over && (c.group && (c.all || p.at > since) || !c.group && c.owner == p.author)
}

// takes reports whether an author may currently address a post to the circle.
func (r *rules) takes(c *modelCircle, author string) bool {
	_, in := c.members[author]
	return (c.owner == author || c.group && in && !c.ownerOnly) && (c.until == 0 || r.now < c.until)
}

func (p *modelPost) addressed(reader string) bool {
	return slices.ContainsFunc(p.circles, func(c *modelCircle) bool { return !p.without[c] && c.reads(reader, p) })
}

// heard reports whether a post is addressed to a reader by a circle that they have not muted. Only
// groups can be muted.
func (r *rules) heard(reader string, p *modelPost) bool {
	return slices.ContainsFunc(p.circles, func(c *modelCircle) bool {
		return !p.without[c] && c.reads(reader, p) && !(c.group && r.muted(r.hushed, reader, c.id))
	})
}

// over reports whether an event has ended.
func (r *rules) over(c *modelCircle) bool { return c.until != 0 && r.now >= c.until }

// refuses reports whether an agent has declined an invitation by the owner, or left the circle. No
// run lasts for a month.
func (r *rules) refuses(agent string, c *modelCircle) bool {
	return r.refused[[2]string{agent, c.owner}] != 0 || r.refused[[2]string{agent, c.owner + "/" + c.id}] != 0
}

// due reports whether a post is in an agent's timeline, regardless of mutes.
func (r *rules) due(reader string, p *modelPost) bool {
	switch {
	case p.gone || p.root != nil || reader == "" || r.apart(reader, p.author):
		return false
	case p.removed:
		return p.author == reader
	case p.author == reader || slices.Contains(p.mentions, reader):
		return true
	}
	return r.followed(reader, p)
}

// followed reports whether a post reaches an agent by who or what they follow or have joined.
func (r *rules) followed(reader string, p *modelPost) bool {
	if r.heard(reader, p) || p.public && r.follows[[2]string{reader, "@server"}] {
		return true
	}
	return (p.public || p.followers) && r.follows[[2]string{reader, p.author}]
}

// sees reports whether a reader, "" for a guest, may see a post.
func (r *rules) sees(reader string, p *modelPost) bool {
	switch {
	case p.gone || r.apart(reader, p.author):
		return false
	case p.removed:
		return p.author == reader
	case p.root != nil:
		return reader != guest && reader == p.author || r.hears(reader, p.rootFor())
	}
	return p.public || p.addressed(reader) || r.due(reader, p)
}

// hears reports whether a reader sees what others reply to a post. Those do who can see it now as a
// part of its audience; whom a post to circles mentions, who has left the group of their own post,
// and the author of a removed post see the post alone.
func (r *rules) hears(reader string, p *modelPost) bool {
	switch {
	case !r.sees(reader, p), p.removed:
		return false
	case p.public, !p.circled, p.addressed(reader):
		return true
	case p.author == reader:
		return p.followers || slices.ContainsFunc(p.circles, func(c *modelCircle) bool { return !c.group && c.owner == reader })
	}
	return p.followers && r.follows[[2]string{reader, p.author}]
}

// answers reports whether a reader who sees a post may reply to it.
func (r *rules) answers(reader string, p *modelPost) bool {
	if p.removed {
		return false
	}
	if p.root != nil {
		p = p.rootFor()
	}
	switch p.reply {
	case "followers":
		return r.hears(reader, p) && (p.author == reader || r.follows[[2]string{reader, p.author}])
	case "audience":
		return r.hears(reader, p) && (p.author == reader || p.addressed(reader))
	}
	return p.reply != "none" && r.hears(reader, p)
}

// report is what another system reports of a post again.
type report struct {
	public, followers bool
	circles           []*modelCircle // existing ones
	mentions          []string
}

// reported replaces the audience of a post. While others have replied to it, it only narrows.
func (r *rules) reported(p *modelPost, next report) {
	circles := slices.Clone(next.circles)
	for i, c := range circles {
		if c.owner != p.author { // an event does not post to circles of others that were made here
			circles[i] = &modelCircle{id: c.id, over: true}
		}
	}
	p.wasPublic = p.wasPublic || p.public
	if p.public || r.comments(p) == 0 {
		p.public, p.followers, p.circles, p.circled, p.mentions = next.public, next.followers, circles, len(circles) > 0, next.mentions
		return
	}
	both := slices.DeleteFunc(slices.Clone(p.circles), func(c *modelCircle) bool {
		return !slices.ContainsFunc(circles, func(other *modelCircle) bool { return other.id == c.id })
	})
	follows := p.followers && next.followers
	instead := next.followers && !p.followers && len(both) == 0 // of a circle, or of mentions
	if next.public || instead {
		return
	}
	p.followers, p.circles = follows, both
	if p.circled {
		p.mentions = next.mentions
		return
	}
	p.mentions = slices.DeleteFunc(slices.Clone(p.mentions), func(m string) bool { return !slices.Contains(next.mentions, m) })
}

// muted reports whether a reader's mute of something has not ended.
func (r *rules) muted(list map[[2]string]int64, reader, what string) bool {
	end, there := list[[2]string{reader, what}]
	return there && (end == 0 || r.now < end)
}

// spellings are the words that people mute, and how captions have them.
var spellings = map[string]string{"red": "Red!", "so green": "so GREEN,", "BLUE": "#blue"}

// hides reports whether a reader has muted the author of a post, or a word of it, and is not its author.
func (r *rules) hides(reader string, p *modelPost) bool {
	if reader == p.author {
		return false
	}
	for word, spelt := range spellings {
		if strings.Contains(p.caption, spelt) && r.muted(r.words, reader, word) {
			return true
		}
	}
	return r.muted(r.mutes, reader, p.author)
}

func (r *rules) list(fits func(*modelPost) bool) []string {
	found := []*modelPost{}
	for _, p := range r.posts {
		if fits(p) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *modelPost) int {
		return cmp.Or(cmp.Compare(b.created, a.created), strings.Compare(b.id, a.id))
	})
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.id
	}
	return ids
}

func (r *rules) timeline(reader string) []string {
	return r.list(func(p *modelPost) bool { return r.due(reader, p) && !r.hides(reader, p) })
}

// news returns the posts that a badge and a stream count.
func (r *rules) news(reader string) []string {
	return r.list(func(p *modelPost) bool {
		return r.due(reader, p) && p.author != reader && !r.hides(reader, p)
	})
}

// counted returns how many of these posts, newest first, a stream counts: of each 20 at most five that
// only mention the reader, and two by one author.
func (r *rules) counted(reader string, news []string) int {
	var counted []string // their authors; "" for posts that do not only mention the reader
	for _, id := range news {
		by, last := "", counted[max(0, len(counted)-20):]
		at := slices.IndexFunc(r.posts, func(p *modelPost) bool { return p.id == id })
		p := r.posts[at]
		if !r.followed(reader, p) {
			by = p.author
		}
		same, strangers := 0, 0
		for _, other := range last {
			if other != "" {
				strangers++
			}
			if other == by {
				same++
			}
		}
		if by == "" || strangers < 5 && same < 2 {
			counted = append(counted, by)
		}
	}
	return len(counted)
}

// feeds returns the posts that home and for-you show sooner or later.
func (r *rules) feeds(reader string, home bool) []string {
	return r.list(func(p *modelPost) bool { return r.feedsOne(reader, home, p, p.public) })
}

// mayFeed adds those that were public: a feed of a moment ago may still have them, for who sees
// them.
func (r *rules) mayFeed(reader string, home bool) []string {
	return r.list(func(p *modelPost) bool { return r.feedsOne(reader, home, p, p.public || p.wasPublic) })
}

func (r *rules) feedsOne(reader string, home bool, p *modelPost, public bool) bool {
	wanted := p.author != reader && p.root == nil && !r.hides(reader, p) && p.author != r.suspended
	if r.unrecommended[p.author] {
		return wanted && home && r.due(reader, p) && r.subscribed(reader, p)
	}
	return wanted && (public && r.sees(reader, p) || home && r.due(reader, p))
}

// subscribed reports whether an agent follows the author of a post, or is in a group that it addresses.
func (r *rules) subscribed(reader string, p *modelPost) bool {
	return r.heard(reader, p) || (p.public || p.followers) && r.follows[[2]string{reader, p.author}]
}

// page returns the posts on an author's page, as a reader gets it.
func (r *rules) page(reader, author string) []string {
	return r.list(func(p *modelPost) bool {
		return p.author == author && r.sees(reader, p) && (p.root == nil || p.root.public || reader == author)
	})
}

// under returns the replies to a post that a reader sees.
func (r *rules) under(reader string, root *modelPost) []string {
	return r.list(func(p *modelPost) bool { return p.root == root && r.sees(reader, p) && !r.hides(reader, p) })
}

func (r *rules) comments(root *modelPost) int {
	return len(r.list(func(p *modelPost) bool { return p.root == root && !p.gone && !p.removed }))
}

func (r *rules) block(agent, other string) {
	r.blocks[[2]string{agent, other}] = true
	delete(r.follows, [2]string{agent, other})
	delete(r.follows, [2]string{other, agent})
	for _, c := range r.circles {
		for _, end := range [][2]string{{agent, other}, {other, agent}} {
			if c.owner == end[0] {
				delete(c.members, end[1])
				delete(c.invited, end[1])
			}
		}
	}
}

func (r *rules) join(c *modelCircle, agent string) {
	if delete(c.invited, agent); c.members[agent] == 0 {
		c.members[agent] = r.turn
		c.order = append(slices.DeleteFunc(c.order, func(one string) bool { return one == agent }), agent)
	}
}

func (r *rules) drop(c *modelCircle) {
	c.over = true
	delete(r.circles, c.id)
}

func (r *rules) remove(p *modelPost) {
	p.gone = true
	for _, other := range r.posts {
		if other.root == p {
			other.gone = true
		}
	}
}

func (r *rules) erase(agent string) {
	r.erasedAt[agent] = r.turn
	delete(r.unrecommended, agent)
	for _, p := range r.posts {
		if p.author == agent {
			r.remove(p)
		}
		p.mentions = slices.DeleteFunc(p.mentions, func(m string) bool { return m == agent })
	}
	for _, made := range []map[[2]string]bool{r.follows, r.blocks, r.unheard} {
		maps.DeleteFunc(made, func(pair [2]string, _ bool) bool { return pair[0] == agent })
	}
	for _, made := range []map[[2]string]int64{r.mutes, r.hushed, r.words} {
		maps.DeleteFunc(made, func(pair [2]string, _ int64) bool { return pair[0] == agent })
	}
	for pair := range r.follows {
		if pair[1] == agent {
			delete(r.follows, pair)
		}
	}
	for _, c := range r.circles {
		delete(c.members, agent)
		if delete(c.invited, agent); c.owner == agent {
			r.inheritGroup(c)
		}
	}
	maps.DeleteFunc(r.likes, func(pair [2]string, _ bool) bool { return pair[0] == agent })
	for pair := range r.refused {
		if owner, _, _ := strings.Cut(pair[1], "/"); pair[0] == agent || owner == agent {
			delete(r.refused, pair)
		}
	}
}

// inheritGroup makes the member who has been in a group longest its owner, after its owner was
// erased.
func (r *rules) inheritGroup(c *modelCircle) {
	for _, agent := range c.order {
		if _, in := c.members[agent]; c.group && in {
			r.own(c, agent)
			return
		}
	}
	r.drop(c)
}

// own gives a group to an owner. Whom a block separates from the owner leaves it.
func (r *rules) own(c *modelCircle, owner string) {
	c.owner = owner
	maps.DeleteFunc(c.members, func(agent string, _ int64) bool { return r.apart(agent, owner) })
	maps.DeleteFunc(c.invited, func(agent string, _ bool) bool { return r.apart(agent, owner) })
}

// kind describes a post in the report of a failure.
func (p *modelPost) kind() string {
	var b strings.Builder
	for name, is := range map[string]bool{"public ": p.public, "followers ": p.followers, "reply ": p.root != nil, "gone ": p.gone} {
		if is {
			b.WriteString(name)
		}
	}
	for _, c := range p.circles {
		b.WriteString(c.id + " ")
	}
	return b.String()
}
