package socialtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// brief returns a change without its cursor and time.
func brief(c social.Change) string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s %s %s", c.Type, c.Agent, c.Other, c.Object, c.Parent), " ")
}

// changesFrom reads all changes after a cursor, n at a time, and returns the cursor after them.
func (e *env) changesFrom(cursor string, n int, types ...social.ChangeType) (list []social.Change, next string) {
	e.Helper()
	for more := true; more; {
		page := must[social.ChangePage](e)(e.Changes(e.ctx, cursor, types, n))
		list = append(list, page.Changes...)
		cursor, more = page.Next, page.More
		if len(page.Changes) > 0 {
			require.Equal(e, page.Next, page.Changes[len(page.Changes)-1].Cursor)
		}
	}
	return list, cursor
}

func (e *env) listFrom(cursor string, n int) []social.Change {
	e.Helper()
	list, _ := e.changesFrom(cursor, n)
	return list
}

func (e *env) changesNow() string {
	e.Helper()
	page := must[social.ChangePage](e)(e.Changes(e.ctx, "", nil, 10))
	require.Empty(e, page.Changes)
	return page.Next
}

// changed requires the changes after a cursor, and returns the cursor after them.
func (e *env) changed(cursor string, want ...string) string {
	e.Helper()
	list, next := e.changesFrom(cursor, 100)
	got := []string{}
	for _, c := range list {
		got = append(got, brief(c))
	}
	require.Equal(e, append([]string{}, want...), got)
	return next
}

func changesOfEveryType(e *env) {
	at := e.changesNow()
	must[bool](e)(e.Follow(e.ctx, "a", "b", here))
	must[bool](e)(e.Unfollow(e.ctx, "a", "b", here))
	at = e.changed(at, "follow.created a b", "follow.removed a b")

	p := e.post("a", public(), "m")
	caption := "other words"
	e.ok(second(e.EditPost(e.ctx, p.ID, "a", social.Edit{Caption: &caption}, here)))
	at = e.changed(at, "post.created a  "+p.ID, "mention.created a m "+p.ID, "post.updated a  "+p.ID)
	_, _, err := e.Like(e.ctx, "b", p.ID)
	e.ok(err)
	_, _, err = e.Unlike(e.ctx, "b", p.ID)
	e.ok(err)
	reply := e.create(social.Post{Author: "b", Caption: "yes", ReplyTo: p.ID})
	further := e.create(social.Post{Author: "m", Caption: "no", ReplyTo: reply.ID})
	at = e.changed(at, "like.created b a "+p.ID, "like.removed b a "+p.ID, "reply.created b a "+reply.ID+" "+p.ID, "reply.created m b "+further.ID+" "+reply.ID)
	e.ok(e.DeletePost(e.ctx, p.ID, "a", here))
	at = e.changed(at, "post.deleted a  "+p.ID)

	must[bool](e)(e.Follow(e.ctx, "a", "b", here))
	must[bool](e)(e.Block(e.ctx, "b", "a"))
	must[bool](e)(e.Unblock(e.ctx, "b", "a"))
	at = e.changed(at, "follow.created a b", "follow.removed a b", "block.created b a", "block.removed b a")

	e.putCircle("c", "a", "b") // only the owner knows who is in it
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "g", Owner: "a", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, here)))
	must[bool](e)(e.Invite(e.ctx, "g", "b", "a"))
	must[bool](e)(e.AddMember(e.ctx, "g", "b", "b", here))
	must[bool](e)(e.RemoveMember(e.ctx, "g", "b", "b", here))
	e.changed(at, "member.joined a  g", "invitation.created a b g", "member.joined b  g", "member.left b  g")
}

func changePages(e *env) {
	at := e.changesNow()
	for i := range 7 {
		e.follow("a", fmt.Sprint("b", i))
		e.block("a", fmt.Sprint("c", i))
	}
	all, next := e.changesFrom(at, 100)
	require.Len(e, all, 14)
	for n := 1; n < 16; n++ {
		list, last := e.changesFrom(at, n)
		require.Equal(e, briefs(all), briefs(list))
		require.Empty(e, e.listFrom(last, n))
	}
	require.Empty(e, e.listFrom(next, 5))
	blocks, _ := e.changesFrom(at, 3, social.BlockMade)
	require.Len(e, blocks, 7)
	both, _ := e.changesFrom(social.FromOldest, 2, social.FollowMade, social.BlockMade)
	require.Equal(e, briefs(all), briefs(both))
	for i, c := range all { // a consumer may stop after any of them
		rest, _ := e.changesFrom(c.Cursor, 4)
		require.Equal(e, briefs(all[i+1:]), briefs(rest))
	}
	for _, page := range []int{4, 5} {
		got := must[social.ChangePage](e)(e.Changes(e.ctx, at, nil, page))
		for i, c := range got.Changes {
			e.follow("x", fmt.Sprintf("later%d_%d", page, i)) // changes in the meantime come after those of the page
			rest, _ := e.changesFrom(c.Cursor, 3)
			require.Equal(e, briefs(all[i+1:]), briefs(rest)[:len(all)-i-1])
		}
	}
	e.ok(second(e.Changes(e.ctx, at, nil, 1)))
	require.ErrorIs(e, second(e.Changes(e.ctx, at, []social.ChangeType{"follow"}, 1)), feed.ErrInvalid)
}

func briefs(list []social.Change) []string {
	out := []string{}
	for _, c := range list {
		out = append(out, brief(c))
	}
	return out
}

func noChanges(e *env) {
	p := e.post("a", public())
	caption := "by a"
	e.follow("a", "b")
	at := e.changesNow()
	e.follow("a", "b")
	e.unfollow("a", "x")
	_, _, err := e.Unlike(e.ctx, "b", p.ID)
	e.ok(err)
	e.ok(second(e.EditPost(e.ctx, p.ID, "a", social.Edit{Caption: &caption}, here)))
	must[bool](e)(e.Unblock(e.ctx, "a", "b"))
	require.ErrorIs(e, second(e.Follow(e.ctx, "a", "a", here)), feed.ErrInvalid)
	_, _, err = e.Like(e.ctx, "b", "post:none")
	require.ErrorIs(e, err, feed.ErrNotFound)
	e.changed(at)
}

// changesAtOnce has many writers on two servers, while a consumer reads that often crashes and forgets
// the changes that it has not stored. Every write that changed something appears once, and the writes
// about one thing in their order.
func changesAtOnce(e *env) {
	const writers, steps = 8, 40
	p := e.post("author", public())
	servers := []Backend{e.Backend, e.place.Open()}
	cursor := e.changesNow()
	var mu sync.Mutex
	made := map[string]int{}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			r, s := rand.New(rand.NewPCG(1, uint64(w))), servers[w%2]
			for range steps {
				what, changed, err := randomWrite(e, s, r, p.ID)
				if changed && err == nil {
					mu.Lock()
					made[what]++
					mu.Unlock()
				}
				if err != nil {
					e.Errorf("%s: %v", what, err)
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	got := []string{}
	r := rand.New(rand.NewPCG(7, 7))
	for last := false; ; {
		page := must[social.ChangePage](e)(servers[r.IntN(2)].Changes(e.ctx, cursor, nil, 1+r.IntN(9)))
		stored := len(page.Changes)
		if stored > 0 && r.IntN(3) == 0 { // it crashes
			stored = r.IntN(stored)
		}
		for _, c := range page.Changes[:stored] {
			got, cursor = append(got, brief(c)), c.Cursor
		}
		if len(page.Changes) == 0 {
			if last {
				break
			}
			cursor = page.Next
			select {
			case <-ended:
				last = true
			default:
			}
		}
	}
	found := map[string]int{}
	state := map[string]string{}
	for _, text := range got {
		found[text]++
		what, about, _ := strings.Cut(text, " ")
		thing, act, _ := strings.Cut(what, ".")
		require.NotEqual(e, state[thing+" "+about], act, "%s twice, so they are not in their order", text)
		state[thing+" "+about] = act
	}
	require.Equal(e, made, found)
	require.Greater(e, len(got), writers*steps/4)
}

// randomWrite makes one of few follows or likes, or ends it.
func randomWrite(e *env, s Backend, r *rand.Rand, post string) (what string, changed bool, err error) {
	agent, other := fmt.Sprint("a", r.IntN(3)), fmt.Sprint("b", r.IntN(2))
	switch r.IntN(4) {
	case 0:
		changed, err = s.Follow(e.ctx, agent, other, here)
		return "follow.created " + agent + " " + other, changed, err
	case 1:
		changed, err = s.Unfollow(e.ctx, agent, other, here)
		return "follow.removed " + agent + " " + other, changed, err
	case 2:
		_, changed, err = s.Like(e.ctx, agent, post)
		return "like.created " + agent + " author " + post, changed, err
	}
	_, changed, err = s.Unlike(e.ctx, agent, post)
	return "like.removed " + agent + " author " + post, changed, err
}

func changesAfterRestart(e *env) {
	at := e.changesNow()
	e.follow("a", "b")
	e.follow("a", "c")
	half := must[social.ChangePage](e)(e.Changes(e.ctx, at, nil, 1))
	e.place.Close(e.Backend)
	e.Backend = e.place.Open()
	e.follow("a", "d")
	at = e.changed(half.Next, "follow.created a c", "follow.created a d")
	e.follow("a", "e")
	e.changed(at, "follow.created a e")
}

func changesRetention(e *env) {
	old := e.changesNow()
	e.follow("a", "b")
	e.follow("a", "c")
	half := must[social.ChangePage](e)(e.Changes(e.ctx, old, nil, 1)).Next
	e.pass(keepChanges - time.Minute)
	after := e.changed(half, "follow.created a c")
	e.follow("a", "d")
	e.ok(second(e.Purge(e.ctx, 100)))
	e.changed(old, "follow.created a b", "follow.created a c", "follow.created a d")

	e.pass(2 * time.Minute)
	e.ok(second(e.Purge(e.ctx, 100)))
	for _, cursor := range []string{old, half} {
		err := second(e.Changes(e.ctx, cursor, nil, 10))
		require.ErrorIs(e, err, feed.ErrGone)
		require.ErrorContains(e, err, "begin without a cursor")
	}
	e.changed(social.FromOldest, "follow.created a d")
	err := second(e.Changes(e.ctx, after, nil, 10))
	if !errors.Is(err, feed.ErrGone) { // a transaction of another test may still have preceded it
		e.changed(after, "follow.created a d")
	}
	_, end := e.changesFrom(social.FromOldest, 10)
	require.Eventually(e, func() bool { // not while a transaction of another test may still precede it
		e.pass(2 * keepChanges)
		e.ok(second(e.Purge(e.ctx, 100)))
		e.changed(social.FromOldest)
		err := second(e.Changes(e.ctx, end, nil, 10))
		if err != nil {
			e.follow("a", fmt.Sprint(e.clock().Unix()))
			_, end = e.changesFrom(social.FromOldest, 10)
		}
		return err == nil
	}, time.Minute, time.Millisecond)
	e.follow("a", "e")
	e.changed(end, "follow.created a e")
}

// changesRetentionClocks has servers whose clocks were wrong for a while: one that was behind removes no
// changes of before, and one that was ahead does not keep the changes after.
func changesRetentionClocks(e *env) {
	const year = 365 * 24 * time.Hour
	purge := func(want int) {
		e.Helper()
		require.Equal(e, want, must[social.Purged](e)(e.Purge(e.ctx, 2))["changes"])
	}
	at := func(skew time.Duration, authors ...string) {
		e.skew = skew
		for _, author := range authors {
			e.follow("a", author)
		}
		e.skew = 0
	}
	at(0, "b")
	at(-year, "behind")
	e.pass(time.Minute)
	purge(0)
	e.changed(social.FromOldest, "follow.created a b", "follow.created a behind")

	at(year, "ahead1", "ahead2", "ahead3")
	at(0, "c")
	e.pass(keepChanges - 30*time.Second)
	purge(2)
	purge(0) // those after them are young
	e.changed(social.FromOldest, "follow.created a ahead1", "follow.created a ahead2", "follow.created a ahead3", "follow.created a c")
	at(0, "d")
	e.pass(time.Minute)
	purge(2) // of both the time is to come
	purge(2)
	purge(0)
	e.changed(social.FromOldest, "follow.created a d")
}

func changesOfErased(e *env) {
	at := e.changesNow()
	for _, author := range []string{"gone", "stays"} {
		e.follow("a", author)
		e.follow(author, "b")
		p := e.post(author, public(), "m")
		_, _, err := e.Like(e.ctx, "a", p.ID)
		e.ok(err)
	}
	before, _ := e.changesFrom(at, 100)
	e.ok(e.EraseAgent(e.ctx, "gone"))
	named := func() (list []string) {
		for _, c := range e.listFrom(at, 3) {
			if c.Agent == "gone" || c.Other == "gone" {
				list = append(list, brief(c))
			}
		}
		return list
	}
	require.Empty(e, named(), "at once")
	for done := false; !done; {
		done = must[bool](e)(e.EraseSome(e.ctx, "gone", 2, nil))
	}
	require.Empty(e, named(), "when the data has been removed")
	left := e.listFrom(at, 100)
	var ended []string
	for _, c := range left {
		if c.Type == social.PostEnded {
			require.Empty(e, c.Agent)
			ended = append(ended, c.Object)
		}
	}
	i := slices.IndexFunc(before, func(c social.Change) bool { return c.Type == social.PostMade && c.Agent == "gone" })
	require.Equal(e, []string{before[i].Object}, ended)
	require.Len(e, left, len(before)/2+1)

	at = e.changesNow()
	e.pass(-time.Minute)  // on a server whose clock is behind
	e.follow("gone", "b") // another agent has the id
	e.changed(at, "follow.created gone b")
}

func badCursors(e *env) {
	e.follow("a", "b")
	good := must[social.ChangePage](e)(e.Changes(e.ctx, social.FromOldest, nil, 1)).Next
	parts := strings.Split(good, ".")
	for _, bad := range []string{"0", "c1", "c1.", "c2." + strings.Join(parts[1:], "."), good + ".x", good + ".1", strings.Join(parts[:2], ".") + ".x", "c1..0", "post:a:1", good + "\x00"} {
		require.ErrorIs(e, second(e.Changes(e.ctx, bad, nil, 1)), feed.ErrInvalid, bad)
	}
	foreign := slices.Clone(parts)
	foreign[1] = "other"
	require.ErrorIs(e, second(e.Changes(e.ctx, strings.Join(foreign, "."), nil, 1)), feed.ErrGone)
}

// ChangesOff checks that what one server does not keep invalidates the cursors of another over the same
// data.
func ChangesOff(t *testing.T, kept, unkept Backend) {
	ctx := t.Context()
	page, err := kept.Changes(ctx, "", nil, 1)
	require.NoError(t, err)
	_, err = unkept.Changes(ctx, "", nil, 1)
	require.ErrorIs(t, err, feed.ErrForbidden)
	require.ErrorContains(t, err, "changes.retention")
	_, err = kept.Changes(ctx, page.Next, nil, 1)
	require.NoError(t, err)
	for _, author := range []string{"b", "c"} {
		_, err = unkept.Follow(ctx, "a", author, here)
		require.NoError(t, err)
	}
	_, err = kept.Changes(ctx, page.Next, nil, 1)
	require.ErrorIs(t, err, feed.ErrGone)
	page, err = kept.Changes(ctx, social.FromOldest, nil, 1)
	require.NoError(t, err)
	require.Empty(t, page.Changes)
	_, err = kept.Follow(ctx, "a", "d", here)
	require.NoError(t, err)
	page, err = kept.Changes(ctx, page.Next, nil, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"follow.created a d"}, briefs(page.Changes))
}
