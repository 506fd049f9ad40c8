package socialtest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// doReport has another system report a post again, with another audience and other rights. The time
// of a report is compared with joinings, so all clocks must agree.
func (w *walk) doReport() {
	p := w.any()
	if w.skewed || p == nil || p.Deleted || p.IsReply() {
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
	w.pass(time.Millisecond) // later than the changes made so far
	q.CreatedAt = w.now.Unix()
	got, created, err := w.CreatePost(w.ctx, q, social.Creation{At: w.now})
	require.NoError(w, err)
	require.True(w, created)
	w.m.reported(&got.Post, w.now, narrows || w.m.narrowsHidden(&q))
	if narrows {
		w.widensNothing(p, &got.Post)
	}
}

// reported replaces a post by one that an event has reported at a time.
func (m *model) reported(p *social.Post, at time.Time, narrows bool) {
	before := m.posts[p.ID]
	m.posts[p.ID] = p
	m.refers(m.nobody, p, at, p.Mentions, before.Mentions, narrows)
	m.refers(m.ended, p, at, p.Grants, before.Grants, narrows)
	if narrows {
		return // it still addresses the same circles
	}
	m.addPost(p)
	for _, c := range m.circles {
		maps.DeleteFunc(c.before, func(pair [2]string, _ bool) bool { return pair[1] == p.ID })
	}
	for _, id := range p.Audience.Circles {
		delete(m.ended, [2]string{p.ID, id})
		c := m.circles[id]
		if c != nil && c.owner != p.Author {
			m.ended[[2]string{p.ID, id}] = true // an event does not post to a group that was made here
		}
	}
}

// refers records which mentions or grants of a reported post count for nobody: those of agents who
// were erased, unless the post and the event are surely later. A post that keeps its replies keeps
// the earlier ones as they were.
func (m *model) refers(ended map[[2]string]bool, p *social.Post, at time.Time, agents, before []string, narrows bool) {
	created := time.Unix(p.CreatedAt+1, 0).Add(-time.Microsecond)
	if created.After(at) {
		created = at
	}
	for _, agent := range agents {
		if narrows && slices.Contains(before, agent) {
			continue
		}
		erased, was := m.erasedAt[agent]
		ended[[2]string{p.ID, agent}] = was && !erased.Before(created.Add(-feed.MaxClockSkew))
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
