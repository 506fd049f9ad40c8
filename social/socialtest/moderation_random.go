package socialtest

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// everything is the key of what moderators have hidden, in model.removed.
const everything = "*"

// doModerate has moderators hold, remove or restore a post.
func (w *walk) doModerate() {
	p := w.any()
	if p == nil {
		return
	}
	action := []social.Action{social.ActionHold, social.ActionRemove, social.ActionRestore, social.ActionRestore}[w.r.IntN(4)]
	reason := fmt.Sprintf("moderated %d", w.n)
	changed, err := w.Moderate(w.ctx, social.Moderate{Object: social.Object{Kind: social.ObjectPost, ID: p.ID}, Action: action, Reason: reason, By: "admin"})
	if p.Deleted || p.IsReply() && w.m.posts[p.Root].Deleted {
		require.ErrorIs(w, err, feed.ErrNotFound)
		return
	}
	require.NoError(w, err)
	was, hidden := w.m.hidden[p.ID]
	held := action == social.ActionHold
	got := w.row(p.ID)
	switch {
	case action == social.ActionRestore && hidden:
		require.True(w, changed)
		delete(w.m.hidden, p.ID)
		delete(w.m.removed[p.ID], everything)
		require.Equal(w, was.removed, got.Removed)
		require.Equal(w, was.audience, got.Audience)
	case action == social.ActionRestore || hidden && was.held == held:
		require.False(w, changed)
		require.Equal(w, p.Audience, got.Audience)
		require.Equal(w, p.Removed, got.Removed)
		return
	default:
		require.True(w, changed)
		if !hidden {
			was = modelHidden{audience: p.Audience, removed: p.Removed}
		}
		was.held = held
		w.m.hidden[p.ID] = was
		if w.m.removed[p.ID] == nil {
			w.m.removed[p.ID] = map[string]social.Removal{}
		}
		w.m.removed[p.ID][everything] = social.Removal{By: social.ByAdmin, Reason: reason, At: w.clock().Unix(), Held: held}
		require.True(w, got.Removed)
		require.Equal(w, social.Audience{}, got.Audience)
	}
	w.m.posts[p.ID] = &got
}

// narrowsHidden narrows what a hidden post has when it is restored to what another report of it says, and reports
// whether the post is hidden.
func (m *model) narrowsHidden(q *social.Post) bool {
	was, hidden := m.hidden[q.ID]
	if !hidden {
		return false
	}
	reach := min(was.audience.Reach(), q.Audience.Reach())
	circles := slices.DeleteFunc(was.audience.Circles, func(id string) bool { return !slices.Contains(q.Audience.Circles, id) })
	was.audience = reach.Audience()
	if len(circles) > 0 {
		was.audience.Circles = circles
	}
	m.hidden[q.ID] = was
	return true
}
