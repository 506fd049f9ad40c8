package server

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// modelNote is an act that notifies an agent, as long as it stands.
type modelNote struct {
	kind, to, by string
	post, reply  *modelPost
	circle       string
	at           int64 // turn
}

// note records an act that notifies an agent.
func (r *rules) note(n modelNote) {
	if n.to != n.by && n.to != "@server" {
		n.at = r.turn
		r.notes = append(r.notes, n)
	}
}

// notePost records what a new post notifies of.
func (r *rules) notePost(p, answered *modelPost, mentioned []string) {
	if answered != nil {
		r.note(modelNote{kind: "reply", to: answered.author, by: p.author, post: answered, reply: p})
	}
	for _, agent := range mentioned {
		if answered == nil || answered.author != agent {
			r.note(modelNote{kind: "mention", to: agent, by: p.author, post: p})
		}
	}
}

// tells reports whether an agent may be told of a post: they see it, and not through muted groups alone.
func (r *rules) tells(agent string, p *modelPost) bool {
	root := p
	if p.root != nil {
		root = p.rootFor()
	}
	otherwise := root.public || root.followers && (root.author == agent || r.follows[[2]string{agent, root.author}])
	return r.sees(agent, p) && (otherwise || !root.addressed(agent) || r.heard(agent, root))
}

// stands reports whether an act still stands, and its agent may know of it.
func (r *rules) stands(n modelNote) bool {
	if n.at <= r.erasedAt[n.to] || n.at <= r.erasedAt[n.by] || r.apart(n.to, n.by) || r.muted(r.mutes, n.to, n.by) {
		return false
	}
	c := r.circles[n.circle]
	switch n.kind {
	case "follow":
		return r.follows[[2]string{n.by, n.to}]
	case "like":
		return r.likes[[2]string{n.by, n.post.id}] && r.tells(n.to, n.post)
	case "reply":
		return r.tells(n.to, n.reply) && r.tells(n.to, n.post) && !r.hides(n.to, n.reply)
	case "mention":
		return slices.Contains(n.post.mentions, n.to) && r.tells(n.to, n.post) && !r.hides(n.to, n.post)
	case "invitation":
		return c != nil && c.owner == n.by && c.invited[n.to] && !r.over(c) && !r.unheard[[2]string{n.to, n.by}]
	}
	if c == nil || !c.group || c.owner != n.to || r.muted(r.hushed, n.to, n.circle) {
		return false
	}
	_, in := c.members[n.by]
	return in
}

// notices returns the actors of an agent's notifications by what these are about.
func (r *rules) notices(agent string) map[string][]string {
	found := map[string][]string{}
	for _, n := range r.notes {
		if n.to != agent || !r.stands(n) {
			continue
		}
		key := n.kind + " " + n.circle
		if n.post != nil {
			key += n.post.id
		}
		if !slices.Contains(found[key], n.by) {
			found[key] = append(found[key], n.by)
		}
	}
	return found
}

// likeOrNot likes a post, or takes a like back.
func (p *people) likeOrNot() {
	who, x := p.anyAgent(), p.anyPost()
	path, key := "/v1/posts/"+x.id+"/like", [2]string{who, x.id}
	if p.rnd.IntN(4) == 0 {
		p.mustCall(who, "DELETE", path, "", 200)
		delete(p.likes, key)
		return
	}
	status := either(p.sees(who, x), either(x.removed, 403, 200), 404)
	if p.mustCall(who, "PUT", path, "", status); status == 200 {
		if !p.likes[key] {
			p.note(modelNote{kind: "like", to: x.author, by: who, post: x})
		}
		p.likes[key] = true
	}
}

// checkLikes reads all pages of what a reader likes.
func (p *people) checkLikes(reader string) {
	p.Helper()
	want, got := []string{}, []string{}
	for _, x := range p.posts {
		if p.likes[[2]string{reader, x.id}] && p.sees(reader, x) {
			want = append(want, x.id)
		}
	}
	for cursor, more := "", true; more; {
		answer, ids := p.listOf(reader, "GET", fmt.Sprintf("/v1/agents/~/likes?limit=%d&cursor=%s", 1+p.rnd.IntN(9), url.QueryEscape(cursor)), "")
		require.Equal(p, 200, answer.status, answer.body)
		got = append(got, ids...)
		var page struct {
			Data struct {
				NextCursor *string `json:"next_cursor"`
				HasMore    bool    `json:"has_more"`
			}
		}
		require.NoError(p, json.Unmarshal([]byte(answer.body), &page))
		more = page.Data.HasMore
		if more {
			cursor = *page.Data.NextCursor
		}
	}
	require.ElementsMatch(p, want, got, "%s likes these", reader)
}

// checkNotifications reads all pages of a reader's notifications. They must be right at once, whatever jobs
// are pending. It returns the number of unread ones.
func (p *people) checkNotifications(reader string) int {
	p.Helper()
	want, got, unread := p.notices(reader), map[string]int{}, 0
	var last int64
	var page social.NoticePage
	for cursor := ""; ; cursor = *page.NextCursor {
		answer := p.call(reader, "GET", fmt.Sprintf("/v1/agents/~/notifications?limit=%d&cursor=%s", 1+p.rnd.IntN(9), url.QueryEscape(cursor)), "")
		require.Equal(p, 200, answer.status, answer.body)
		var data struct{ Data social.NoticePage }
		require.NoError(p, json.Unmarshal([]byte(answer.body), &data))
		page = data.Data
		for _, n := range page.Notices {
			require.True(p, last == 0 || n.Marker <= last, "they are in order")
			last = n.Marker
			key := string(n.Kind) + " "
			if n.Circle != nil {
				key += n.Circle.ID
			}
			if n.Post != nil {
				key += n.Post.ID
			}
			require.NotContains(p, got, key, "%s is told twice", reader)
			for _, actor := range n.Actors {
				require.Contains(p, want[key], actor.ID, "%s is told %s", reader, key)
			}
			require.Equal(p, n.Kind == social.NotifyReply, n.Reply != nil)
			got[key] = n.Count
			unread += either(n.Unread, 1, 0)
		}
		if page.NextCursor == nil {
			break
		}
	}
	counts := map[string]int{}
	for key, actors := range want {
		counts[key] = len(actors)
	}
	require.Equal(p, counts, got, "%s is told this", reader)
	require.Equal(p, min(unread, 99), page.Unread)
	if p.rnd.IntN(3) == 0 {
		p.mustCall(reader, "PUT", "/v1/agents/~/notifications/seen", fmt.Sprintf(`{"marker":%d}`, page.Marker), 200)
		unread = 0
	}
	return unread
}

// checkUnread checks the number that a stream has for a reader.
func (p *people) checkUnread(reader string, unread int) {
	p.Helper()
	watch, err := p.a.network.watcher.Watch(p.Context(), reader, nil)
	require.NoError(p, err)
	defer watch.Close()
	got, _ := watch.TakeUnread()
	require.Equal(p, min(unread, 99), got, "%s has unread notifications: %s", reader, strings.Join(p.steps[max(0, len(p.steps)-5):], "\n"))
}
