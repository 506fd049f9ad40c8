package socialtest

import (
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// postCounts checks the counts of an author's posts after every kind of change to a post, with
// events in any order. The random operations compare them with a model.
func postCounts(e *env) {
	reads := func(why string, stranger, follower, member, self int64) {
		e.Helper()
		for reader, want := range map[string]int64{"": stranger, "s": stranger, "f": follower, "m": member, "a": self} {
			require.Equal(e, want, e.info(reader, "a").Posts, "%s: posts of a for %q", why, reader)
		}
	}
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Ada"}, here))
	e.follow("f", "a")
	e.putCircle("c", "a", "m")
	reads("nothing yet", 0, 0, 0, 0)
	p := e.post("a", public())
	e.post("a", followers())
	e.post("a", inCircles("c"))
	e.post("a", social.Audience{Followers: true, Circles: []string{"c"}})
	both := e.post("a", inCircles("c"), "m", "f")
	reads("created", 1, 4, 4, 5)
	caption := "edited"
	e.ok(second(e.EditPost(e.ctx, p.ID, "a", social.Edit{Caption: &caption}, here)))
	e.ok(third(e.Like(e.ctx, "m", both.ID)))
	reads("edited and liked", 1, 4, 4, 5)
	e.ok(second(e.RemoveMember(e.ctx, "c", "m", "a", here)))
	reads("a member less", 1, 4, 2, 5)
	e.ok(second(e.AddMember(e.ctx, "c", "m", "a", here)))
	e.ok(e.DeletePost(e.ctx, both.ID, "a", here))
	e.ok(e.DeletePost(e.ctx, p.ID, "a", here))
	reads("deleted", 0, 2, 2, 3)

	// Events: created again with another audience, after a deletion that arrived first.
	event := social.Post{ID: "post:event", Author: "a", CreatedAt: e.now.Unix(), Caption: "x", Origin: "example.com", Audience: followers()}
	e.ok(e.DeletePost(e.ctx, event.ID, "", e.now.Add(-3*time.Millisecond)))
	e.ok(third(e.CreatePost(e.ctx, event, social.Creation{At: e.now.Add(-2 * time.Millisecond)})))
	reads("another system's, to followers", 0, 3, 2, 3)
	event.Audience = public()
	e.ok(third(e.CreatePost(e.ctx, event, social.Creation{At: e.now.Add(-time.Millisecond)})))
	reads("and to all", 1, 3, 3, 4)

	e.pass(time.Second)
	e.ok(e.EraseAuthor(e.ctx, "a"))
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Ada"}, here))
	e.pass(time.Second)
	for _, reader := range []string{"", "m", "a"} {
		require.Zero(e, e.info(reader, "a").Posts, "an erasure that has committed, for %q", reader)
	}
	e.post("a", public())
	for more := true; more; more = !must[bool](e)(e.EraseSome(e.ctx, "a", 1, nil)) {
		require.EqualValues(e, 1, e.info("", "a").Posts, "newer posts stay during the erasure")
	}
	require.EqualValues(e, 1, e.info("a", "a").Posts)
}

// countedAtOnce lets several writers publish and delete posts of one author concurrently.
func countedAtOnce(e *env) {
	const writers, each = 4, 6
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				p, _, err := e.CreatePost(e.ctx, social.Post{Author: "a", Caption: fmt.Sprint(w, i), Audience: public()}, social.Creation{})
				if assert.NoError(e, err) && i%3 == 0 {
					assert.NoError(e, e.DeletePost(e.ctx, p.ID, "a", here))
				}
			}
		})
	}
	group.Wait()
	require.EqualValues(e, writers*each*2/3, e.info("", "a").Posts)
}
