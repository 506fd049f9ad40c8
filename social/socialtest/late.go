package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// lateArrivals checks which posts count as late, by the clock of the store alone, and that each is
// read once in the order of arrival.
func lateArrivals(e *env) {
	late := func(after int64, n int) (ids []string, upTo int64) {
		list, upTo, err := e.Late(e.ctx, after, n)
		require.NoError(e, err)
		for _, p := range list {
			card := e.card("reader", p.ID)
			require.Equal(e, social.LatePost{Entry: social.Entry{Position: social.Position{At: card.CreatedAt, ID: p.ID}, Author: card.Author.ID}, Arrived: card.Arrived}, p)
			require.True(e, card.Late())
			ids = append(ids, p.ID)
		}
		return ids, upTo
	}
	report := func(id string, ago time.Duration) string {
		at := e.time().Add(-ago)
		post, _, err := e.CreatePost(e.ctx, social.Post{ID: id, Author: "fed", CreatedAt: at.Unix(), Caption: "x", Audience: public()}, social.Creation{At: at})
		require.NoError(e, err)
		e.pass(10 * time.Millisecond)
		return post.ID
	}
	_, from := late(0, 10)
	hour, second := report("post:hour", time.Hour), report("post:200", 200*time.Second)
	prompt, minute := report("post:prompt", 0), report("post:minute", time.Minute)
	history := report("post:history", 25*time.Hour)
	e.skew = -4 * time.Minute // of the server, not of the store
	behind := e.create(social.Post{Author: "a", Caption: "x", Audience: public()}).ID
	e.skew = 0
	root := e.create(social.Post{Author: "a", Caption: "x", Audience: public()}).ID
	ids, upTo := late(from, 10)
	require.Empty(e, ids, "a transaction of the last moment may not have ended")
	require.GreaterOrEqual(e, upTo, from)
	e.skew = -4 * time.Minute
	e.reply("a", root)
	e.skew = 0
	e.pass(3 * time.Second)
	for _, id := range []string{prompt, minute, history, root} {
		card := e.card("reader", id)
		require.False(e, card.Late(), id)
	}
	ids, upTo = late(upTo, 10)
	require.Equal(e, []string{hour, second, behind}, ids)
	ids, _ = late(from, 2)
	require.Equal(e, []string{second, behind}, ids, "the last ones")

	e.like("b", hour)
	caption := "edited"
	e.edited(behind, "a", social.Edit{Caption: &caption})
	e.ok(e.DeletePost(e.ctx, second, "", e.time()))
	e.pass(3 * time.Second)
	ids, _ = late(from, 10)
	require.Equal(e, []string{hour, behind}, ids)
	ids, upTo = late(upTo, 10)
	require.Empty(e, ids, "each arrives once")
	_, _, err := e.CreatePost(e.ctx, social.Post{ID: second, Author: "fed", CreatedAt: e.time().Add(-time.Hour).Unix(), Caption: "y", Audience: public()}, social.Creation{At: e.time()})
	require.NoError(e, err)
	e.pass(3 * time.Second)
	ids, _ = late(upTo, 10)
	require.Equal(e, []string{second}, ids, "unless it was deleted before")
}
