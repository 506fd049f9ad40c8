package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// top returns the root of a reply, or the post itself.
func (p *modelPost) top() *modelPost {
	if p.root != nil {
		return p.root
	}
	return p
}

// stands reports whether a post addresses a circle that still exists.
func (p *modelPost) stands(c *modelCircle) bool {
	return !c.over && (c.group || c.owner == p.author) && !p.without[c]
}

// removable returns the groups that somebody else than its author may remove a post from; nil for
// the thread of a reply means that it is removed from there.
func (r *rules) removable(who string, p *modelPost) (from []*modelCircle, may bool) {
	root := p.top()
	switch {
	case p.gone:
		return nil, false
	case p.root != nil && who == root.author:
		return nil, true
	case p.root != nil && (root.public || root.followers):
		return nil, false
	}
	for _, c := range root.circles {
		if c.group && !c.over && c.owner == who && (p.root == nil || !root.without[c]) {
			from = append(from, c)
		}
	}
	return from, len(from) > 0
}

// takeAway removes a post from groups, or a reply from its thread.
func (r *rules) takeAway(p *modelPost, from []*modelCircle) {
	if p.without == nil {
		p.without = map[*modelCircle]bool{}
	}
	for _, c := range from {
		p.without[c] = true
	}
	root := p.top()
	left := slices.ContainsFunc(root.circles, func(c *modelCircle) bool { return root.stands(c) && !p.without[c] })
	everywhere := from == nil || !root.public && !root.followers && !left
	if p.hidden != nil {
		p.hidden.removed = p.hidden.removed || everywhere
	}
	p.removed = p.removed || everywhere
}

// rootFor returns the root of a reply as those see it who read the reply.
func (p *modelPost) rootFor() *modelPost {
	root := *p.root
	root.without = maps.Clone(p.without)
	for c := range p.root.without {
		if root.without == nil {
			root.without = map[*modelCircle]bool{}
		}
		root.without[c] = true
	}
	return &root
}

// named returns the circles that an entry names to a reader.
func (r *rules) named(reader string, p *modelPost) []string {
	ids := []string{}
	for _, c := range p.circles {
		through := c.group && c.reads(reader, p)
		if p.stands(c) && (through || p.author == reader && (c.group || c.owner == reader)) {
			ids = append(ids, c.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// groupPage returns the posts that a reader sees through a circle.
func (r *rules) groupPage(reader string, c *modelCircle) []string {
	return r.list(func(p *modelPost) bool {
		through := c.group && c.reads(reader, p) || !c.group && p.author == reader
		return slices.Contains(p.circles, c) && p.stands(c) && through && r.sees(reader, p) && !r.hides(reader, p)
	})
}

// remover returns somebody who may remove a post, if there is anybody, or its author.
func (p *people) remover(x *modelPost) string {
	root := x.top()
	if x.root != nil && root.author != "" && p.rnd.IntN(2) == 0 {
		return root.author
	}
	for _, c := range root.circles {
		if c.group && !c.over && p.rnd.IntN(3) > 0 {
			return c.owner
		}
	}
	return p.agentFor(x)
}

// narrowReplies has somebody, mostly the author, change who may reply to a post.
func (p *people) narrowReplies() {
	x := p.anyPost()
	who, right := p.agentFor(x), []string{"public", "followers", "audience", "none"}[p.rnd.IntN(4)]
	status := p.mayChange(who, x)
	asked := right
	if right == "audience" && len(x.circles) == 0 { // which is the same
		right = "public"
	}
	if x.reply == "audience" && len(x.circles) == 0 {
		x.reply = "public"
	}
	if status == 200 && (x.root != nil || !social.Right(right).Narrows(social.Right(x.reply))) {
		status = 422
	}
	p.mustCall(who, "PATCH", "/v1/posts/"+x.id, fmt.Sprintf(`{"reply":%q}`, asked), status)
	if status == 200 {
		x.reply = right
	}
}

// checkGroupsOf checks what an entry says about the groups of a post.
func (p *people) checkGroupsOf(reader string, x *modelPost, body string) {
	p.Helper()
	var post struct {
		Data struct {
			InFeed struct {
				Circles []struct{ ID string }
				Removed []struct{ By string }
			} `json:"in_feed"`
		}
	}
	require.NoError(p, json.Unmarshal([]byte(body), &post))
	ids := []string{}
	for _, c := range post.Data.InFeed.Circles {
		ids = append(ids, c.ID)
	}
	require.Equal(p, p.named(reader, x), ids, "%s reads %s", reader, x.id)
	marked := reader == x.author && (x.removed || len(x.without) > 0)
	require.Equal(p, marked, len(post.Data.InFeed.Removed) > 0, "%s reads %s, removed: %v", reader, x.id, x.removed)
}

// groupPages reads the pages of all circles.
func (p *people) groupPages(reader string) {
	p.Helper()
	for id, c := range p.circles {
		path := "/v1/circles/" + id + "/posts?limit=100"
		switch role := c.roleOf(reader); role {
		case "owner", "member":
			p.checkList(reader, path, p.groupPage(reader, c))
			p.checkList(reader, path+"&view=grid", p.groupPage(reader, c))
		default:
			require.Equal(p, either(role == "", 404, 403), p.call(reader, "GET", path, "").status, "%s reads %s", reader, path)
		}
	}
}
