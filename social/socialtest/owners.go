package socialtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// owned is a patch that hands a group over.
func owned(owner string) func(social.CircleChange) (social.CircleChange, error) {
	return func(c social.CircleChange) (social.CircleChange, error) {
		c.Owner = owner
		return c, nil
	}
}

// handedOver checks what changes with the owner of a group.
func handedOver(e *env) {
	e.cardsOf("o", "m", "n")
	e.group("g", "o", social.CircleTerms{Post: social.ByOwner}, "m", "n")
	e.group("c", "o", social.CircleTerms{Kind: social.KindCircle}, "m")
	e.invited("g", "i")
	before := e.post("o", inCircles("g"))
	for by, want := range map[string]error{"m": feed.ErrForbidden, "i": feed.ErrForbidden, "x": feed.ErrNotFound} {
		require.ErrorIs(e, second(e.PatchCircle(e.ctx, "g", by, owned("m"))), want, by)
	}
	for to, want := range map[string]error{"x": feed.ErrRule, "i": feed.ErrRule, "": feed.ErrBadID, social.Server: feed.ErrBadID} {
		require.ErrorIs(e, second(e.PatchCircle(e.ctx, "g", "o", owned(to))), want, to)
	}
	require.ErrorIs(e, second(e.PatchCircle(e.ctx, "c", "o", owned("m"))), feed.ErrForbidden, "a circle is private to its owner")
	require.ErrorIs(e, second(e.ChangeCircle(e.ctx, "g", "", social.CircleChange{Owner: "m"})), feed.ErrForbidden, "only a patch hands it over")

	c := must[social.Circle](e)(e.PatchCircle(e.ctx, "g", "o", owned("m")))
	require.Equal(e, "m", c.Owner)
	require.Equal(e, 3, c.Size)
	require.Equal(e, []string{"m", "n", "o"}, e.list(e.Members, "g"))
	for agent, role := range map[string]social.Role{"m": social.RoleOwner, "o": social.RoleMember, "n": social.RoleMember, "i": social.RoleInvited} {
		require.Equal(e, role, roleOf(e.CircleFor(e.ctx, "g", agent)), agent)
		of := must[[]social.Circle](e)(e.CirclesOf(e.ctx, agent, role, "", 5))
		require.Equal(e, "g", of[len(of)-1].ID, agent)
	}
	e.sees(true, "g", "n", before)
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: "o", Caption: "x", Audience: inCircles("g")}, social.Creation{})
	require.ErrorIs(e, err, feed.ErrRule, "only the owner may post")
	e.pass(time.Second)
	e.sees(true, "g", "o", e.post("m", inCircles("g")))
	require.ErrorIs(e, e.DropCircle(e.ctx, "g", "o", here), feed.ErrForbidden)
	require.ErrorIs(e, second(e.RemoveMember(e.ctx, "g", "m", "m", here)), feed.ErrForbidden)
	e.leave("g", "o")
	e.join("g", "i")
	e.block("m", "n")
	require.Equal(e, []string{"i", "m"}, e.list(e.Members, "g"), "a block of the new owner ends a membership")
	must[social.Circle](e)(e.PatchCircle(e.ctx, "g", "", owned("i"))) // by an admin
	require.Equal(e, social.RoleOwner, roleOf(e.CircleFor(e.ctx, "g", "i")))
}

// handedOverLimit checks that nobody gets more groups than an agent may own.
func handedOverLimit(e *env) {
	e.group("g", "o", social.CircleTerms{}, "m")
	for i := range social.MaxOwnedCircles {
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: fmt.Sprint("c", i), Owner: "m"}, nil, here)))
	}
	err := second(e.PatchCircle(e.ctx, "g", "o", owned("m")))
	require.ErrorIs(e, err, feed.ErrLimit)
	require.Equal(e, social.RoleOwner, roleOf(e.CircleFor(e.ctx, "g", "o")))
	e.ok(e.EraseAgent(e.ctx, "o")) // a group does not end because of a limit
	require.Equal(e, social.RoleOwner, roleOf(e.CircleFor(e.ctx, "g", "m")))
}

// acrossBlocksOfOwner checks that members and invited agents whom a block separates from the next
// owner leave the group, which would name the owner to them.
func acrossBlocksOfOwner(e *env) {
	for id, pass := range map[string]func(){
		"handed over": func() { must[social.Circle](e)(e.PatchCircle(e.ctx, "handed-over", "o", owned("m"))) },
		"inherited":   func() { e.ok(e.EraseAgent(e.ctx, "o")) },
	} {
		g := strings.ReplaceAll(id, " ", "-")
		e.group(g, "o", social.CircleTerms{}, "m", "n", "x", "y")
		e.invited(g, "i")
		e.block("n", "m")
		e.block("m", "x")
		e.block("m", "i")
		p := e.post("y", inCircles(g))
		for _, agent := range []string{"n", "x"} {
			e.sees(true, g, agent, p)
		}
		pass()
		require.Equal(e, social.RoleOwner, roleOf(e.CircleFor(e.ctx, g, "m")), id)
		e.sees(true, g, "y", p)
		for _, agent := range []string{"n", "x", "i"} {
			require.NotContains(e, e.list(e.Members, g), agent, id)
			require.Equal(e, social.NoRole, roleOf(e.CircleFor(e.ctx, g, agent)), id)
			require.ErrorIs(e, second(e.AddMember(e.ctx, g, agent, agent, here)), feed.ErrNotFound, id)
			require.ErrorIs(e, second(e.Invite(e.ctx, g, agent, "m")), feed.ErrForbidden, id)
			e.sees(false, g, agent, p)
		}
		require.ErrorIs(e, second(e.ChangeCircle(e.ctx, g, "m", social.CircleChange{Members: []string{"n"}})), feed.ErrForbidden)
		for _, pair := range [][2]string{{"n", "m"}, {"m", "x"}, {"m", "i"}} {
			must[bool](e)(e.Unblock(e.ctx, pair[0], pair[1]))
		}
	}
}

// inherited checks that a group passes to the member who has been in it longest at the moment when
// its owner is erased, and shows its posts in every answer.
func inherited(e *env) {
	e.cardsOf("o", "m", "n")
	for id, terms := range map[string]social.CircleTerms{"joined": {}, "all": {History: social.HistoryAll}, "ev": {Kind: social.KindEvent}} {
		e.group(id, "o", terms, "z")
		for _, agent := range []string{"n", "m", "a"} {
			e.invited(id, agent)
			e.join(id, agent)
		}
		e.leave(id, "n")
		e.pass(social.RefusalLives)
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: id, Owner: "o", Until: e.until(terms)}, []string{"a", "m", "z"}, here))) // no new membership
		e.invited(id, "n")
		e.join(id, "n")
		must[bool](e)(e.RemoveMember(e.ctx, id, "z", "", here))
		e.invited(id, "i")
	}
	e.putCircle("c", "o", "m")
	shown, owners := map[string]social.Post{}, map[string]social.Post{}
	for _, id := range []string{"joined", "all", "ev"} {
		shown[id], owners[id] = e.post("a", inCircles(id)), e.post("o", inCircles(id))
	}
	inCircle := e.post("o", inCircles("c"))
	e.ok(e.EraseAgent(e.ctx, "o"))
	for range 2 { // before and after the job
		for id, p := range shown {
			e.sees(true, id, "m", p)
			require.False(e, e.card("m", owners[id].ID).Visible)
			require.Equal(e, "m", must[social.Circle](e)(e.Circle(e.ctx, id)).Owner)
			require.Equal(e, social.RoleOwner, roleOf(e.CircleFor(e.ctx, id, "m")))
			require.Equal(e, social.NoRole, roleOf(e.CircleFor(e.ctx, id, "o")), "the id's next agent")
			require.Equal(e, social.RoleInvited, roleOf(e.CircleFor(e.ctx, id, "i")))
			require.False(e, e.card("o", p.ID).Visible)
			require.Equal(e, []string{"a", "m", "n"}, e.list(e.Members, id))
			require.ErrorIs(e, e.DropCircle(e.ctx, id, "o", here), feed.ErrNotFound)
		}
		require.False(e, e.card("m", inCircle.ID).Visible, "a circle ends with its owner")
		require.ErrorIs(e, second(e.Circle(e.ctx, "c")), feed.ErrNotFound)
		e.eraseAll("o")
	}
	for id := range shown {
		require.Equal(e, 3, must[social.Circle](e)(e.Circle(e.ctx, id)).Size)
	}
	// The last one ends it.
	for _, agent := range []string{"m", "a", "n"} {
		require.Equal(e, agent, must[social.Circle](e)(e.Circle(e.ctx, "joined")).Owner)
		e.ok(e.EraseAgent(e.ctx, agent))
	}
	require.ErrorIs(e, second(e.Circle(e.ctx, "joined")), feed.ErrNotFound)
}

func (e *env) until(terms social.CircleTerms) int64 {
	if terms.Kind != social.KindEvent {
		return 0
	}
	return e.now.Add(4 * social.RefusalLives).Unix()
}

// inheritedAtOnce erases the owner and the first heir at the same time.
func inheritedAtOnce(e *env) {
	for round := range 5 {
		id := fmt.Sprint("g", round)
		e.group(id, "o", social.CircleTerms{}, "h")
		e.invited(id, "z")
		e.join(id, "z")
		done := make(chan error)
		for _, agent := range []string{"o", "h"} {
			go func() { done <- e.EraseAgent(e.ctx, agent) }()
		}
		e.ok(errors.Join(<-done, <-done))
		require.Equal(e, "z", must[social.Circle](e)(e.Circle(e.ctx, id)).Owner)
		e.pass(time.Second)
		for _, agent := range []string{"o", "h"} {
			e.eraseAll(agent)
		}
		require.Equal(e, []string{"z"}, e.list(e.Members, id))
	}
}

// inheritedByReused checks that an heir whose id was erased before can own a group that is older
// than this erasure.
func inheritedByReused(e *env) {
	e.cardsOf("o", "m", "n")
	e.group("g", "o", social.CircleTerms{History: social.HistoryAll})
	e.ok(e.EraseAgent(e.ctx, "m"))
	e.pass(time.Second)
	e.invited("g", "m")
	e.join("g", "m")
	e.invited("g", "n")
	e.join("g", "n")
	p := e.post("n", inCircles("g"))
	e.ok(e.EraseAgent(e.ctx, "o"))
	for range 2 {
		require.Equal(e, social.RoleOwner, roleOf(e.CircleFor(e.ctx, "g", "m")))
		require.True(e, e.card("m", p.ID).Visible)
		e.eraseAll("m")
		e.eraseAll("o")
	}
}

// patched checks that a patch changes only what it names, and gives removed fields their defaults.
func patched(e *env) {
	until := feed.Moment{Time: e.now.Add(time.Hour)}
	for id, terms := range map[string]social.CircleTerms{"g": {Kind: social.KindGroup, Post: social.ByOwner}, "ev": {Kind: social.KindEvent}, "c": {}} {
		change := social.CircleChange{Name: "Rowers", CircleTerms: terms}
		if terms.Kind == social.KindEvent {
			change.Until = until
		}
		stored := must[social.Circle](e)(e.ChangeCircle(e.ctx, id, "o", change))
		must[bool](e)(e.AddMember(e.ctx, id, "m", "", here))
		stored.Size = must[social.Circle](e)(e.Circle(e.ctx, id)).Size
		same := must[social.Circle](e)(e.PatchCircle(e.ctx, id, "o", func(c social.CircleChange) (social.CircleChange, error) {
			require.Equal(e, "Rowers", c.Name)
			require.Equal(e, "o", c.Owner)
			require.Nil(e, c.Members)
			return c, nil
		}))
		require.Equal(e, stored, same)
		require.Equal(e, stored, must[social.Circle](e)(e.Circle(e.ctx, id)))
	}
	edit := func(id string, change func(*social.CircleChange)) (social.Circle, error) {
		return e.PatchCircle(e.ctx, id, "o", func(c social.CircleChange) (social.CircleChange, error) {
			change(&c)
			return c, nil
		})
	}
	c := must[social.Circle](e)(edit("g", func(c *social.CircleChange) { c.Post, c.Name = "", "" }))
	require.Equal(e, social.ByMembers, c.Post)
	require.Empty(e, c.Name)
	for name, tt := range map[string]struct {
		id     string
		change func(*social.CircleChange)
		want   error
	}{
		"another kind":             {"g", func(c *social.CircleChange) { c.Kind = "" }, feed.ErrForbidden},
		"another history":          {"g", func(c *social.CircleChange) { c.History = social.HistoryAll }, feed.ErrForbidden},
		"another visibility":       {"g", func(c *social.CircleChange) { c.MembersVisibleTo = social.ByMembers }, feed.ErrForbidden},
		"terms of a circle":        {"c", func(c *social.CircleChange) { c.Post = social.ByMembers }, feed.ErrInvalid},
		"an end of a group":        {"g", func(c *social.CircleChange) { c.Until = until }, feed.ErrInvalid},
		"no end of an event":       {"ev", func(c *social.CircleChange) { c.Until = feed.Moment{} }, feed.ErrInvalid},
		"a name without a letter":  {"g", func(c *social.CircleChange) { c.Name = " " }, feed.ErrInvalid},
		"a member with a bad name": {"c", func(c *social.CircleChange) { c.Members = []string{"a b"} }, feed.ErrBadID},
	} {
		require.ErrorIs(e, second(edit(tt.id, tt.change)), tt.want, name)
	}
	refused := errors.New("refused")
	_, err := e.PatchCircle(e.ctx, "g", "o", func(c social.CircleChange) (social.CircleChange, error) {
		return c, feed.Errorf(feed.ErrInvalid, "%w", refused)
	})
	require.ErrorIs(e, err, refused)
	require.ErrorIs(e, second(e.PatchCircle(e.ctx, "none", "", owned("o"))), feed.ErrNotFound)
}

// patchedAtOnce makes patches of different fields at the same time: none is lost.
func patchedAtOnce(e *env) {
	e.group("g", "o", social.CircleTerms{})
	const n = 8
	done := make(chan error)
	for i := range n {
		go func() {
			_, err := e.PatchCircle(e.ctx, "g", "o", func(c social.CircleChange) (social.CircleChange, error) {
				c.Name += fmt.Sprint(i)
				return c, nil
			})
			_, second := e.PatchAuthor(e.ctx, "o", func(a social.Author) (social.Author, error) {
				a.Bio += fmt.Sprint(i)
				return a, nil
			})
			done <- errors.Join(err, second)
		}()
	}
	for range n {
		e.ok(<-done)
	}
	require.Len(e, must[social.Circle](e)(e.Circle(e.ctx, "g")).Name, n)
	require.Len(e, e.info("o", "o").Bio, n)
}

// patchedAuthor checks patches of cards.
func patchedAuthor(e *env) {
	no := false
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Ann", ImageURL: "https://x/y", Bio: "b", SuggestFromFollows: &no}, here))
	edit := func(id string, change func(*social.Author)) (social.Author, error) {
		return e.PatchAuthor(e.ctx, id, func(a social.Author) (social.Author, error) {
			change(&a)
			return a, nil
		})
	}
	got := must[social.Author](e)(edit("a", func(a *social.Author) { a.Name = "Anna" }))
	require.Equal(e, social.Author{ID: "a", Name: "Anna", ImageURL: "https://x/y", Bio: "b", SuggestFromFollows: &no}, got)
	require.Equal(e, got, e.info("a", "a").Author)
	got = must[social.Author](e)(edit("a", func(a *social.Author) { a.ID, a.Bio = "other", "" }))
	require.Equal(e, social.Author{ID: "a", Name: "Anna", ImageURL: "https://x/y", SuggestFromFollows: &no}, got)
	got = must[social.Author](e)(edit("a", func(a *social.Author) { a.SuggestFromFollows = nil }))
	require.Equal(e, social.Author{ID: "a", Name: "Anna", ImageURL: "https://x/y"}, got)
	require.Equal(e, social.Author{ID: "new", Name: "N"}, must[social.Author](e)(edit("new", func(a *social.Author) { a.Name = "N" })))
	require.ErrorIs(e, second(edit("a", func(a *social.Author) { a.ImageURL = "javascript:x" })), feed.ErrInvalid)
	require.ErrorIs(e, second(edit("a b", func(*social.Author) {})), feed.ErrBadID)
	e.ok(e.EraseAuthor(e.ctx, "a"))
	require.Equal(e, social.Author{ID: "a", Bio: "again"}, must[social.Author](e)(edit("a", func(a *social.Author) { a.Bio = "again" })))
}
