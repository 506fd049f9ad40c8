package socialtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// Damaged checks the errors of a backend for a post with an unreadable row, and that other posts
// are not affected. damage replaces the content of a post, bypassing the store.
func Damaged(t *testing.T, b Backend, damage func(post, content string)) {
	ctx := t.Context()
	for _, id := range []string{"post:good", "post:bad"} {
		p := social.Post{ID: id, Author: "a", CreatedAt: 1, Caption: "x", Audience: social.Audience{Public: true}}
		_, _, err := b.CreatePost(ctx, p, social.Creation{})
		require.NoError(t, err)
	}
	damage("post:bad", `{"caption":`)
	for what, err := range map[string]error{
		"read":   second(b.PostsByID(ctx, []string{"post:good", "post:bad"})),
		"edit":   second(b.EditPost(ctx, "post:bad", "a", social.Edit{Tags: &[]string{"t"}}, here)),
		"delete": b.DeletePost(ctx, "post:bad", "a", here),
	} {
		require.ErrorIs(t, err, social.ErrDamaged, what)
		require.NotErrorIs(t, err, social.ErrUnavailable, "%s: damaged data is not an outage", what)
		require.NotErrorIs(t, err, social.ErrUnavailable, what)
	}
	posts, err := b.PostsByID(ctx, []string{"post:good"})
	require.NoError(t, err)
	require.Equal(t, "x", posts[0].Caption)
}
