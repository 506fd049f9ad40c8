package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// group creates a group with members and lets a second pass.
func (n *network) group(id, owner string, members ...string) {
	n.Helper()
	c := social.Circle{ID: id, Owner: owner, Name: "The " + id, CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	socialtest.PutCircle(n, n.store, c, members, time.Time{})
	n.advance(time.Second)
}

// scrollCircle reads all pages of a circle.
func (n *network) scrollCircle(r engine.CircleRequest) (ids []string) {
	n.Helper()
	for {
		page, err := n.timelines.Circle(n.Context(), r)
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

// TestThePageOfAGroup checks that the page of a group has its posts alone, is filled up, and leaves
// out what its reader has muted.
func TestThePageOfAGroup(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.group("g", "ann", "bob", "reader")
	n.group("h", "ann", "reader")
	var want []string
	for range 6 {
		mine := n.post("ann", social.Audience{Circles: []string{"g"}})
		want = append([]string{mine.ID}, want...)
		for range 2 {
			n.post("bob", social.Audience{Circles: []string{"g"}})
			n.post("ann", social.Audience{Public: true, Circles: []string{"h"}})
			n.advance(time.Second)
		}
	}
	r := engine.CircleRequest{Reader: "reader", Circle: "g", Limit: 4}
	assert.Len(t, n.scrollCircle(r), 18)
	n.profile = feed.Profile{MutedAuthors: []string{"bob"}}
	page, err := n.timelines.Circle(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, want[:4], postIDs(page), "the page is filled up")
	assert.Equal(t, []social.CircleRef{{ID: "g", Name: "The g"}}, page.Posts[0].Circles)
	assert.Equal(t, want, n.scrollCircle(r))
	r.Grid = true
	assert.Equal(t, want, n.scrollCircle(r))

	require.NoError(t, n.store.RemovePost(t.Context(), want[0], "", "g", ""))
	assert.Equal(t, want[1:], n.scrollCircle(r))
	for reader, want := range map[string]error{"stranger": feed.ErrNotFound, social.Server: feed.ErrBadID} {
		_, err := n.timelines.Circle(t.Context(), engine.CircleRequest{Reader: reader, Circle: "g", Limit: 1})
		require.ErrorIs(t, err, want)
	}
	_, err = n.timelines.Circle(t.Context(), engine.CircleRequest{Reader: "reader", Circle: "g", Limit: 101})
	require.ErrorIs(t, err, feed.ErrBadLimit)
}
