package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// recommends sets whether an author may be recommended.
func (e *env) recommends(author string, yes bool) {
	e.Helper()
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: author, Recommend: &yes}, here))
}

// notRecommended checks what the choice of an author changes: cards of all readers say so, and who is
// subscribed to the post; nobody gets the author suggested; and a job corrects the items.
func notRecommended(e *env) {
	e.cardsOf("ann", "fan", "member", "mentioned", "stranger", "domain", "muter")
	e.follow("fan", "ann")
	e.follow("domain", social.Server)
	e.group("g", "ann", social.CircleTerms{}, "member", "muter")
	must[bool](e)(e.Mute(e.ctx, "muter", social.MuteCircle, "g", time.Time{}))
	p := e.post("ann", social.Audience{Public: true, Circles: []string{"g"}}, "mentioned")
	readers := map[string]bool{"ann": true, "fan": true, "member": true, "mentioned": false, "stranger": false, "domain": false, "muter": false, "": false}
	check := func(not bool, when string) {
		e.Helper()
		for reader, subscribed := range readers {
			c := e.card(reader, p.ID)
			require.True(e, c.Visible, "%s: %q", when, reader)
			require.Equal(e, []bool{not, subscribed}, []bool{c.NotRecommended, c.Subscribed}, "%s: %q", when, reader)
		}
		require.Equal(e, not, must[[]social.Post](e)(e.PostsByID(e.ctx, []string{p.ID}))[0].NotRecommended, when)
		unsuggestable := must[[]string](e)(e.Unsuggestable(e.ctx, "stranger", []string{"ann"}, e.clock()))
		newest := must[[]social.NewAuthor](e)(e.NewestAuthors(e.ctx, "stranger", nil, 10))
		if not {
			require.Equal(e, []string{"ann"}, unsuggestable, when)
			require.Empty(e, newest, when)
		} else {
			require.Empty(e, unsuggestable, when)
			require.Len(e, newest, 1, when)
		}
		own := e.info("ann", "ann").Recommend
		require.Equal(e, not, own != nil, when)
		require.True(e, own == nil || !*own)
		require.Nil(e, e.info("fan", "ann").Recommend, "only the author reads it")
	}
	queued := func(want int, why string) {
		e.Helper()
		list := must[[]jobs.Job](e)(e.List(e.ctx, jobs.Filter{Kind: jobs.Recommend}))
		require.Len(e, list, want, why)
		for range list {
			leased := must[[]jobs.Job](e)(e.Lease(e.ctx, 1, time.Minute, jobs.Recommend))
			require.Equal(e, "ann", leased[0].Key)
			must[[]jobs.State](e)(e.Done(e.ctx, leased...))
		}
	}
	check(false, "by default")
	e.recommends("ann", true)
	check(false, "allowed")
	queued(0, "nothing has changed")
	e.recommends("ann", false)
	check(true, "refused")
	queued(1, "the items are to be removed")
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Name: "Ann B."}, here))
	check(true, "a card without the field")
	e.pass(time.Minute)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Name: "Ann C."}, e.now))
	check(true, "an event without the field")
	queued(0, "nothing has changed")
	yes, no := true, false
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Recommend: &yes}, e.now.Add(-time.Hour)))
	check(true, "an old event")
	e.pass(time.Minute)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Recommend: &yes}, e.now))
	check(false, "an event allows it")
	e.pass(time.Minute)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Recommend: &no}, e.now))
	check(true, "an event refuses it")

	edit := func(change func(*social.Author)) social.Author {
		e.Helper()
		return must[social.Author](e)(e.PatchAuthor(e.ctx, "ann", func(a social.Author) (social.Author, error) {
			change(&a)
			return a, nil
		}))
	}
	require.Equal(e, social.Author{ID: "ann", Bio: "b", Recommend: &no}, edit(func(a *social.Author) { a.Bio = "b" }))
	check(true, "a patch of another field")
	require.Equal(e, social.Author{ID: "ann", Bio: "b"}, edit(func(a *social.Author) { a.Recommend = nil }))
	check(false, "a patch with null")
	edit(func(a *social.Author) { a.Recommend = &no })
	check(true, "a patch that refuses")
	require.Nil(e, edit(func(a *social.Author) { a.Recommend = &yes }).Recommend)
	check(false, "a patch that allows")

	e.recommends("ann", false)
	e.pass(time.Second)
	e.ok(e.EraseAuthor(e.ctx, "ann"))
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Name: "Another"}, here))
	require.Nil(e, e.info("ann", "ann").Recommend, "erased")
	require.False(e, e.card("fan", e.post("ann", public()).ID).NotRecommended)
}
