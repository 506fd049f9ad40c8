package timeline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// group creates a group with members and lets a second pass.
func group(n *enginetest.Network, id, owner string, members ...string) {
	n.Helper()
	c := social.Circle{ID: id, Owner: owner, Name: "The " + id, CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	socialtest.PutCircle(n, n.Store, c, members, time.Time{})
	n.Advance(time.Second)
}

// scrollCircle reads all pages of a circle.
func scrollCircle(n *enginetest.Network, r timeline.CircleRequest) (ids []string) {
	n.Helper()
	for {
		page, err := n.Timelines.Circle(n.Context(), r)
		require.NoError(n, err)
		for _, c := range page.Posts {
			ids = append(ids, c.ID)
		}
		r.Below = page.Next
		if !page.HasMore {
			return ids
		}
	}
}

// TestGroupPage checks that the page of a group has its posts alone, is filled up, and leaves
// out what its reader has muted.
func TestGroupPage(t *testing.T) {
	t.Parallel()
	n := enginetest.NewNetwork(t)
	group(n, "g", "ann", "bob", "reader")
	group(n, "h", "ann", "reader")
	var want []string
	for range 6 {
		mine := n.Post("ann", social.Audience{Circles: []string{"g"}})
		want = append([]string{mine.ID}, want...)
		for range 2 {
			n.Post("bob", social.Audience{Circles: []string{"g"}})
			n.Post("ann", social.Audience{Public: true, Circles: []string{"h"}})
			n.Advance(time.Second)
		}
	}
	r := timeline.CircleRequest{Reader: "reader", Circle: "g", Limit: 4}
	assert.Len(t, scrollCircle(n, r), 18)
	n.Reader = feed.Profile{MutedAuthors: []string{"bob"}}
	page, err := n.Timelines.Circle(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, want[:4], enginetest.PostIDs(page), "the page is filled up")
	assert.Equal(t, []social.CircleRef{{ID: "g", Name: "The g"}}, page.Posts[0].Circles)
	assert.Equal(t, want, scrollCircle(n, r))

	require.NoError(t, n.Store.RemovePost(t.Context(), want[0], "", "g", ""))
	assert.Equal(t, want[1:], scrollCircle(n, r))
	for reader, want := range map[string]error{"stranger": feed.ErrNotFound, social.Server: feed.ErrBadID} {
		_, err := n.Timelines.Circle(t.Context(), timeline.CircleRequest{Reader: reader, Circle: "g", Limit: 1})
		require.ErrorIs(t, err, want)
	}
	_, err = n.Timelines.Circle(t.Context(), timeline.CircleRequest{Reader: "reader", Circle: "g", Limit: 101})
	require.ErrorIs(t, err, feed.ErrBadLimit)
}
