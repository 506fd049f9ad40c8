package socialtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// Damaged checks what a backend says of a post whose row cannot be read, and of the others.
// damage changes, behind the store's back, the content of the post to a text.
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
		require.NotErrorIs(t, err, social.ErrUnavailable, "%s: the store can be asked", what)
		require.NotErrorIs(t, err, social.ErrUnavailable, what)
	}
	posts, err := b.PostsByID(ctx, []string{"post:good"})
	require.NoError(t, err)
	require.Equal(t, "x", posts[0].Caption)
}
