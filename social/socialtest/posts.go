package socialtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func cards(e *env) {
	require.Empty(e, must[[]social.Card](e)(e.Cards(e.ctx, "r", nil)))
	a, b := e.post("a", public()), e.post("a", public())
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Ada", ImageURL: "https://example.com/a.png", Bio: "no part of it"}, here))
	read := func(known ...social.PostVersion) []social.Card {
		return must[[]social.Card](e)(e.Cards(e.ctx, "r", known))
	}
	got := read(social.PostVersion{ID: b.ID}, social.PostVersion{ID: "post:x"}, social.PostVersion{ID: a.ID, Version: 1}, social.PostVersion{ID: b.ID, Version: 1})
	require.Equal(e, []string{b.ID, "post:x", a.ID, b.ID}, []string{got[0].ID, got[1].ID, got[2].ID, got[3].ID})
	require.JSONEq(e, string(b.Content()), string(got[0].Content))
	require.Equal(e, social.Card{ID: "post:x"}, got[1])
	require.Nil(e, got[2].Content, "the caller already has this version")
	require.True(e, got[2].Visible)
	require.Nil(e, got[3].Content)
	require.Equal(e, social.Author{ID: "a", Name: "Ada", ImageURL: "https://example.com/a.png"}, got[0].Author)

	caption := "edited"
	edited := e.edited(a.ID, "a", social.Edit{Caption: &caption})
	require.Equal(e, int64(2), edited.Version)
	got = read(social.PostVersion{ID: a.ID, Version: 1}, social.PostVersion{ID: a.ID, Version: 2}, social.PostVersion{ID: a.ID, Version: 3})
	require.Contains(e, string(got[0].Content), "edited")
	require.Equal(e, int64(2), got[0].Version)
	require.Nil(e, got[1].Content)
	require.NotNil(e, got[2].Content, "content is returned if the caller's version differs")
}

func create(e *env) {
	p := e.create(social.Post{
		Author: "a", Caption: "Hello\n#World and #go #GO", Tags: []string{"go", "x", "go"}, Audience: public(),
		Mentions: []string{"b", "a", "b"}, Images: []social.Image{{URL: "/media/k", Thumbnail: "t", Width: 3, Height: 4, Color: "#112233", Alt: "alt"}},
	})
	require.NoError(e, social.CheckPostID(p.ID))
	require.Equal(e, social.Post{
		ID: p.ID, Author: "a", CreatedAt: e.now.Unix(), Caption: "Hello\n#World and #go #GO", Tags: []string{"go", "x"}, Audience: public(),
		Mentions: []string{"b"}, Images: p.Images, Reply: social.RightPublic, React: social.RightPublic, Version: 1,
	}, p)
	require.Len(e, p.Images, 1)
	require.Equal(e, p, e.row(p.ID))
	require.Equal(e, []string{"go", "x", "World"}, p.AllTags())
	require.Contains(e, string(e.card("", p.ID).Content), `"tags":["go","x","World"]`)

	e.putCircle("c1", "a", "b")
	e.putCircle("c2", "a")
	p = e.create(social.Post{Author: "a", Caption: "x", Audience: inCircles("c2", "c1", "c2"), Reply: social.RightNone, React: social.RightAudience})
	require.Equal(e, []string{"c1", "c2"}, p.Audience.Circles)
	require.Equal(e, p, e.row(p.ID))
	require.NotContains(e, string(e.card("b", p.ID).Content), `"c1"`, "the content does not reveal the circles")

	remote := social.Post{
		ID: "post:r1", Author: "r", CreatedAt: 5, Caption: "x", Origin: "example.com", URL: "https://example.com/1", ObjectType: "article",
		Audience: social.Audience{Followers: true, Circles: []string{"not one of ours"}}, Grants: []string{"b"},
	}
	got, created, err := e.CreatePost(e.ctx, remote, social.Creation{At: e.now})
	require.NoError(e, err)
	require.True(e, created)
	require.Nil(e, got.Audience.Circles)
	require.Equal(e, []string{"b"}, got.Grants)
	require.Equal(e, got.Post, e.row("post:r1"))
	require.Zero(e, got.Card, "nobody here has written it")
	again, created, err := e.CreatePost(e.ctx, remote, social.Creation{At: e.now})
	require.NoError(e, err)
	require.False(e, created, "the event arrived before")
	require.Equal(e, got, again)
	remote.Author = "s"
	_, _, err = e.CreatePost(e.ctx, remote, social.Creation{At: e.now})
	require.ErrorIs(e, err, feed.ErrForbidden)
	require.Equal(e, []social.Post{{}}, must[[]social.Post](e)(e.PostsByID(e.ctx, []string{"post:unknown"})))
}

func idempotency(e *env) {
	e.putCircle("c1", "a")
	p := social.Post{Author: "a", Caption: "x", Audience: inCircles("c1")}
	send := func(p social.Post, key string) (social.Written, bool, error) {
		return e.CreatePost(e.ctx, p, social.Creation{Key: key})
	}
	first, created, err := send(p, "k1")
	require.NoError(e, err)
	require.True(e, created)
	require.Equal(e, e.card("a", first.ID), first.Card)
	e.pass(social.KeyLives - time.Second)
	again, created, err := send(p, "k1")
	require.NoError(e, err)
	require.False(e, created)
	require.Equal(e, first, again)
	e.like("a", first.ID)
	again, _, err = send(p, "k1")
	require.NoError(e, err)
	require.True(e, again.Card.HasLiked, "the post as it is now")
	require.Equal(e, e.card("a", first.ID), again.Card)
	require.Equal(e, int64(1), again.Likes)
	for name, other := range map[string]func(*social.Post){
		"caption":  func(p *social.Post) { p.Caption = "y" },
		"audience": func(p *social.Post) { p.Audience = public() },
		"circle":   func(p *social.Post) { p.Audience = social.Audience{} },
		"right":    func(p *social.Post) { p.React = social.RightNone },
	} {
		changed := p
		other(&changed)
		_, _, err := send(changed, "k1")
		require.ErrorIs(e, err, feed.ErrConflict, name)
	}
	other := p
	other.Author, other.Audience = "b", public()
	_, created, err = send(other, "k1")
	require.NoError(e, err)
	require.True(e, created, "idempotency keys are per author")
	e.pass(time.Second)
	later, created, err := send(p, "k1")
	require.NoError(e, err)
	require.True(e, created, "the key has expired")
	require.NotEqual(e, first.ID, later.ID)
	e.ok(e.DeletePost(e.ctx, later.ID, "a", here))
	_, _, err = send(p, "k1")
	require.ErrorIs(e, err, feed.ErrNotFound, "a retry does not bring it back")
	_, _, err = send(p, "")
	require.NoError(e, err)
	_, _, err = send(p, "kéy")
	require.ErrorIs(e, err, feed.ErrInvalid)
	// A key that was sent with a bad post is still unused.
	_, _, err = send(social.Post{Author: "a", Caption: "x", Audience: inCircles("c9")}, "k2")
	require.ErrorIs(e, err, feed.ErrRule)
	_, created, err = send(p, "k2")
	require.NoError(e, err)
	require.True(e, created)
}

func badPosts(e *env) {
	e.putCircle("theirs", "b")
	e.putCircle("gone", "a")
	e.ok(e.DropCircle(e.ctx, "gone", "a", here))
	good := social.Post{Author: "a", Caption: "x", Audience: public()}
	for name, change := range map[string]func(*social.Post){
		"nothing in it":          func(p *social.Post) { p.Caption = " \n" },
		"nothing to be seen":     func(p *social.Post) { p.Caption = "\u200b\u2060" },
		"eleven images":          func(p *social.Post) { p.Images = make([]social.Image, 11) },
		"long caption":           func(p *social.Post) { p.Caption = strings.Repeat("é", social.MaxCaption+1) },
		"ahead":                  func(p *social.Post) { p.CreatedAt = e.now.Unix() + 1 },
		"circle of another":      func(p *social.Post) { p.Audience = inCircles("theirs") },
		"circle that is not":     func(p *social.Post) { p.Audience = inCircles("nowhere") },
		"circle that is no more": func(p *social.Post) { p.Audience = inCircles("gone") },
		"a right":                func(p *social.Post) { p.Reply = "friends" },
		"mention of nobody":      func(p *social.Post) { p.Mentions = []string{social.Server} },
		"grants of a local":      func(p *social.Post) { p.Grants = []string{"b"} },
		"NUL":                    func(p *social.Post) { p.Caption = "a\x00b" },
		"not UTF-8":              func(p *social.Post) { p.Caption = "a\xff" },
	} {
		p := good
		change(&p)
		_, _, err := e.CreatePost(e.ctx, p, social.Creation{})
		require.ErrorIs(e, err, feed.ErrRule, name)
	}
	p := good
	p.Author = social.Server
	_, _, err := e.CreatePost(e.ctx, p, social.Creation{})
	require.ErrorIs(e, err, feed.ErrBadID)
	p = good
	p.ID = "doc_1"
	_, _, err = e.CreatePost(e.ctx, p, social.Creation{})
	require.ErrorIs(e, err, feed.ErrBadID)
	p.ID = "post:1"
	_, _, err = e.CreatePost(e.ctx, p, social.Creation{At: e.now.Add(feed.MaxClockSkew + time.Second)})
	require.ErrorIs(e, err, feed.ErrInvalid, "an event in the future")
	p = good
	p.Caption = strings.Repeat("é", social.MaxCaption)
	e.create(p)
}

func edit(e *env) {
	e.putCircle("c1", "a", "m")
	p := e.create(social.Post{
		Author: "a", Caption: "old #one", Tags: []string{"t"}, Audience: inCircles("c1"), Mentions: []string{"b"},
		Images: []social.Image{{URL: "/media/k1", Alt: "x"}, {URL: "/media/k2"}},
	})
	e.pass(time.Minute)
	caption, tags, alts := "new #two", []string{"u"}, []string{"first", "second"}
	got := e.edited(p.ID, "a", social.Edit{Caption: &caption})
	want := p
	want.Caption, want.EditedAt, want.Version = caption, e.now.Unix(), 2
	require.Equal(e, want, got)
	got = e.edited(p.ID, "", social.Edit{Tags: &tags, Alts: &alts})
	want.Tags, want.Version, want.Images = tags, 3, []social.Image{{URL: "/media/k1", Alt: "first"}, {URL: "/media/k2", Alt: "second"}}
	require.Equal(e, want, got)
	require.Equal(e, want, e.row(p.ID))
	require.Contains(e, string(e.card("m", p.ID).Content), `"tags":["u","two"]`)
	require.Equal(e, p.CreatedAt, e.card("m", p.ID).CreatedAt, "an edit never moves a post")
	e.pass(time.Minute)
	require.Equal(e, want, e.edited(p.ID, "a", social.Edit{}))
	right, shown := want.Reply, want.AllTags()
	for _, same := range []social.Edit{
		{Caption: &caption},
		{Tags: &tags},
		{Tags: &[]string{"u", "U"}},
		{Alts: &alts},
		{Reply: &right},
		{Caption: &caption, Tags: &shown, Alts: &alts, Reply: &right}, // what an app has read
	} {
		require.Equal(e, want, e.edited(p.ID, "a", same))
		require.Equal(e, want, e.edited(p.ID, "", same))
	}
	require.Equal(e, want, e.row(p.ID), "an edit that changes nothing is none")

	try := func(id, by string, edit social.Edit) error {
		_, err := e.EditPost(e.ctx, id, by, edit, here)
		return err
	}
	require.ErrorIs(e, try(p.ID, "m", social.Edit{Caption: &caption}), feed.ErrForbidden, "visible, but by another author")
	require.ErrorIs(e, try(p.ID, "b", social.Edit{Caption: &caption}), feed.ErrForbidden)
	require.ErrorIs(e, try(p.ID, "stranger", social.Edit{Caption: &caption}), feed.ErrNotFound, "not visible")
	require.ErrorIs(e, try("post:none", "a", social.Edit{Caption: &caption}), feed.ErrNotFound)
	require.ErrorIs(e, try("none", "a", social.Edit{}), feed.ErrBadID)
	empty, long := "", strings.Repeat("x", social.MaxCaption+1)
	require.NoError(e, try(p.ID, "a", social.Edit{Caption: &empty}), "images remain")
	require.ErrorIs(e, try(p.ID, "a", social.Edit{Caption: &long}), feed.ErrRule)
	short := []string{"x"}
	require.ErrorIs(e, try(p.ID, "a", social.Edit{Alts: &short}), feed.ErrRule)
	plain := e.post("a", public())
	require.ErrorIs(e, try(plain.ID, "a", social.Edit{Caption: &empty}), feed.ErrRule, "nothing remains")
	invisible := "\u200b"
	require.ErrorIs(e, try(plain.ID, "a", social.Edit{Caption: &invisible}), feed.ErrRule)
	remote := social.Post{ID: "post:r", Author: "a", CreatedAt: 5, Caption: "x", Origin: "example.com", Audience: public()}
	_, _, err := e.CreatePost(e.ctx, remote, social.Creation{At: e.now})
	require.NoError(e, err)
	require.ErrorIs(e, try("post:r", "a", social.Edit{Caption: &caption}), feed.ErrForbidden, "a remote post cannot be edited by its author here")
}

func deletes(e *env) {
	e.putCircle("c1", "a", "m")
	p := e.create(social.Post{
		Author: "a", Caption: "secret caption", Tags: []string{"secret"}, Audience: social.Audience{Followers: true, Circles: []string{"c1"}},
		Mentions: []string{"b"}, Images: []social.Image{{URL: "secret", Alt: "secret"}},
	})
	require.ErrorIs(e, e.DeletePost(e.ctx, p.ID, "m", here), feed.ErrForbidden)
	require.ErrorIs(e, e.DeletePost(e.ctx, p.ID, "stranger", here), feed.ErrNotFound)
	require.ErrorIs(e, e.DeletePost(e.ctx, "post:none", "a", here), feed.ErrNotFound)
	e.ok(e.DeletePost(e.ctx, p.ID, "a", here))
	require.ErrorIs(e, e.DeletePost(e.ctx, p.ID, "a", here), feed.ErrNotFound)
	require.Equal(e, social.Card{ID: p.ID}, e.card("a", p.ID))
	got := e.row(p.ID)
	require.Equal(e, social.Post{
		ID: p.ID, Author: "a", CreatedAt: p.CreatedAt, Audience: p.Audience, Mentions: p.Mentions, Reply: p.Reply, React: p.React,
		Version: 2, Deleted: true,
	}, got, "who saw it is kept, what they saw is not")
	list := e.receivers(p.ID, "", 10)
	require.Equal(e, []social.Receiver{{Agent: "a", Reason: social.Self}, {Agent: "b", Reason: social.Mention}, {Agent: "m", Reason: social.Member}}, list)
	caption := "back"
	_, err := e.EditPost(e.ctx, p.ID, "a", social.Edit{Caption: &caption}, here)
	require.ErrorIs(e, err, feed.ErrNotFound)
	_, _, err = e.Like(e.ctx, "m", p.ID)
	require.ErrorIs(e, err, feed.ErrNotFound)
	require.ErrorIs(e, e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 1}, here), feed.ErrNotFound)
}

func counts(e *env) {
	p := e.post("a", public())
	e.ok(e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 10, Comments: 3}, here))
	e.like("b", p.ID)
	c := e.card("b", p.ID)
	require.Equal(e, [2]int64{11, 3}, [2]int64{c.Likes, c.Comments}, "likes given here are added to the reported ones")
	require.Equal(e, int64(1), c.Version, "counts do not change the version")
	at := e.now
	e.pass(time.Second)
	e.ok(e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 20, Comments: 4}, e.now))
	e.ok(e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 15}, at))
	require.Equal(e, int64(21), e.card("b", p.ID).Likes, "an older event changes nothing")
	e.ok(e.SetCounts(e.ctx, "post:later", social.Counts{Likes: 7}, e.now))
	_, _, err := e.CreatePost(e.ctx, social.Post{ID: "post:later", Author: "a", CreatedAt: 9, Caption: "x", Audience: public()}, social.Creation{At: e.now})
	require.NoError(e, err)
	require.Equal(e, int64(7), e.card("b", "post:later").Likes)
	require.ErrorIs(e, e.SetCounts(e.ctx, p.ID, social.Counts{Likes: -1}, here), feed.ErrInvalid)
}

// oddIDs uses every character that an id may have, ids that differ only in case, and ids whose byte
// order matters.
func oddIDs(e *env) {
	var all string
	for c := byte(33); c < 127; c++ {
		if feed.CheckAgentID(string(c)) == nil {
			all += string(c)
		}
	}
	authors := []string{all, strings.ToLower(all[len(all)-30:]), "A", "a", "_", ".", "@", "-", strings.Repeat("z", feed.MaxAgentID)}
	m := newModel()
	for i, author := range authors {
		circle := author
		e.putCircle(circle, author, authors[(i+1)%len(authors)])
		m.circles[circle] = &modelCircle{owner: author, members: set(authors[(i+1)%len(authors)])}
		next := authors[(i+2)%len(authors)]
		e.follow(next, author)
		m.follows[[2]string{next, author}] = true
		for j, a := range []social.Audience{public(), followers(), inCircles(circle), {}} {
			id := social.PostPrefix + fmt.Sprintf("%.120s%d", author, j)
			p := e.create(social.Post{ID: id, Author: author, Caption: "x", Audience: a, Mentions: []string{authors[(i+3)%len(authors)]}})
			m.addPost(&p)
		}
	}
	e.check(m, authors)
}

// oneSecond reads 2,500 posts of one second in five pages.
func oneSecond(e *env) {
	const n, page = 600, 101
	e.follow("reader", "a")
	want := make([]string, n)
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := w; i < n; i += 8 {
				// Ids that do not sort in the order of creation.
				id := fmt.Sprintf("post:%c%05d", "aB_-."[i%5], (i*7919)%n)
				p := social.Post{ID: id, Author: "a", CreatedAt: 1_772_000_000, Caption: "x", Audience: public()}
				if _, _, err := e.CreatePost(e.ctx, p, social.Creation{}); !assert.NoError(e, err) {
					return
				}
				want[i] = id
			}
		})
	}
	group.Wait()
	slices.Sort(want)
	slices.Reverse(want)
	for name, read := range map[string]func(below social.Position) ([]social.Entry, error){
		"pull": func(below social.Position) ([]social.Entry, error) {
			return e.Pull(e.ctx, social.PullQuery{Reader: "reader", Below: below, N: page})
		},
		"grid": func(below social.Position) ([]social.Entry, error) { return e.Grid(e.ctx, "", "a", below, page) },
		"newest": func(below social.Position) ([]social.Entry, error) {
			return e.Newest(e.ctx, []string{"a"}, below, page)
		},
	} {
		require.Equal(e, want, entryIDs(pages(e, social.Position{}, read, page)), name)
	}
}

// like and unlike return the likes after a call, and check its card.
func (e *env) like(agent, post string) int64   { e.Helper(); return e.react(e.Like, agent, post) }
func (e *env) unlike(agent, post string) int64 { e.Helper(); return e.react(e.Unlike, agent, post) }

func (e *env) react(do func(ctx context.Context, agent, post string) (social.Card, bool, error), agent, post string) int64 {
	e.Helper()
	card, _, err := do(e.ctx, agent, post)
	require.NoError(e, err)
	require.Equal(e, e.card(agent, post), card)
	return card.Likes
}

// edited edits a post, and checks the card that the call returns.
func (e *env) edited(id, by string, edit social.Edit) social.Post {
	e.Helper()
	post, err := e.EditPost(e.ctx, id, by, edit, here)
	require.NoError(e, err)
	require.Equal(e, e.card(by, id), post.Card)
	return post.Post
}
