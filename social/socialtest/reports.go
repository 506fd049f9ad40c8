package socialtest

import (
	"fmt"
	"slices"

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
		ID: p.ID, Author: p.Author, Origin: p.Origin, Caption: fmt.Sprintf("reported %d", w.n), CreatedAt: p.CreatedAt,
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
	got, created, err := w.CreatePost(w.ctx, q, social.Creation{At: w.now})
	require.NoError(w, err)
	if !created { // a change that was made here is stamped later
		return
	}
	w.m.reported(&got, narrows)
	if narrows {
		w.widensNothing(p, &got)
	}
}

// reported replaces a post by one that an event has reported.
func (m *model) reported(p *social.Post, narrows bool) {
	m.posts[p.ID] = p
	for pair := range m.ended {
		if pair[0] == p.ID && !narrows {
			delete(m.ended, pair)
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
