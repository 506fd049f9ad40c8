package socialtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// publicPosts checks that the ids of public posts are listed page by page, each once, and those of no others.
func publicPosts(e *env) {
	var want []string
	for range 5 {
		want = append(want, e.post("a", public()).ID)
		e.post("a", followers())
	}
	slices.Sort(want)
	gone, held, root := e.post("a", public()), e.post("a", public()), want[0]
	e.reply("b", root)
	e.ok(e.DeletePost(e.ctx, gone.ID, "a", here))
	e.moderate(social.ActionHold, social.ObjectPost, held.ID, "")
	for _, n := range []int{1, 2, 7, 100} {
		var found []string
		for after, pages := "", 0; ; pages++ {
			ids, last, err := e.PublicPosts(e.ctx, after, n)
			e.ok(err)
			require.LessOrEqual(e, len(ids), n)
			if last == "" {
				require.Empty(e, ids)
				break
			}
			require.Greater(e, last, after)
			require.Less(e, pages, 20)
			found, after = append(found, ids...), last
		}
		require.Equal(e, want, found)
	}
}
