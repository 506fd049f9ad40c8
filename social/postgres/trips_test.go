package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// TestRoundTrips checks the budget of writes of posts, and of likes: round trips, and statements with
// the begin and the commit. The card that each returns is read with the commit, or by the statement
// that decides about a like.
func TestRoundTrips(t *testing.T) {
	s, tr := openTraced(t)
	ctx, all := t.Context(), social.Audience{Public: true}
	for _, circle := range []social.Circle{{ID: "c", Owner: "a"}, {ID: "g", Owner: "b", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}} {
		_, err := s.PutCircle(ctx, circle, []string{"a", "b"}, time.Time{})
		require.NoError(t, err)
	}
	post := func(p social.Post, key string) social.Written {
		p.Author, p.Caption = "a", "x"
		w, _, err := s.CreatePost(ctx, p, social.Creation{Key: key})
		require.NoError(t, err)
		require.True(t, w.Card.Visible)
		return w
	}
	root := post(social.Post{Audience: all}, "")
	reply := post(social.Post{ReplyTo: root.ID}, "")
	n := 0
	edit := func(id string) {
		n++
		caption := fmt.Sprint("edited ", n)
		w, err := s.EditPost(ctx, id, "a", social.Edit{Caption: &caption}, time.Time{})
		require.NoError(t, err)
		require.True(t, w.Card.Visible)
	}
	reacts := func(id string, do func(context.Context, string, string) (social.Card, bool, error)) {
		card, _, err := do(ctx, "b", id)
		require.NoError(t, err)
		require.True(t, card.Visible)
	}
	for _, w := range []struct {
		name        string
		do, undo    func()
		trips, sent int64
	}{
		{name: "post", trips: 2, sent: 8, do: func() { post(social.Post{Audience: all}, "") }},
		{name: "post with a key", trips: 3, sent: 9, do: func() { n++; post(social.Post{Audience: all}, fmt.Sprint("k", n)) }},
		{name: "post again with its key", trips: 5, sent: 8, do: func() { post(social.Post{Audience: all}, "again") }},
		{name: "post to a circle and a group", trips: 4, sent: 13, do: func() { post(social.Post{Audience: social.Audience{Circles: []string{"c", "g"}}}, "") }},
		{name: "reply", trips: 4, sent: 12, do: func() { post(social.Post{ReplyTo: root.ID}, "") }},
		{name: "edit", trips: 3, sent: 8, do: func() { edit(root.ID) }},
		{name: "edit of a reply", trips: 4, sent: 9, do: func() { edit(reply.ID) }},
		{name: "like", trips: 5, sent: 14, do: func() { reacts(root.ID, s.Like) }, undo: func() { reacts(root.ID, s.Unlike) }},
		{name: "like again", trips: 5, sent: 7, do: func() { reacts(root.ID, s.Like) }},
		{name: "like of a reply", trips: 6, sent: 14, do: func() { reacts(reply.ID, s.Like) }, undo: func() { reacts(reply.ID, s.Unlike) }},
		{name: "unlike", trips: 5, sent: 11, do: func() { reacts(root.ID, s.Unlike) }, undo: func() { reacts(root.ID, s.Like) }},
	} {
		for range 2 { // the first time, the driver prepares statements
			if w.undo != nil {
				w.undo()
			}
			tr.trips.Store(0)
			tr.sent.Store(0)
			w.do()
		}
		assert.Equal(t, [2]int64{w.trips, w.sent}, [2]int64{tr.trips.Load(), tr.sent.Load()}, "round trips and statements: %s", w.name)
	}
}
