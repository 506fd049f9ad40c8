package socialtest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// doReport has another system report a post again, with another audience and other rights.
func (w *walk) doReport() {
	p := w.any()
	if p == nil || p.Deleted || p.IsReply() {
		return
	}
	q := social.Post{
		ID: p.ID, Author: p.Author, Origin: p.Origin, Caption: fmt.Sprintf("reported %d", w.n),
		Audience: social.Audience{Public: w.r.IntN(3) == 0, Followers: w.r.IntN(2) == 0}, Reply: p.Reply, React: p.React,
	}
	for range w.r.IntN(3) {
		q.Mentions = append(q.Mentions, w.agent())
	}
	for i := range 4 {
		if w.r.IntN(4) == 0 {
			q.Audience.Circles = append(q.Audience.Circles, fmt.Sprintf("c%d", i))
		}
	}
	if q.Remote() && w.r.IntN(2) == 0 {
		q.Grants = []string{w.agent()}
	}
	answered, _ := w.m.commentsOf(p.ID)
	narrows := answered > 0 && !p.Audience.Public
	if narrows && w.m.late(p.ID) { // who joined in the second of the post may see it now
		return
	}
	w.pass(time.Millisecond) // later than the changes made so far
	q.CreatedAt = w.now.Unix()
	got, created, err := w.CreatePost(w.ctx, q, social.Creation{At: w.now})
	require.NoError(w, err)
	require.True(w, created)
	w.m.reported(&got, narrows)
	if narrows {
		w.widensNothing(p, &got)
	}
}

// late reports whether an agent has joined a group after a post to it, which they do not see.
func (m *model) late(post string) bool {
	for _, c := range m.circles {
		for pair := range c.before {
			if pair[1] == post {
				return true
			}
		}
	}
	return false
}

// reported replaces a post by one that an event has reported.
func (m *model) reported(p *social.Post, narrows bool) {
	m.posts[p.ID] = p
	if !narrows {
		maps.DeleteFunc(m.ended, func(pair [2]string, _ bool) bool { return pair[0] == p.ID })
		for _, c := range m.circles {
			maps.DeleteFunc(c.before, func(pair [2]string, _ bool) bool { return pair[1] == p.ID })
		}
	}
	for _, id := range p.Audience.Circles {
		if c := m.circles[id]; c != nil && !narrows && c.owner != p.Author {
			m.ended[[2]string{p.ID, id}] = true // an event does not post to a group that was made here
		}
	}
}

// widensNothing checks that nobody sees the replies to a post who did not see them before.
func (w *walk) widensNothing(before, after *social.Post) {
	for _, agent := range append([]string{"", "stranger"}, w.agents...) {
		if w.m.decide(agent, after).Replies {
			require.True(w, w.m.decide(agent, before).Replies, "%s sees the replies to %+v, reported again as %+v", agent, *before, *after)
		}
	}
	require.Subset(w, append(slices.Clone(before.Audience.Circles), ""), append(slices.Clone(after.Audience.Circles), ""))
}
